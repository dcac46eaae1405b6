#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/test_units.h"
#include "engine/test_fabrics.h"
#include "engine/test_graphs.h"
#include "trunkline/engine/engine.h"

namespace trunkline {
namespace {

constexpr std::int64_t kMega = 1'000'000;

Timeline Simulate(const Fabric& fabric, const TaskGraph& graph, EngineOptions options = {}) {
  const Router router(fabric, {});
  const TransportModel transport = IdealTransport();
  const auto placement = PackedPlacement(fabric, graph.ranks());
  EXPECT_TRUE(placement.has_value());
  const auto timeline = RunAnalytic({router, transport, graph, *placement}, options);
  EXPECT_TRUE(timeline.has_value());
  return timeline ? *timeline : Timeline{};
}

double CollectiveSeconds(const Fabric& fabric, const CollectiveChoice& choice) {
  const auto ranks = static_cast<std::uint32_t>(fabric.endpoints().size());
  return Simulate(fabric, *SingleCollective(choice, ranks)).end.seconds();
}

TEST(Analytic, MeetsTheClosedFormOfAHomogeneousRing) {
  // 2(p-1)(alpha + n/(p beta)) with alpha = 2 us, beta = 10 GB/s.
  const Fabric fabric = Crossbar(16, Rate::GigabytesPerSecond(10), Us(1));
  EXPECT_NEAR(CollectiveSeconds(fabric, Choice(Primitive::kAllReduce, 160 * kMega)),
              30 * (2e-6 + 10e6 / 10e9), 1e-9 * 0.03);
  EXPECT_NEAR(CollectiveSeconds(fabric, Choice(Primitive::kAllGather, 160 * kMega)),
              15 * (2e-6 + 10e6 / 10e9), 1e-9 * 0.015);
  EXPECT_NEAR(CollectiveSeconds(fabric, Choice(Primitive::kReduceScatter, 160 * kMega)),
              15 * (2e-6 + 10e6 / 10e9), 1e-9 * 0.015);
}

TEST(Analytic, PipelinesABroadcastThroughTheChain) {
  CollectiveChoice choice = Choice(Primitive::kBroadcast, 100 * kMega);
  choice.spec.slice = Bytes(10 * kMega);
  // 4 hops of 2 us and 1 ms a slice, then 9 more slices.
  const Fabric fabric = Crossbar(5, Rate::GigabytesPerSecond(10), Us(1));
  EXPECT_NEAR(CollectiveSeconds(fabric, choice), 4 * 1.002e-3 + 9e-3, 1e-11);
}

TEST(Analytic, ScalesToSixteenThousandRanks) {
  const Fabric fabric = Crossbar(16'384, Rate::GigabytesPerSecond(10), Us(1));
  EXPECT_NEAR(CollectiveSeconds(fabric, Choice(Primitive::kAllReduce, 163'840 * 1000)),
              2 * 16'383 * (2e-6 + 10e3 / 10e9), 1e-9 * 0.1);
}

// Two stages: the first computes and sends, the second receives and computes.
TEST(Analytic, SplitsThePipelineWaitIntoBubbleAndExposedTransfer) {
  TableGraph graph;
  using Step = TableGraph::Step;
  const auto first = graph.AddProgram(
      {Step{.kind = TaskKind::kCompute, .duration = Us(100)}, Step{.kind = TaskKind::kSend,
                                                                   .stream = 2,
                                                                   .role = 0,
                                                                   .bytes = Bytes(kMega),
                                                                   .dependencies = {0}}});
  const auto second =
      graph.AddProgram({Step{.kind = TaskKind::kReceive, .stream = 3, .role = 1},
                        Step{.kind = TaskKind::kCompute, .duration = Us(50), .dependencies = {0}}});
  const RankId a = graph.AddRank(first);
  const RankId b = graph.AddRank(second);
  graph.Connect(a, 0, b, 1);
  // 1 MB at 10 GB/s is 100 us; two cables of 1 us.
  const Timeline timeline = Simulate(Crossbar(2, Rate::GigabytesPerSecond(10), Us(1)), graph);
  EXPECT_EQ(timeline.status, RunStatus::kFinished);
  EXPECT_EQ(timeline.end, Us(252));
  ASSERT_EQ(timeline.ranks.size(), 2U);
  EXPECT_EQ(timeline.critical, 1U);
  EXPECT_EQ(timeline.ranks[1].bubble, Us(100));
  EXPECT_EQ(timeline.ranks[1].exposed_communication, Us(102));
  EXPECT_EQ(timeline.ranks[1].compute, Us(50));
  EXPECT_EQ(timeline.ranks[0].exposed_communication, Us(100));
  EXPECT_EQ(timeline.ranks[0].other, Us(52));
}

// Each of two ranks receives from the other, first in its program, before what it does at once.
TEST(Analytic, RunsWhatDoesNotWaitBehindATaskThatDoes) {
  TableGraph graph;
  using Step = TableGraph::Step;
  const auto program = graph.AddProgram({
      Step{.kind = TaskKind::kReceive, .stream = 3, .role = 1},
      Step{.kind = TaskKind::kCompute, .duration = Us(30)},
      Step{.kind = TaskKind::kSend, .stream = 2, .bytes = Bytes(kMega), .dependencies = {1}},
      Step{.kind = TaskKind::kCompute, .duration = Us(50), .dependencies = {0}},
  });
  const RankId a = graph.AddRank(program);
  const RankId b = graph.AddRank(program);
  graph.Connect(a, 0, b, 1);
  graph.Connect(b, 0, a, 1);
  // 1 MB at 10 GB/s is 100 us; two cables of 1 us.
  const Timeline timeline = Simulate(Crossbar(2, Rate::GigabytesPerSecond(10), Us(1)), graph);
  EXPECT_EQ(timeline.status, RunStatus::kFinished);
  EXPECT_EQ(timeline.end, Us(30 + 102 + 50));
}

TEST(Analytic, SendsToAPeerInTheOrderOfTheProgramWhateverTheStreams) {
  TableGraph graph;
  using Step = TableGraph::Step;
  const auto first = graph.AddProgram({
      Step{.kind = TaskKind::kReceive, .stream = 3, .role = 2},
      Step{.kind = TaskKind::kCompute, .duration = Us(100)},
      Step{.kind = TaskKind::kSend, .stream = 2, .bytes = Bytes(kMega), .dependencies = {0, 1}},
      Step{.kind = TaskKind::kSend, .stream = 1, .bytes = Bytes(kMega)},
  });
  const auto second = graph.AddProgram({
      Step{.kind = TaskKind::kCompute, .duration = Us(500)},
      Step{.kind = TaskKind::kSend,
           .stream = 2,
           .role = 3,
           .bytes = Bytes(kMega),
           .dependencies = {0}},
      Step{.kind = TaskKind::kReceive, .stream = 3, .role = 1},
      Step{.kind = TaskKind::kReceive, .stream = 3, .role = 1},
  });
  const RankId a = graph.AddRank(first);
  const RankId b = graph.AddRank(second);
  graph.Connect(a, 0, b, 1);
  graph.Connect(b, 3, a, 2);
  const Timeline timeline = Simulate(Crossbar(2, Rate::GigabytesPerSecond(10), Us(1)), graph);
  EXPECT_EQ(timeline.status, RunStatus::kFinished);
  EXPECT_EQ(timeline.end, Us(500 + 102 + 100 + 102));
}

TEST(Analytic, StartsACollectiveWhenTheLastMemberComes) {
  TableGraph graph;
  graph.AddCollective(Choice(Primitive::kAllReduce, 2 * kMega));
  using Step = TableGraph::Step;
  for (const std::int64_t compute : {10, 70}) {
    const auto program = graph.AddProgram(
        {Step{.kind = TaskKind::kCompute, .duration = Us(compute)},
         Step{.kind = TaskKind::kCollective, .stream = 1, .role = 0, .dependencies = {0}}});
    graph.AddRank(program);
  }
  graph.AddCommunicator(0, {RankId{0}, RankId{1}});
  // 2 steps of 1 MB at 10 GB/s and 2 us.
  const Timeline timeline = Simulate(Crossbar(2, Rate::GigabytesPerSecond(10), Us(1)), graph);
  EXPECT_EQ(timeline.end, Us(70 + 204));
  EXPECT_EQ(timeline.ranks[0].bubble, Us(60));
  EXPECT_EQ(timeline.ranks[0].exposed_communication, Us(204));
  EXPECT_EQ(timeline.ranks[1].exposed_communication, Us(204));
  ASSERT_EQ(timeline.collectives.size(), 1U);
  EXPECT_EQ(timeline.collectives[0].group_size, 2U);
  EXPECT_EQ(timeline.collectives[0].total, Us(60 + 204));
  EXPECT_EQ(timeline.collectives[0].waiting, Us(60));
  EXPECT_EQ(timeline.collectives[0].exposed, Us(204));
  EXPECT_LE(timeline.collectives[0].bound, Us(204));
}

TEST(Analytic, NamesTheMessageThatNeverComes) {
  TableGraph graph;
  using Step = TableGraph::Step;
  const auto waits = graph.AddProgram({Step{.kind = TaskKind::kReceive, .stream = 3, .role = 1}});
  const auto idles = graph.AddProgram({Step{.kind = TaskKind::kCompute, .duration = Us(5)}});
  const RankId a = graph.AddRank(waits);
  const RankId b = graph.AddRank(idles);
  graph.Connect(b, 0, a, 1);
  const Timeline timeline = Simulate(Crossbar(2, Rate::GigabytesPerSecond(10), Us(1)), graph);
  EXPECT_EQ(timeline.status, RunStatus::kUnfinished);
  ASSERT_EQ(timeline.blocked.size(), 1U);
  EXPECT_EQ(timeline.blocked[0].rank, a);
  EXPECT_EQ(timeline.blocked[0].waits_for, "a message from rank 1");
}

TEST(Analytic, RepresentsCongruentRanksByOne) {
  const Fabric fabric = Crossbar(8, Rate::GigabytesPerSecond(10), Us(1));
  EngineOptions options;
  options.record = {RankId{5}};
  const Timeline timeline =
      Simulate(fabric, *SingleCollective(Choice(Primitive::kAllReduce, 8 * kMega), 8, 3), options);
  ASSERT_EQ(timeline.ranks.size(), 1U);
  EXPECT_EQ(timeline.ranks[0].ranks_represented, 8U);
  ASSERT_EQ(timeline.spans.size(), 3U);
  EXPECT_EQ(timeline.spans[2].rank, RankId{5});
  EXPECT_EQ(timeline.spans[2].end, timeline.end);
  EXPECT_EQ(timeline.collectives[0].count, 3U);
}

// Hosts 0 and 1 at one switch, 2 and 3 at another, a cable of 1 us between all; switches side by
// side, so that pairs that sit alike do not fare alike.
Fabric TwoSwitches() {
  FabricBuilder builder;
  const auto add_switch = [&](std::uint32_t number) {
    return builder.AddDevice({.kind = DeviceKind::kSwitch,
                              .tier = 1,
                              .node = Device::kNoNode,
                              .local = number,
                              .latency = {}});
  };
  const DeviceId switches[] = {add_switch(0), add_switch(1)};
  const Rate rate = Rate::GigabytesPerSecond(10);
  builder.AddCable(switches[0], switches[1], rate, Us(1), LinkKind::kNetwork);
  for (std::uint32_t i = 0; i < 4; ++i) {
    const DeviceId host = builder.AddDevice(
        {.kind = DeviceKind::kHost, .tier = 0, .node = i, .local = 0, .latency = {}});
    builder.AddCable(host, switches[i / 2], rate, Us(1), LinkKind::kNetwork);
  }
  return std::move(builder).Build();
}

// Two rings over the one cable: 2 steps of 1 MB at half of 10 GB/s, and three cables of 1 us.
TEST(Analytic, SharesLinksWithCongruentGroups) {
  TableGraph graph;
  graph.AddCollective(Choice(Primitive::kAllReduce, 2 * kMega));
  const auto program =
      graph.AddProgram({TableGraph::Step{.kind = TaskKind::kCollective, .stream = 1, .role = 0}});
  for (int rank = 0; rank < 4; ++rank) graph.AddRank(program);
  graph.AddCommunicator(0, {RankId{0}, RankId{2}});
  graph.AddCommunicator(0, {RankId{1}, RankId{3}});
  EXPECT_EQ(Simulate(TwoSwitches(), graph).end, Us(2 * (200 + 3)));
}

// Two messages over the one cable: 1 MB at half of 10 GB/s, and three cables of 1 us.
TEST(Analytic, SharesLinksWithCongruentMessages) {
  TableGraph graph;
  using Step = TableGraph::Step;
  const auto sends = graph.AddProgram(
      {Step{.kind = TaskKind::kSend, .stream = 2, .role = 0, .bytes = Bytes(kMega)}});
  const auto receives =
      graph.AddProgram({Step{.kind = TaskKind::kReceive, .stream = 3, .role = 1}});
  for (const auto program : {sends, sends, receives, receives}) graph.AddRank(program);
  graph.Connect(RankId{0}, 0, RankId{2}, 1);
  graph.Connect(RankId{1}, 0, RankId{3}, 1);
  EXPECT_EQ(Simulate(TwoSwitches(), graph).end, Us(200 + 3));
}

// Three layers: each computes, then reduces behind the next; the last reduction is exposed.
TEST(Analytic, KeepsAStepBetweenItsLongerPartAndTheSumOfBoth) {
  TableGraph graph;
  using Step = TableGraph::Step;
  graph.AddCollective(Choice(Primitive::kAllReduce, kMega));
  std::vector<Step> steps;
  for (std::uint32_t layer = 0; layer < 3; ++layer) {
    steps.push_back({.kind = TaskKind::kCompute, .duration = Us(80)});
    steps.push_back(
        {.kind = TaskKind::kCollective, .stream = 1, .role = 0, .dependencies = {2 * layer}});
  }
  const auto program = graph.AddProgram(steps);
  graph.AddCommunicator(0, {graph.AddRank(program), graph.AddRank(program)});
  // Each reduction: 2 steps of 0.5 MB at 10 GB/s and 2 us: 104 us.
  const Timeline timeline = Simulate(Crossbar(2, Rate::GigabytesPerSecond(10), Us(1)), graph);
  const RankSummary& rank = timeline.ranks[0];
  EXPECT_EQ(timeline.end, Us(80 + 3 * 104));
  EXPECT_EQ(rank.communication, Us(3 * 104));
  EXPECT_EQ(rank.exposed_communication, Us(80 + 3 * 104 - 240));
  EXPECT_GE(timeline.end, std::max(rank.compute, rank.communication));
  EXPECT_LE(timeline.end, rank.compute + rank.communication);
}

TEST(Analytic, ChargesALoneRankNothing) {
  TableGraph graph;
  graph.AddCollective(Choice(Primitive::kAllReduce, 2 * kMega));
  const auto program = graph.AddProgram({{.kind = TaskKind::kCollective, .stream = 1}});
  graph.AddCommunicator(0, {graph.AddRank(program)});
  const Fabric fabric = Crossbar(2, Rate::GigabytesPerSecond(10), Us(1));
  const Router router(fabric, {});
  const TransportModel transport = DefaultTransport(TransportKind::kInfiniband);
  const auto placement = PackedPlacement(fabric, 1);
  const auto timeline = RunAnalytic({router, transport, graph, *placement}, {});
  ASSERT_TRUE(timeline.has_value());
  EXPECT_EQ(timeline->end, Time());
}

TEST(Analytic, SaysThatTimePassesItsHorizon) {
  const Fabric fabric = Crossbar(2, Rate::BitsPerSecond(8), Us(1));
  const Router router(fabric, {});
  const TransportModel transport = IdealTransport();
  const auto graph = SingleCollective(Choice(Primitive::kAllReduce, 1000 * kMega), 2);
  const auto placement = PackedPlacement(fabric, 2);
  const auto timeline = RunAnalytic({router, transport, *graph, *placement}, {});
  ASSERT_FALSE(timeline.has_value());
  EXPECT_EQ(timeline.error().front().code, "TL1602");
}

TEST(Analytic, RefusesMoreRanksThanArePlaced) {
  const Fabric fabric = Crossbar(2, Rate::GigabytesPerSecond(10), Us(1));
  const Router router(fabric, {});
  const TransportModel transport = IdealTransport();
  const auto graph = SingleCollective(Choice(Primitive::kAllReduce, kMega), 3);
  const auto placement = PackedPlacement(fabric, 2);
  const auto timeline = RunAnalytic({router, transport, *graph, *placement}, {});
  ASSERT_FALSE(timeline.has_value());
  EXPECT_EQ(timeline.error().front().code, "TL1600");
}

TEST(Analytic, RefusesRendezvous) {
  const Fabric fabric = Crossbar(2, Rate::GigabytesPerSecond(10), Us(1));
  const Router router(fabric, {});
  const TransportModel transport = IdealTransport();
  const auto graph = SingleCollective(Choice(Primitive::kAllReduce, kMega), 2);
  const auto placement = PackedPlacement(fabric, 2);
  EngineOptions options;
  options.handshake = Handshake::kRendezvous;
  const auto timeline = RunAnalytic({router, transport, *graph, *placement}, options);
  ASSERT_FALSE(timeline.has_value());
  EXPECT_EQ(timeline.error().front().code, "TL1621");
}

}  // namespace
}  // namespace trunkline
