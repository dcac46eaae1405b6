#include "scenario/deadlock_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "trunkline/base/check.h"
#include "trunkline/scenario/run.h"
#include "trunkline/scenario/traffic_result.h"

namespace trunkline {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

RunResult RunOn(const std::string& fabric, const std::string& transport,
                const std::string& faults = "[]") {
  const std::string text = "cluster: {fabric: " + fabric + ", transport: " + transport +
                           "}\n"
                           "workload: {traffic: {pattern: permutation, size: 100 kB}}\n"
                           "engine: packet\nfaults: " +
                           faults + "\n";
  const auto scenario = ParseScenario(text, "s.yaml", {});
  TL_CHECK(scenario.has_value(), scenario ? "" : Format(scenario.error().front()));
  auto result = RunScenario(*scenario, {});
  TL_CHECK(result.has_value(), Format(result.error().front()));
  return std::move(*result);
}

std::string DeadlockWarning(const RunResult& result) {
  const auto found = std::ranges::find(result.warnings, "TL1827", &Diagnostic::code);
  return found == result.warnings.end() ? "" : Format(*found);
}

TEST(DeadlockCheck, NamesTheCycleOfLosslessEthernetOnATorus) {
  const RunResult result = RunOn("{kind: torus, sizes: [4], routing: ecmp}", "{kind: rocev2}");
  EXPECT_THAT(DeadlockWarning(result), AllOf(HasSubstr("ecmp routing may deadlock"),
                                             HasSubstr(" -> "), HasSubstr("routing: up-down")));
}

TEST(DeadlockCheck, ProvesATorusByDimensionsWithTwoVirtualChannels) {
  const RunResult result =
      RunOn("{kind: torus, sizes: [4, 4], routing: dor}", "{kind: infiniband}");
  EXPECT_THAT(DeadlockWarning(result), IsEmpty());
  EXPECT_THAT(result.assumptions,
              Contains(AllOf(HasSubstr("proved impossible"), HasSubstr("2 virtual channels"))));
  EXPECT_EQ(result.status, RunStatus::kFinished);
}

TEST(DeadlockCheck, ProvesAdaptiveRoutingOnATorusByItsEscape) {
  const RunResult result =
      RunOn("{kind: torus, sizes: [4, 4], routing: adaptive}", "{kind: infiniband}");
  EXPECT_THAT(DeadlockWarning(result), IsEmpty());
  EXPECT_THAT(result.assumptions, Contains(AllOf(HasSubstr("3 virtual channels"),
                                                 HasSubstr("the escape reach every end"))));
  EXPECT_THAT(result.assumptions,
              Contains(HasSubstr("5 virtual lanes, 3 for each class of data and 2 for")));
  EXPECT_EQ(result.status, RunStatus::kFinished);
}

TEST(DeadlockCheck, ProvesATreeByItsTiers) {
  const RunResult result = RunOn("{kind: fat-tree, k: 4, routing: ecmp}", "{kind: rocev2}");
  EXPECT_THAT(result.assumptions,
              Contains(AllOf(HasSubstr("proved impossible"), HasSubstr("64 channels"))));
}

// Leaf i keeps the cables to spines i and i + 1 alone, so that shortest paths go round.
constexpr const char* kFiveLeaves =
    "{kind: fat-tree, children: [2, 5], parents: [1, 5], link: "
    "100 Gb/s, routing: ecmp, switch: {rerouting: 1 us}}";
std::string CutToARing(const std::string& when) {
  std::string faults;
  for (int leaf = 0; leaf < 5; ++leaf) {
    for (int spine = 0; spine < 5; ++spine) {
      if (spine == leaf || spine == (leaf + 1) % 5) continue;
      faults += (faults.empty() ? "[" : ", ") + std::string("{kind: fail, target: leaf-") +
                std::to_string(leaf) + "/spine-" + std::to_string(spine) + when + "}";
    }
  }
  return faults + "]";
}

TEST(DeadlockCheck, LooksAtTheWaysAroundCablesThatFailLater) {
  const RunResult whole = RunOn(kFiveLeaves, "{kind: rocev2}");
  EXPECT_THAT(whole.assumptions, Contains(HasSubstr("proved impossible")));
  const RunResult cut = RunOn(kFiveLeaves, "{kind: rocev2}", CutToARing(", at: 1 us"));
  EXPECT_THAT(DeadlockWarning(cut),
              HasSubstr("may deadlock without the cables that are down from 1 us on"));
  EXPECT_THAT(cut.assumptions, Not(Contains(HasSubstr("proved impossible"))));
  // One cable less leaves a tree.
  const RunResult one =
      RunOn(kFiveLeaves, "{kind: rocev2}", "[{kind: fail, target: leaf-0/spine-0, at: 1 us}]");
  EXPECT_THAT(DeadlockWarning(one), IsEmpty());
}

TEST(DeadlockCheck, OffersAnEscapeToAdaptiveRoutingOnOtherFabrics) {
  const RunResult result =
      RunOn("{kind: dragonfly, h: 1, routing: adaptive}", "{kind: infiniband}");
  EXPECT_THAT(DeadlockWarning(result), HasSubstr("{policy: adaptive, virtual_channels: true}"));
  const RunResult escaped =
      RunOn("{kind: dragonfly, h: 1, routing: {policy: adaptive, virtual_channels: true}}",
            "{kind: infiniband}");
  EXPECT_THAT(DeadlockWarning(escaped), IsEmpty());
  EXPECT_EQ(escaped.status, RunStatus::kFinished);
}

TEST(DeadlockCheck, RefusesAnEscapeWhereAPauseMayComeAnyTime) {
  const auto scenario = ParseScenario(
      "cluster: {fabric: {kind: torus, sizes: [4], routing: {policy: adaptive, virtual_channels: "
      "true}}, transport: {kind: rocev2}}\nworkload: {traffic: {pattern: permutation, size: 1 "
      "kB}}\n"
      "engine: packet\n",
      "s.yaml", {});
  ASSERT_FALSE(scenario.has_value());
  EXPECT_EQ(scenario.error()[0].code, "TL1829");
  EXPECT_EQ(scenario.error()[0].where.column, 54);  // of `routing`'s value
}

TEST(DeadlockCheck, WarnsOfADragonflyWhosePacketsKeepTheirClass) {
  const RunResult result = RunOn("{kind: dragonfly, h: 2, routing: ugal-l}", "{kind: rocev2}");
  EXPECT_THAT(DeadlockWarning(result), HasSubstr("virtual_channels: true"));
}

TEST(DeadlockCheck, SaysNothingOfSwitchesThatDropPackets) {
  const RunResult result =
      RunOn("{kind: torus, sizes: [4], routing: ecmp, switch: {pfc: false}}", "{kind: rocev2}");
  EXPECT_THAT(DeadlockWarning(result), IsEmpty());
}

// Every policy delivers everything, on a fabric that it can route.
TEST(DeadlockCheck, LetsEveryPolicyFinish) {
  for (const RoutingPolicyInfo& info : RoutingPolicies()) {
    const std::string fabric = info.policy == RoutingPolicy::kDor ? "{kind: torus, sizes: [3, 4]"
                                                                  : "{kind: dragonfly, h: 2";
    const RunResult result = RunOn(fabric + ", routing: " + info.name + "}", "{kind: infiniband}");
    EXPECT_EQ(result.status, RunStatus::kFinished) << info.name;
    EXPECT_EQ(result.traffic->counters->drops, 0) << info.name;
  }
}

}  // namespace
}  // namespace trunkline
