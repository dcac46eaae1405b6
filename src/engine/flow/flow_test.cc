#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/flow/test_inputs.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

std::unique_ptr<TaskGraph> AllReduce(std::int64_t bytes, std::uint32_t ranks,
                                     std::uint32_t count = 1) {
  return SingleCollective(Choose(Primitive::kAllReduce, bytes), ranks, count);
}

TEST(RingAllReduce, TakesItsClosedFormOnEqualCables) {
  // 2(p-1)(alpha + n/(p beta)) with alpha = 2 x 500 ns: 14 x (1 us + 20 us).
  const FlowCase star{.fabric = Star(8, {CableSpec{}})};
  const Timeline timeline = star.Run(*AllReduce(8'000'000, 8));
  EXPECT_EQ(timeline.status, RunStatus::kFinished);
  EXPECT_EQ(timeline.end, Time::Microseconds(294));
}

TEST(RingAllReduce, PaysOverheadAndLatencyOfTheTransportInEachStep) {
  FlowCase star{.fabric = Star(4, {CableSpec{}})};
  star.transport.message_overhead = Time::Nanoseconds(300);
  for (auto& row : star.transport.step_latency) row.fill(Time::Microseconds(2));
  star.transport.ring_base_latency.fill(Time::Microseconds(7));
  // 7 us + 6 x (0.3 us + 10 us + 1 us + 2 us).
  EXPECT_EQ(star.Run(*AllReduce(2'000'000, 4)).end, Time::Nanoseconds(86'800));
}

// The recurrence of a ring's steps over unequal hops: rank i sends step s when it holds what step
// s - 1 brought, and a cable carries one message at a time.
double RingRecurrence(const std::vector<double>& transfer, const std::vector<double>& latency) {
  const std::size_t ranks = transfer.size();
  std::vector<double> have(ranks, 0);
  std::vector<double> free(ranks, 0);
  for (std::size_t step = 0; step < 2 * (ranks - 1); ++step) {
    std::vector<double> next(ranks);
    for (std::size_t i = 0; i < ranks; ++i) {
      free[i] = std::max(have[i], free[i]) + transfer[i];
      next[(i + 1) % ranks] = free[i] + latency[i];
    }
    have = next;
  }
  return std::max(std::ranges::max(have), std::ranges::max(free));
}

TEST(RingAllReduce, FollowsItsDependencyRecurrenceOnUnequalCables) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto ranks = static_cast<std::uint32_t>(2 + Below(Draw(seed, 0, 0), 30));
    std::vector<CableSpec> cables;
    for (std::uint32_t i = 0; i < ranks; ++i) {
      cables.push_back(
          {Rate::GigabitsPerSecond(static_cast<std::int64_t>(25 + Below(Draw(seed, 1, i), 400))),
           Time::Nanoseconds(static_cast<std::int64_t>(Below(Draw(seed, 2, i), 3000)))});
    }
    std::vector<double> transfer(ranks);
    std::vector<double> latency(ranks);
    for (std::uint32_t i = 0; i < ranks; ++i) {
      const CableSpec& out = cables[i];
      const CableSpec& in = cables[(i + 1) % ranks];
      transfer[i] = 1e6 / std::min(out.rate, in.rate).bytes_per_second();
      latency[i] = out.latency.seconds() + in.latency.seconds();
    }
    const FlowCase star{.fabric = Star(ranks, cables)};
    const Timeline timeline = star.Run(*AllReduce(std::int64_t{1'000'000} * ranks, ranks));
    const double expected = RingRecurrence(transfer, latency);
    EXPECT_NEAR(timeline.end.seconds(), expected, 1e-6 * expected) << "seed " << seed;
  }
}

TEST(RingAllReduce, RepeatedBackToBackTakesAsManyTimes) {
  const FlowCase star{.fabric = Star(8, {CableSpec{}})};
  EXPECT_EQ(star.Run(*AllReduce(8'000'000, 8, 5)).end, Time::Microseconds(5 * 294));
}

TEST(Flow, CountsEveryByteOnEveryLink) {
  const FlowCase star{.fabric = Star(4, {CableSpec{}})};
  const Timeline timeline = star.Run(*AllReduce(4'000, 4));
  ASSERT_EQ(timeline.links.size(), 8U);
  for (const LinkUse& use : timeline.links) EXPECT_EQ(use.wire_bytes, 6'000);
}

TEST(Flow, DividesWhatATrunkCarriesOverItsLinks) {
  const FlowCase clos{.fabric = LeafSpine(2, 1, 4)};
  const Timeline timeline = clos.Run(*AllReduce(8'000, 2));
  std::int64_t fabric_bytes = 0;
  for (const LinkUse& use : timeline.links) {
    if (clos.fabric.device(clos.fabric.link(use.link).from).kind == DeviceKind::kSwitch &&
        clos.fabric.device(clos.fabric.link(use.link).to).kind == DeviceKind::kSwitch) {
      EXPECT_EQ(use.wire_bytes, 2'000);
      fabric_bytes += use.wire_bytes;
    }
  }
  EXPECT_EQ(fabric_bytes, 2 * 2 * 8'000);
}

// Ranks that compute for 10 us and, the last of them, 70 us, before one collective.
HandGraph WithALateRank(const CollectiveChoice& choice, std::uint32_t ranks) {
  HandGraph graph;
  graph.choices = {choice};
  graph.groups.resize(1);
  for (const std::int64_t compute : {10, 70}) {
    Program& program = graph.programs.emplace_back();
    program.tasks = {
        {.duration = Time::Microseconds(compute)},
        {.kind = TaskKind::kCollective, .stream = 1, .first_dependency = 0, .dependency_count = 1}};
    program.dependencies = {0};
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    graph.program_index.push_back(rank + 1 == ranks ? 1 : 0);
    graph.groups[0].push_back(RankId(rank));
    graph.communicator_of.push_back({0});
  }
  return graph;
}

TEST(Flow, CountsTheWaitForTheLastMemberAsABubble) {
  // Every rank but the last waits 60 us for it, folded or not.
  for (const bool fold : {true, false}) {
    FlowCase star{.fabric = Star(4, {CableSpec{}})};
    star.options.fold = fold;
    const Timeline timeline =
        star.Run(WithALateRank(Choose(Primitive::kAllGather, 4'000'000, "direct"), 4));
    ASSERT_GT(timeline.end, Time::Microseconds(70));
    for (const RankSummary& rank : timeline.ranks) {
      EXPECT_EQ(rank.bubble, Time::Microseconds(rank.rank == RankId(3) ? 0 : 60)) << fold;
    }
  }
}

TEST(Flow, CountsNoWaitForALateReceiverOfABroadcast) {
  const FlowCase star{.fabric = Star(4, {CableSpec{}})};
  const Timeline timeline = star.Run(WithALateRank(Choose(Primitive::kBroadcast, 4'000'000), 4));
  for (const RankSummary& rank : timeline.ranks) EXPECT_EQ(rank.bubble, Time());
}

TEST(Flow, HoldsAPutUntilASlotIsFree) {
  // Four slices of 50 kB at 50 GB/s from one rank to another, 1 us of latency.
  const FlowCase star{.fabric = Star(2, {CableSpec{}})};
  CollectiveChoice choice = Choose(Primitive::kBroadcast, 200'000);
  choice.spec.slice = Bytes(50'000);
  choice.spec.slots = 1;  // each slice has to arrive before the next may leave
  EXPECT_EQ(star.Run(*SingleCollective(choice, 2)).end, Time::Microseconds(4 * 2));
  choice.spec.slots = 2;  // the second slot hides the latency
  EXPECT_EQ(star.Run(*SingleCollective(choice, 2)).end, Time::Microseconds(4 + 1));
}

TEST(Flow, NamesWhoWaitsForWhomWhenItCannotFinish) {
  const FlowCase star{.fabric = Star(2, {CableSpec{}})};
  HandGraph graph;
  graph.programs.resize(2);
  graph.programs[0].tasks = {{.kind = TaskKind::kReceive, .stream = 1, .bytes = Bytes(8)}};
  graph.programs[1].tasks = {{.duration = Time::Microseconds(3)}};
  graph.program_index = {0, 1};
  graph.communicator_of = {{}, {}};
  graph.peers = {{{0, 0}, 1}};
  graph.reverse_roles = {{0, 1}};
  const Timeline timeline = star.Run(graph);
  EXPECT_EQ(timeline.status, RunStatus::kUnfinished);
  ASSERT_EQ(timeline.blocked.size(), 1U);
  EXPECT_EQ(timeline.blocked[0].rank, RankId(0));
  EXPECT_EQ(timeline.blocked[0].waits_for, "a message from rank 1");
}

TEST(Flow, RefusesTimesBeyondTheHorizon) {
  const FlowCase star{.fabric = Star(2, {{Rate::BitsPerSecond(1), Time()}})};
  const Router router(star.fabric, {});
  const auto graph = AllReduce(std::int64_t{1} << 40, 2);
  const auto placement = PackedPlacement(star.fabric, 2).value();
  const auto timeline = RunFlow({router, star.transport, *graph, placement}, {});
  ASSERT_FALSE(timeline.has_value());
  EXPECT_EQ(timeline.error()[0].code, "TL1602");
}

TEST(Flow, StopsWhenAsked) {
  FlowCase star{.fabric = Star(64, {CableSpec{}})};
  StopToken stop;
  stop.RequestStop();
  star.options.stop = &stop;
  EXPECT_EQ(star.Run(*AllReduce(64'000, 64)).status, RunStatus::kInterrupted);
}

// SimGrid 3.32, CM02 without cross-traffic and TCP-gamma, FAT_TREE "2;8,8;1,8;1,1" of 50 GB/s and
// 500 ns a link: the flows of its S4U programs meet as MPI's Sendrecv and Waitall do.
struct SimgridRow {
  Primitive primitive;
  const char* algorithm;
  std::int64_t bytes;
  double microseconds;
};

TEST(Flow, MeetsSimGridsTimesWithRendezvous) {
  FlowCase tree{.fabric = LeafSpine(8, 8, 8)};
  tree.routing.policy = RoutingPolicy::kStatic;
  tree.options.handshake = Handshake::kRendezvous;
  for (const SimgridRow& row : {SimgridRow{Primitive::kAllReduce, "ring", 1 << 20, 293.288},
                                SimgridRow{Primitive::kAllReduce, "ring", 1 << 28, 10821.646},
                                SimgridRow{Primitive::kAllToAll, "pairwise", 1 << 20, 146.644},
                                SimgridRow{Primitive::kAllToAll, "pairwise", 1 << 28, 5410.823},
                                SimgridRow{Primitive::kAllToAll, "direct", 1 << 20, 21.644},
                                SimgridRow{Primitive::kAllToAll, "direct", 1 << 28, 5285.823}}) {
    for (const bool fold : {true, false}) {
      tree.options.fold = fold;
      const auto graph = SingleCollective(Choose(row.primitive, row.bytes, row.algorithm), 64);
      EXPECT_NEAR(tree.Run(*graph).end.seconds() * 1e6, row.microseconds, 0.001)
          << row.algorithm << ' ' << row.bytes;
    }
  }
}

// In each round a rank sends one message and receives another, each once both of its ends are
// there, and goes on when both have ended.
double PairwiseRecurrence(const std::vector<CableSpec>& cables, double bytes) {
  const std::size_t ranks = cables.size();
  std::vector<double> ready(ranks, 0);
  for (std::size_t distance = 1; distance < ranks; ++distance) {
    std::vector<double> next(ranks, 0);
    for (std::size_t i = 0; i < ranks; ++i) {
      const std::size_t peer = (i + distance) % ranks;
      const double rate = std::min(cables[i].rate, cables[peer].rate).bytes_per_second();
      const double latency = cables[i].latency.seconds() + cables[peer].latency.seconds();
      const double end = std::max(ready[i], ready[peer]) + latency + bytes / rate;
      next[i] = std::max(next[i], end);
      next[peer] = std::max(next[peer], end);
    }
    ready = next;
  }
  return std::ranges::max(ready);
}

TEST(PairwiseAllToAll, FollowsItsRecurrenceOnUnequalCables) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto ranks = static_cast<std::uint32_t>(2 + Below(Draw(seed, 3, 0), 40));
    std::vector<CableSpec> cables;
    for (std::uint32_t i = 0; i < ranks; ++i) {
      cables.push_back(
          {Rate::GigabitsPerSecond(static_cast<std::int64_t>(25 + Below(Draw(seed, 4, i), 400))),
           Time::Nanoseconds(static_cast<std::int64_t>(Below(Draw(seed, 5, i), 3000)))});
    }
    FlowCase star{.fabric = Star(ranks, cables)};
    star.options.handshake = Handshake::kRendezvous;
    const auto graph = SingleCollective(
        Choose(Primitive::kAllToAll, std::int64_t{1'000'000} * ranks, "pairwise"), ranks);
    const double expected = PairwiseRecurrence(cables, 1e6);
    EXPECT_NEAR(star.Run(*graph).end.seconds(), expected, 1e-6 * expected) << "seed " << seed;
  }
}

// Two ranks under one leaf send to two under the other over a single cable.
TEST(Flow, SharesAnUplinkBetweenTwoGroups) {
  const FlowCase clos{.fabric = LeafSpine(2, 2, 1)};
  HandGraph graph;
  graph.choices = {Choose(Primitive::kAllReduce, 2'000'000)};
  graph.groups = {{RankId(0), RankId(2)}, {RankId(1), RankId(3)}};
  graph.communicator_of = {{0}, {1}, {0}, {1}};
  graph.programs.resize(1);
  graph.programs[0].tasks = {{.kind = TaskKind::kCollective}};
  graph.program_index = {0, 0, 0, 0};
  // Each ring: 2 steps of 1 MB at half of 50 GB/s and 4 x 500 ns.
  EXPECT_EQ(clos.Run(graph).end, Time::Microseconds(2 * 42));
}

TEST(FlowEngine, RecordsTheCriticalRankWhoeverItIs) {
  // Rank 2 computes longest.
  HandGraph graph;
  graph.programs.resize(2);
  graph.programs[0].tasks = {{.duration = Time::Microseconds(1)}};
  graph.programs[1].tasks = {{.duration = Time::Microseconds(3)}};
  graph.program_index = {0, 0, 1, 0};
  FlowCase run{.fabric = Star(4, {CableSpec{}})};
  run.options.record = {RankId(0)};
  run.options.record_critical = true;
  const Timeline timeline = run.Run(graph);
  ASSERT_EQ(timeline.spans.size(), 2U);
  EXPECT_EQ(timeline.spans[1].rank, RankId(2));
  EXPECT_EQ(timeline.spans[1].end, Time::Microseconds(3));
}

}  // namespace
}  // namespace trunkline
