#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/test_fabrics.h"
#include "trunkline/engine/packet.h"
#include "trunkline/engine/traffic.h"

// The same traffic as packets and as fluid flows (design: within 3 % on lone flows and symmetric
// single bottlenecks, the same header efficiency, no congestion control).
namespace trunkline {
namespace {

struct Both {
  FlowTrafficReport flow;
  PacketReport packet;
};

Both RunBoth(const char* pattern, std::uint32_t hosts, std::int64_t bytes) {
  const Fabric fabric = Crossbar(hosts, Rate::GigabitsPerSecond(100), Time::Microseconds(1));
  const PacketTransport transport;
  RouterOptions routing;
  routing.policy = RoutingPolicy::kEcmp;
  routing.payload_bytes = transport.mtu.count();
  routing.wire_bytes = (transport.mtu + transport.packet_overhead).count();
  const Router router(fabric, routing);
  const auto placement = PackedPlacement(fabric, hosts);
  TrafficSpec spec;
  spec.jobs.emplace_back();
  spec.jobs[0].pattern = pattern;
  spec.jobs[0].sizes = FlowSizes::Fixed(Bytes(bytes));
  const auto traffic = MakeTraffic(spec, hosts, Rate::GigabitsPerSecond(100), 1);
  EXPECT_TRUE(traffic.has_value());
  const SwitchModel switches;
  auto flow = RunFlowTraffic(router, *traffic, *placement, {});
  auto packet = RunPacketTraffic({router, switches, transport}, *traffic, *placement, {});
  EXPECT_TRUE(flow.has_value() && packet.has_value());
  return {*std::move(flow), *std::move(packet)};
}

void ExpectClose(const Both& both, double tolerance) {
  EXPECT_EQ(both.flow.status, RunStatus::kFinished);
  EXPECT_EQ(both.packet.status, RunStatus::kFinished);
  EXPECT_NEAR(both.packet.end.seconds() / both.flow.end.seconds(), 1, tolerance);
  ASSERT_EQ(both.flow.flows.size(), both.packet.flows.size());
  for (std::size_t i = 0; i < both.flow.flows.size(); ++i) {
    EXPECT_NEAR(both.packet.flows[i].delivered.seconds() / both.flow.flows[i].delivered.seconds(),
                1, tolerance);
    EXPECT_NEAR(both.packet.flows[i].alone.seconds() / both.flow.flows[i].alone.seconds(), 1,
                tolerance);
  }
}

TEST(TrafficAgreement, LoneFlowsTakeTheSameTime) {
  ExpectClose(RunBoth("permutation", 2, 2'000'000), 0.01);
  ExpectClose(RunBoth("permutation", 16, 2'000'000), 0.01);
}

TEST(TrafficAgreement, AnOutcastSharesItsSenderAlike) {
  ExpectClose(RunBoth("outcast", 9, 2'000'000), 0.03);
}

TEST(TrafficAgreement, AnIncastSharesItsReceiverAlike) {
  ExpectClose(RunBoth("incast", 9, 2'000'000), 0.03);
}

}  // namespace
}  // namespace trunkline
