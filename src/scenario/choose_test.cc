#include "scenario/choose.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "trunkline/scenario/run.h"
#include "trunkline/scenario/scenario.h"

namespace trunkline {
namespace {

// An AllGather of 128 MiB among the GPUs of a list, in the flow engine.
RunResult GatherAmong(const std::string& gpus) {
  const std::string file = ::testing::TempDir() + "choose_test_ranks.txt";
  std::ofstream(file) << gpus;
  const auto scenario =
      ParseScenario("cluster: {node: dgx-h100, nodes: 3, placement: {file: " + file + R"(}}
workload: {collective: {primitive: all_gather, size: 128 MiB, ranks: 4}}
engine: flow
)",
                    "test.yaml", {});
  EXPECT_TRUE(scenario.has_value()) << (scenario ? "" : Format(scenario.error().front()));
  auto result = RunScenario(*scenario);
  EXPECT_TRUE(result.has_value());
  return *std::move(result);
}

TEST(Choose, PricesAGroupByItsNodesInAnyOrder) {
  const RunResult first = GatherAmong("gpu:0/0\ngpu:0/1\ngpu:1/0\ngpu:2/0\n");
  const RunResult later = GatherAmong("gpu:0/0\ngpu:1/0\ngpu:1/1\ngpu:2/0\n");
  for (const RunResult* result : {&first, &later}) {
    const CollectiveRow& row = result->rows.front();
    EXPECT_EQ(row.protocol, Protocol::kSimple);
    // No estimate is below what the cables allow, nor without end.
    for (const TunerCandidate& candidate : row.candidates) {
      EXPECT_GE(candidate.cost(), row.bound) << candidate.algorithm;
      EXPECT_LT(candidate.cost(), Time::Microseconds(1'000'000)) << candidate.algorithm;
    }
  }
  EXPECT_EQ(first.rows.front().candidates.front().cost(),
            later.rows.front().candidates.front().cost());
}

}  // namespace
}  // namespace trunkline
