#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "trunkline/fabric/build.h"
#include "trunkline/scenario/run.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;

// An AllReduce on two leaves of four hosts.
Result<Scenario> Read(const std::string& placement, const std::string& ranks = "4") {
  return ParseScenario(
      "cluster: {nodes: 8, fabric: \"tree:arity=[4,2],taper=[4]\", placement: " + placement +
          "}\nworkload: {collective: {primitive: all_to_all, size: 64 MiB, ranks: " + ranks +
          "}}\n",
      "p.yaml");
}

TEST(PlacementOfAScenario, DecidesHowMuchClimbsAndHowLongItTakes) {
  const auto near = Read("linear");
  const auto far = Read("{kind: by-block, block: 1}");
  ASSERT_TRUE(near.has_value() && far.has_value());
  const auto near_run = RunScenario(*near);
  const auto far_run = RunScenario(*far);
  ASSERT_TRUE(near_run.has_value() && far_run.has_value());
  EXPECT_EQ(near_run->fragmentation.units, 1U);
  EXPECT_EQ(far_run->fragmentation.units, 2U);
  EXPECT_EQ(far_run->fragmentation.ring_over_spines, 1);
  // Four messages of 16 MiB cross one uplink as fast as a NIC, which sends three.
  const double ratio = far_run->time.seconds() / near_run->time.seconds();
  EXPECT_NEAR(ratio, 4.0 / 3, 0.02);
}

TEST(PlacementOfAScenario, FromANodeListIsAllThatTheJobMayUse) {
  const auto scenario = Read("{nodelist: \"node[6-7]\"}", "2");
  ASSERT_TRUE(scenario.has_value());
  const auto run = RunScenario(*scenario);
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->fabric->name(run->placement.endpoint(RankId{0})), "host-6");
  const auto more = Read("{nodelist: \"node[6-7]\"}", "3");
  ASSERT_FALSE(more.has_value());
  EXPECT_EQ(more.error()[0].code, "TL1206");
}

TEST(PlacementOfAScenario, IsRefusedWithItsPlace) {
  for (const auto& [placement, code] :
       {std::pair("by-block", "TL1207"), std::pair("{kind: packed, block: 4}", "TL1207"),
        std::pair("{kind: packed, seed: 4}", "TL1207"), std::pair("{kind: by-block}", "TL1106"),
        std::pair("{nodelist: \"node[9]\"}", "TL1423"), std::pair("{nodelist: \"n[\"}", "TL1422"),
        std::pair("{file: nowhere.txt}", "TL1101"), std::pair("{}", "TL1207"),
        std::pair("{file: a, nodelist: b}", "TL1207"), std::pair("scattered", "TL1109")}) {
    const auto scenario = Read(placement);
    ASSERT_FALSE(scenario.has_value()) << placement;
    EXPECT_EQ(scenario.error()[0].code, code) << placement;
    EXPECT_FALSE(scenario.error()[0].where.file.empty()) << placement;
  }
}

TEST(PlacementOfAScenario, FromAFileIsReadBesideIt) {
  const std::string path = ::testing::TempDir() + "placement_of_a_scenario.txt";
  std::ofstream(path) << "1=host-0\n0=host-5\n";
  const auto scenario = Read("{file: " + path + "}", "2");
  ASSERT_TRUE(scenario.has_value()) << Format(scenario.error()[0]);
  const auto run = RunScenario(*scenario);
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->fabric->name(run->placement.endpoint(RankId{0})), "host-5");
}

}  // namespace
}  // namespace trunkline
