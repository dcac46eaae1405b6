#include "scenario/step_bound.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "trunkline/engine/engine.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/scenario/run.h"
#include "trunkline/training/training.h"

namespace trunkline {
namespace {

RunResult StepOn(const std::string& placement, const std::string& more) {
  const std::string text = fmt::format(
      "cluster: {{node: dgx-a100, nodes: 4, fabric: {{kind: rail-optimized, radix: 8, unit: 2}}, "
      "placement: {}}}\n"
      "workload:\n  training:\n    model: {}/examples/models/llama-3.1-8b.json\n"
      "    parallel: {{tp: 2, pp: 2, dp: 8, zero: 1}}\n"
      "    micro_batch: 1\n    global_batch: 16\n    sequence: 64\n{}",
      placement, TRUNKLINE_SOURCE_DIR, more);
  const auto scenario = ParseScenario(text, "s.yaml");
  EXPECT_TRUE(scenario) << Format(scenario.error().front());
  auto result = RunScenario(*scenario);
  EXPECT_TRUE(result) << Format(result.error().front());
  return *std::move(result);
}

// Every rank and each of its groups by itself.
Time SlowestRank(const RunResult& result) {
  const TaskGraph& graph = *result.training->graph;
  std::map<std::pair<CommunicatorId, std::uint32_t>, Time> known;
  const auto bound_of = [&](CommunicatorId communicator, std::uint32_t collective) {
    const auto [bound, added] = known.try_emplace({communicator, collective});
    if (added) {
      std::vector<DeviceId> members;
      for (const RankId member : graph.members(communicator)) {
        members.push_back(result.placement.endpoint(member));
      }
      bound->second =
          LowerBound(*result.router, result.transport, graph.collectives()[collective], members)
              .value();
    }
    return bound->second;
  };
  Time slowest;
  for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
    std::map<std::uint8_t, Time> busy;
    for (const Task& task : graph.program(graph.program_of(RankId{r})).tasks) {
      if (task.kind == TaskKind::kCompute) busy[task.stream] += task.duration;
      if (task.kind == TaskKind::kCollective) {
        busy[task.stream] += bound_of(graph.communicator(RankId{r}, task.role), task.collective);
      }
    }
    for (const auto& [stream, time] : busy) slowest = std::max(slowest, time);
  }
  return slowest;
}

TEST(StepBound, IsThatOfTheSlowestRankWhereverRanksLie) {
  for (const char* placement : {"packed", "by-rail", "{kind: random, seed: 3}"}) {
    const RunResult result = StepOn(placement, "engine: analytic\n");
    EXPECT_EQ(result.bound, SlowestRank(result)) << placement;
  }
}

TEST(StepBound, SeesTheOneGroupThatAFaultSlowsDown) {
  const RunResult sound = StepOn("packed", "");
  const RunResult slow =
      StepOn("packed", "faults: [{target: 'nic:3/5', kind: degrade, value: 1%}]\n");
  EXPECT_EQ(slow.bound, SlowestRank(slow));
  EXPECT_GT(slow.bound, sound.bound);
}

TEST(StepBound, IsTheSameInEveryEngine) {
  for (const char* seed : {"1", "2", "3"}) {
    const std::string placement = fmt::format("{{kind: random, seed: {}}}", seed);
    EXPECT_EQ(StepOn(placement, "engine: flow\n").bound,
              StepOn(placement, "engine: analytic\n").bound)
        << seed;
  }
}

}  // namespace
}  // namespace trunkline
