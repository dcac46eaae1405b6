#include "engine/flow/planned.h"

#include <gtest/gtest.h>

#include "base/test_sanitizers.h"
#include "engine/flow/test_inputs.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

// Ranks in a grid: collectives along rows beside computation, others along columns and messages to
// the rank below at the same time, so that planned collectives are disturbed at any point.
HandGraph Grid(std::uint32_t rows, std::uint32_t columns, std::uint64_t seed) {
  const auto pick = [seed](std::uint64_t what, std::uint64_t index, std::uint64_t below) {
    return Below(Draw(seed, what, index), below);
  };
  HandGraph graph;
  const auto channels = static_cast<std::uint32_t>(1 + pick(0, 0, 2));
  graph.choices = {
      Choose(Primitive::kAllReduce, 64'000 * std::int64_t{columns}, "ring", channels),
      Choose(Primitive::kAllGather, 12'000 * std::int64_t{columns}, "ring", channels),
      Choose(Primitive::kAllReduce, 40'000, seed % 2 == 0 ? "tree" : "recursive_doubling"),
      Choose(Primitive::kReduceScatter, 48'000 * std::int64_t{rows}, "ring", channels)};
  if (seed % 3 == 0) {
    for (CollectiveChoice& choice : graph.choices) {
      choice.spec.slots = 2;
      choice.spec.slice = Bytes(5'000);
    }
  }
  graph.stream_names = {"compute", "column", "send", "receive"};
  graph.reverse_roles = {{3, 2}};
  graph.groups.resize(rows + columns);
  const std::uint32_t ranks = rows * columns;
  const bool skewed = pick(0, 1, 3) != 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    graph.groups[rank / columns].push_back(RankId(rank));
    graph.groups[rows + rank % columns].push_back(RankId(rank));
    graph.communicator_of.push_back({rank / columns, rows + rank % columns});
    graph.peers[{rank, 2U}] = (rank + columns) % ranks;
    graph.peers[{rank, 3U}] = (rank + ranks - columns) % ranks;
    graph.program_index.push_back(rank);
    Program program;
    for (std::uint32_t round = 0; round < 16; ++round) {
      const auto ns = static_cast<std::int64_t>(
          pick(1 + (skewed ? rank : 0), round, pick(100, round, 3) == 0 ? 30'000 : 300));
      program.tasks.push_back({.duration = Time::Nanoseconds(ns)});
      // The rest of a round comes after this computation.
      const auto last = static_cast<std::uint32_t>(program.tasks.size() - 1);
      const auto which = static_cast<std::uint32_t>(pick(101, round, 3));
      program.tasks.push_back({.kind = TaskKind::kCollective, .collective = which});
      const auto add = [&](Task task) {
        task.first_dependency = static_cast<std::uint32_t>(program.dependencies.size());
        task.dependency_count = 1;
        program.dependencies.push_back(last);
        program.tasks.push_back(task);
      };
      if (pick(102, round, 4) == 0) {
        add({.kind = TaskKind::kCollective, .stream = 1, .collective = 3, .role = 1});
      }
      if (pick(103, round, 4) == 0) {
        add({.kind = TaskKind::kSend, .stream = 2, .role = 2, .bytes = Bytes(90'000)});
        add({.kind = TaskKind::kReceive, .stream = 3, .role = 3, .bytes = Bytes(90'000)});
      }
    }
    graph.programs.push_back(std::move(program));
  }
  return graph;
}

FlowCase CaseOf(std::uint32_t columns, std::uint64_t seed) {
  FlowCase run{
      .fabric = LeafSpine(3, columns, 1 + static_cast<std::uint32_t>(seed % 3), {}, seed % 5 == 0)};
  if (seed % 4 == 0) run.routing.policy = RoutingPolicy::kStatic;
  if (seed % 7 == 0) run.options.handshake = Handshake::kRendezvous;
  run.transport.message_overhead = Time::Nanoseconds(static_cast<std::int64_t>(seed % 2) * 150);
  return run;
}

TEST(PlannedCollectives, TakeTheCourseThatTheirOpsTakeWheneverTheyAreDisturbed) {
  std::uint64_t reuses = 0;
  std::uint64_t planned_transfers = 0;
  for (std::uint64_t seed = 0; seed < RandomCases(300); ++seed) {
    const auto columns = static_cast<std::uint32_t>(2 + Below(Draw(seed, 60, 0), 3));
    const HandGraph graph = Grid(3, columns, seed);
    FlowCase run = CaseOf(columns, seed);
    run.options.fold = false;
    const Timeline with = run.Run(graph);
    run.options.memo = false;
    const Timeline without = run.Run(graph);
    ASSERT_EQ(with.status, RunStatus::kFinished) << seed;
    ASSERT_EQ(without.status, RunStatus::kFinished) << seed;
    ASSERT_EQ(with.ranks.size(), without.ranks.size()) << seed;
    for (std::size_t i = 0; i < with.ranks.size(); ++i) {
      ASSERT_EQ(with.ranks[i].finish, without.ranks[i].finish) << "seed " << seed << " rank " << i;
      EXPECT_EQ(with.ranks[i].bubble, without.ranks[i].bubble) << "seed " << seed << " rank " << i;
    }
    EXPECT_EQ(with.flow.transfers_represented, without.flow.transfers_represented) << seed;
    ASSERT_EQ(with.links.size(), without.links.size()) << seed;
    for (std::size_t i = 0; i < with.links.size(); ++i) {
      EXPECT_EQ(with.links[i].wire_bytes, without.links[i].wire_bytes) << seed;
    }
    reuses += with.flow.reuses;
    planned_transfers += without.flow.transfers_simulated - with.flow.transfers_simulated;
  }
  EXPECT_GT(reuses, RandomCases(300));
  EXPECT_GT(planned_transfers, RandomCases(10'000));
}

TEST(PlannedCollectives, AreReusedAmongFoldedRanksAndChangeNoPicosecond) {
  std::uint64_t reuses = 0;
  for (std::uint64_t seed = 0; seed < RandomCases(100); ++seed) {
    const auto columns = static_cast<std::uint32_t>(2 + Below(Draw(seed, 60, 0), 3));
    HandGraph graph = Grid(3, columns, seed);
    // All ranks run the first one's program.
    graph.programs.resize(1);
    graph.program_index.assign(graph.program_index.size(), 0);
    FlowCase run = CaseOf(columns, seed);
    const Timeline folded = run.Run(graph);
    run.options.fold = false;
    run.options.memo = false;
    const Timeline whole = run.Run(graph);
    EXPECT_EQ(folded.end, whole.end) << seed;
    EXPECT_EQ(folded.flow.transfers_represented, whole.flow.transfers_represented) << seed;
    if (folded.flow.fold_classes > 0) reuses += folded.flow.reuses;
  }
  EXPECT_GT(reuses, RandomCases(100));
}

TEST(PlannedCollectives, SayWhoWaitsForWhomWhereAMemberNeverComes) {
  FlowCase run{.fabric = LeafSpine(1, 3, 1)};
  HandGraph graph;
  graph.choices = {Choose(Primitive::kAllReduce, 30'000)};
  graph.groups = {{RankId(0), RankId(1), RankId(2)}};
  graph.communicator_of = {{0}, {0}, {0}};
  graph.program_index = {0, 0, 1};
  graph.programs.resize(2);
  graph.programs[0].tasks.assign(3, {.kind = TaskKind::kCollective});
  graph.programs[1].tasks.assign(2, {.kind = TaskKind::kCollective});
  const Timeline timeline = run.Run(graph);
  EXPECT_EQ(timeline.status, RunStatus::kUnfinished);
  ASSERT_FALSE(timeline.blocked.empty());
  EXPECT_EQ(timeline.blocked[0].rank, RankId(0));
  EXPECT_EQ(timeline.blocked[0].task, 2U);
  EXPECT_EQ(timeline.blocked[0].waits_for, "a message from rank 2");
}

}  // namespace
}  // namespace trunkline
