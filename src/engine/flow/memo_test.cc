#include "engine/flow/memo.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/flow/test_inputs.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

// Groups of `size` ranks that run `rounds` collectives each with computation before some of them.
HandGraph Groups(std::uint32_t groups, std::uint32_t size, std::uint32_t rounds,
                 std::uint32_t channels, bool skewed, std::uint64_t seed) {
  HandGraph graph;
  graph.choices = {
      Choose(Primitive::kAllReduce, 64'000 * std::int64_t{size}, "ring", channels),
      Choose(Primitive::kAllGather, 12'000 * std::int64_t{size}, "ring", channels),
      Choose(Primitive::kAllReduce, 40'000, seed % 4 == 0 ? "tree" : "ring", channels)};
  graph.groups.resize(groups);
  for (std::uint32_t rank = 0; rank < groups * size; ++rank) {
    graph.groups[rank / size].push_back(RankId(rank));
    graph.communicator_of.push_back({rank / size});
    graph.program_index.push_back(rank);
    Program program;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      if (Below(Draw(seed, 0, round), 3) != 0) {
        const std::uint64_t who = skewed ? rank % size : 0;
        const auto ns = static_cast<std::int64_t>(Below(Draw(seed, 1 + who, round), 30'000));
        program.tasks.push_back({.duration = Time::Nanoseconds(ns)});
      }
      const auto which = static_cast<std::uint32_t>(Below(Draw(seed, 50, round), 3));
      program.tasks.push_back({.kind = TaskKind::kCollective, .collective = which});
    }
    graph.programs.push_back(std::move(program));
  }
  return graph;
}

void ExpectSameRanks(const Timeline& a, const Timeline& b, std::uint64_t seed) {
  ASSERT_EQ(a.ranks.size(), b.ranks.size()) << seed;
  for (std::size_t i = 0; i < a.ranks.size(); ++i) {
    EXPECT_EQ(a.ranks[i].finish, b.ranks[i].finish) << "seed " << seed << " rank " << i;
    EXPECT_EQ(a.ranks[i].exposed_communication, b.ranks[i].exposed_communication) << seed;
    EXPECT_EQ(a.ranks[i].bubble, b.ranks[i].bubble) << seed;
  }
  EXPECT_EQ(a.flow.transfers_represented, b.flow.transfers_represented) << seed;
  ASSERT_EQ(a.links.size(), b.links.size()) << seed;
  for (std::size_t i = 0; i < a.links.size(); ++i) {
    EXPECT_EQ(a.links[i].wire_bytes, b.links[i].wire_bytes) << seed;
  }
}

TEST(CollectiveMemo, ChangesNoPicosecondAndNoByteHoweverMembersAreSkewed) {
  std::uint64_t reuses = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto size = static_cast<std::uint32_t>(2 + Below(Draw(seed, 60, 0), 4));
    const auto channels = static_cast<std::uint32_t>(1 + Below(Draw(seed, 60, 1), 2));
    FlowCase run{.fabric = LeafSpine(3, size, 2)};
    run.transport.ring_base_latency.fill(Time::Nanoseconds(Below(Draw(seed, 60, 2), 2) * 700));
    const HandGraph graph = Groups(3, size, 12, channels, seed % 3 == 0, seed);
    run.options.fold = false;
    const Timeline with = run.Run(graph);
    run.options.memo = false;
    const Timeline without = run.Run(graph);
    EXPECT_EQ(with.status, RunStatus::kFinished);
    EXPECT_EQ(without.flow.reuses, 0U);
    ExpectSameRanks(with, without, seed);
    reuses += with.flow.reuses;
  }
  EXPECT_GT(reuses, 1000U);
}

// Groups that share their cables with a collective of everybody, which their programs put in
// between.
HandGraph GroupsAndWorld(std::uint32_t groups, std::uint32_t size, std::uint64_t seed) {
  HandGraph graph = Groups(groups, size, 0, 1, false, seed);
  const std::uint32_t ranks = groups * size;
  graph.choices = {Choose(Primitive::kAllGather, 64'000 * std::int64_t{size}, "direct"),
                   Choose(Primitive::kAllToAll, 1'000 * std::int64_t{ranks}, "direct")};
  graph.groups.emplace_back();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    graph.groups.back().push_back(RankId(rank));
    graph.communicator_of[rank].push_back(groups);
    std::vector<Task>& tasks = graph.programs[rank].tasks;
    for (std::uint32_t round = 0; round < 8; ++round) {
      const auto ns = static_cast<std::int64_t>(Below(Draw(seed, 1, round), 20'000));
      if (Below(Draw(seed, 0, round), 2) == 0) tasks.push_back({.duration = Time::Nanoseconds(ns)});
      const bool world = Below(Draw(seed, 2, round), 5) == 0;
      tasks.push_back(
          {.kind = TaskKind::kCollective, .collective = world ? 1U : 0U, .role = world ? 1U : 0U});
    }
  }
  return graph;
}

TEST(CollectiveMemo, ChangesNothingWhereOthersUseTheSameCablesInTurn) {
  std::uint64_t reuses = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto size = static_cast<std::uint32_t>(2 + Below(Draw(seed, 60, 0), 3));
    FlowCase run{
        .fabric = LeafSpine(3, size, 1 + static_cast<std::uint32_t>(seed % 3), {}, seed % 2 == 0)};
    run.routing.policy = RoutingPolicy::kStatic;
    run.options.fold = false;
    const HandGraph graph = GroupsAndWorld(3, size, seed);
    const Timeline with = run.Run(graph);
    run.options.memo = false;
    ExpectSameRanks(with, run.Run(graph), seed);
    reuses += with.flow.reuses;
  }
  EXPECT_GT(reuses, 100U);
}

// The run has as many programs as ranks and so no symmetry; each collective has some where its
// members join at once.
TEST(CollectiveMemo, FoldsCollectivesOfARunThatDoesNotFoldAndChangesNoPicosecond) {
  std::uint64_t fewer = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto size = static_cast<std::uint32_t>(2 + Below(Draw(seed, 61, 0), 9));
    const auto channels = static_cast<std::uint32_t>(1 + Below(Draw(seed, 61, 1), 4));
    FlowCase run{.fabric = LeafSpine(3, size, 1 + static_cast<std::uint32_t>(seed % 3), {})};
    run.routing.policy = seed % 2 == 0 ? RoutingPolicy::kStatic : RoutingPolicy::kAdaptive;
    HandGraph graph = Groups(3, size, 6, channels, seed % 4 == 0, seed);
    if (seed % 3 == 0)
      graph.choices[2] = Choose(Primitive::kAllReduce, 40'000, "double_binary_tree", channels);
    if (seed % 3 == 1)
      graph.choices[1] = Choose(Primitive::kAllToAll, 24'000, "pairwise", channels);
    // Groups whose members are on several leaves, and share the cables there.
    const Placement placement = seed % 5 < 3
                                    ? PackedPlacement(run.fabric, graph.ranks()).value()
                                    : RandomPlacement(run.fabric, graph.ranks(), seed).value();
    const Timeline folded = run.Run(graph, placement);
    run.options.fold = false;
    const Timeline whole = run.Run(graph, placement);
    run.options.memo = false;
    ExpectSameRanks(folded, run.Run(graph, placement), seed);
    EXPECT_EQ(folded.flow.fold_classes % graph.ranks(), 0U);  // channels at most
    fewer += folded.flow.transfers_simulated < whole.flow.transfers_simulated ? 1 : 0;
  }
  EXPECT_GT(fewer, 30U);
}

TEST(CollectiveMemo, FoldsACollectiveThatIsRunOnce) {
  FlowCase run{.fabric = LeafSpine(2, 8, 8)};
  HandGraph graph = Groups(1, 8, 1, 1, false, 1);
  for (Program& program : graph.programs) program.tasks = {{.kind = TaskKind::kCollective}};
  const Timeline timeline = run.Run(graph);
  EXPECT_EQ(timeline.flow.fold_classes, 0U);
  EXPECT_EQ(timeline.flow.transfers_simulated, 2U * 7U);
  EXPECT_EQ(timeline.flow.transfers_represented, 8U * 2U * 7U);
}

TEST(CollectiveMemo, SolvesARepeatedCollectiveOnce) {
  FlowCase run{.fabric = LeafSpine(4, 4, 1)};
  run.options.fold = false;
  HandGraph graph = Groups(4, 4, 1, 1, false, 1);
  for (Program& program : graph.programs) {
    program.tasks.assign(10, {.kind = TaskKind::kCollective});
  }
  const Timeline timeline = run.Run(graph);
  EXPECT_EQ(timeline.flow.reuses, 39U);
  EXPECT_EQ(timeline.flow.transfers_simulated, 4U * 6U);
  EXPECT_EQ(timeline.flow.transfers_represented, 40U * 4U * 6U);
}

}  // namespace
}  // namespace trunkline
