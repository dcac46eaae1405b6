#include "engine/bounds.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/test_fabrics.h"
#include "engine/test_graphs.h"
#include "trunkline/engine/engine.h"

namespace trunkline {
namespace {

constexpr std::int64_t kGiga = 1'000'000'000;

double BoundSeconds(const Fabric& fabric, const CollectiveChoice& choice,
                    const std::vector<DeviceId>& members,
                    const TransportModel& transport = IdealTransport(),
                    RouterOptions options = {}) {
  const auto bound = LowerBound(Router(fabric, options), transport, choice, members);
  EXPECT_TRUE(bound.has_value());
  return bound ? bound->seconds() : -1;
}

TEST(LowerBound, OfAllReduceOnACrossbarIsTwoNMinusOneOverNOfTheBufferAndOneLatency) {
  const Fabric fabric = Crossbar(8, Rate::GigabytesPerSecond(10), Time::Microseconds(1));
  EXPECT_NEAR(BoundSeconds(fabric, Choice(Primitive::kAllReduce, kGiga), AllEndpoints(fabric)),
              2 * 7.0 / 8 / 10 + 2e-6, 1e-11);
}

TEST(LowerBound, OfEachPrimitiveOnACrossbarIsItsClosedForm) {
  const Fabric fabric = Crossbar(8, Rate::GigabytesPerSecond(10), Time());
  const auto seconds = [&](Primitive primitive) {
    return BoundSeconds(fabric, Choice(primitive, kGiga), AllEndpoints(fabric));
  };
  EXPECT_NEAR(seconds(Primitive::kReduceScatter), 7.0 / 8 / 10, 1e-11);
  EXPECT_NEAR(seconds(Primitive::kAllGather), 7.0 / 8 / 10, 1e-11);
  EXPECT_NEAR(seconds(Primitive::kAllToAll), 7.0 / 8 / 10, 1e-11);
  EXPECT_NEAR(seconds(Primitive::kGather), 7.0 / 8 / 10, 1e-11);
  EXPECT_NEAR(seconds(Primitive::kScatter), 7.0 / 8 / 10, 1e-11);
  EXPECT_NEAR(seconds(Primitive::kBroadcast), 1.0 / 10, 1e-11);
  EXPECT_NEAR(seconds(Primitive::kReduce), 1.0 / 10, 1e-11);
  EXPECT_NEAR(seconds(Primitive::kSendRecv), 1.0 / 10, 1e-11);
}

TEST(LowerBound, CountsTheHeadersOfTheWire) {
  const Fabric fabric = Crossbar(2, Rate::GigabytesPerSecond(10), Time());
  RouterOptions options;
  options.wire_bytes = 5;
  options.payload_bytes = 4;
  EXPECT_NEAR(BoundSeconds(fabric, Choice(Primitive::kBroadcast, kGiga), AllEndpoints(fabric),
                           IdealTransport(), options),
              1.25 / 10, 1e-11);
}

TEST(LowerBound, OfAllReduceOverServersIsTheCutOfTheNode) {
  const Fabric fabric =
      ServerFabric{.nodes_per_rack = 4, .gpus = 8, .nvlink = Rate::GigabytesPerSecond(900)}.Build();
  // 2(N-1)/N n over the eight NICs of a node; two buses and two cables of 0.5 us.
  EXPECT_NEAR(BoundSeconds(fabric, Choice(Primitive::kAllReduce, kGiga), AllEndpoints(fabric)),
              2 * 3.0 / 4 / (8 * 50) + 2e-6, 1e-11);
}

TEST(LowerBound, OfAllToAllOverServersIsTheCutOfTheNode) {
  const Fabric fabric = ServerFabric{.nodes_per_rack = 4, .gpus = 4}.Build();
  // Each of 4 GPUs sends 12/16 of its buffer out of the node, over 4 NICs.
  EXPECT_NEAR(BoundSeconds(fabric, Choice(Primitive::kAllToAll, kGiga), AllEndpoints(fabric)),
              12.0 / 16 / 50 + 2e-6, 1e-11);
}

TEST(LowerBound, OfAGroupWithOneGpuANodeKnowsThatItHasOneNic) {
  const Fabric fabric = ServerFabric{.nodes_per_rack = 4, .gpus = 4}.Build();
  std::vector<DeviceId> members;
  for (std::size_t node = 0; node < 4; ++node) members.push_back(fabric.endpoints()[node * 4 + 1]);
  // Two buses and two cables of 0.5 us.
  EXPECT_NEAR(BoundSeconds(fabric, Choice(Primitive::kAllReduce, kGiga), members),
              2 * 3.0 / 4 / 50 + 2e-6, 1e-11);
}

TEST(LowerBound, OfAGroupInOneNodeCountsNvlinkOnly) {
  const Fabric fabric = ServerFabric{.gpus = 4}.Build();
  const auto endpoints = AllEndpoints(fabric);
  const std::vector<DeviceId> members(endpoints.begin(), endpoints.begin() + 4);
  EXPECT_NEAR(BoundSeconds(fabric, Choice(Primitive::kAllGather, kGiga), members),
              3.0 / 4 / 400 + 1e-6, 1e-11);
}

TEST(LowerBound, SeesTheNarrowUplinksOfARack) {
  const Fabric fabric =
      ServerFabric{
          .racks = 2, .nodes_per_rack = 2, .gpus = 4, .uplink = Rate::GigabytesPerSecond(20)}
          .Build();
  // 8 GPUs send half of their buffers to the other rack over one 20 GB/s cable.
  EXPECT_NEAR(BoundSeconds(fabric, Choice(Primitive::kAllToAll, kGiga), AllEndpoints(fabric)),
              8 * 0.5 / 20, 1e-5);
}

TEST(LowerBound, OfAllToAllVIsTheWorstRowOrColumn) {
  const Fabric fabric = Crossbar(3, Rate::GigabytesPerSecond(10), Time());
  CollectiveChoice choice = Choice(Primitive::kAllToAllV, 0);
  choice.spec.matrix = {5 * kGiga, 0, 1 * kGiga,  //
                        0,         0, 3 * kGiga,  //
                        0,         0, 0};
  EXPECT_NEAR(BoundSeconds(fabric, choice, AllEndpoints(fabric)), 4.0 / 10, 1e-11);
}

TEST(LowerBound, OfABarrierIsOneLatency) {
  const Fabric fabric = Crossbar(4, Rate::GigabytesPerSecond(10), Time::Microseconds(1));
  EXPECT_NEAR(BoundSeconds(fabric, Choice(Primitive::kBarrier, 0), AllEndpoints(fabric)), 2e-6,
              1e-12);
}

TEST(LowerBound, HasTheOverheadOfOneMessageUnlessItHasNoBytes) {
  const Fabric fabric = Crossbar(4, Rate::GigabytesPerSecond(10), Time());
  TransportModel transport = IdealTransport();
  transport.message_overhead = Time::Microseconds(7);
  EXPECT_EQ(BoundSeconds(fabric, Choice(Primitive::kBarrier, 0), AllEndpoints(fabric), transport),
            0);
  EXPECT_NEAR(
      BoundSeconds(fabric, Choice(Primitive::kBroadcast, kGiga), AllEndpoints(fabric), transport),
      0.1 + 7e-6, 1e-11);
}

TEST(LowerBound, AddsTheLeastSoftwareLatencyOfAnyProtocol) {
  const Fabric fabric = Crossbar(4, Rate::GigabytesPerSecond(10), Time());
  // NCCL 2.30's constants: 6.6 us before the first step of LL, 2.7 us for each step of the network.
  EXPECT_NEAR(BoundSeconds(fabric, Choice(Primitive::kBarrier, 0), AllEndpoints(fabric),
                           DefaultTransport(TransportKind::kInfiniband)),
              9.3e-6, 1e-12);
}

TEST(LowerBound, OfALoneRankIsNothing) {
  const Fabric fabric = Crossbar(4, Rate::GigabytesPerSecond(10), Time());
  EXPECT_EQ(BoundSeconds(fabric, Choice(Primitive::kAllReduce, kGiga), {fabric.endpoints()[0]}), 0);
}

}  // namespace
}  // namespace trunkline
