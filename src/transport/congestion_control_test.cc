#include "trunkline/transport/congestion_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/test_units.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;

double ValueOf(const CongestionControl& control, std::string_view name) {
  const auto found = std::ranges::find(control.values, name, &CongestionParameter::name);
  return found == control.values.end() ? std::numeric_limits<double>::quiet_NaN() : found->value;
}

TEST(CongestionControl, EveryPresetOfEveryPolicyCanBeMadeAtEveryUsualRate) {
  for (const CongestionPolicyInfo& info : CongestionPolicies()) {
    EXPECT_FALSE(info.summary.empty()) << info.name;
    for (const CongestionPreset& preset : info.presets) {
      for (const int gigabits : {25, 100, 400, 800}) {
        const auto made =
            MakeCongestionControl(info.name, preset.name, {}, Rate::GigabitsPerSecond(gigabits));
        ASSERT_TRUE(made.has_value()) << preset.name << ": " << made.error()[0].message;
        EXPECT_EQ(made->policy.name, info.name);
        EXPECT_NE(made->policy.start, nullptr);
        EXPECT_EQ(made->preset, preset.name);
        EXPECT_EQ(made->marking.has_value(), made->policy.needs_marks) << preset.name;
      }
    }
  }
}

TEST(CongestionControl, PresetsHaveTheValuesOfTheirSources) {
  const auto paper = MakeCongestionControl("dcqcn", "dcqcn-paper", {}, Rate::GigabitsPerSecond(40));
  ASSERT_TRUE(paper.has_value());
  EXPECT_EQ(paper->preset, "dcqcn-paper");
  EXPECT_EQ(ValueOf(*paper, "g"), 1.0 / 256);
  EXPECT_EQ(ValueOf(*paper, "byte_counter"), 10);
  EXPECT_EQ(paper->marking->low, Bytes(5'000));
  EXPECT_EQ(paper->marking->high, Bytes(200'000));
  EXPECT_EQ(paper->notification_interval, Time::Microseconds(50));
  EXPECT_TRUE(paper->policy.needs_cnp);
}

// HPCC's run.py: 5 bw/25, 50 bw/25, Kmin 100 bw/25, Kmax 400 bw/25.
TEST(CongestionControl, ScaledPresetsFollowTheLineRate) {
  const auto ns3 = MakeCongestionControl("dcqcn", "dcqcn-ns3", {}, k100Gb);
  ASSERT_TRUE(ns3.has_value());
  EXPECT_EQ(ValueOf(*ns3, "rate_ai"), 20);
  EXPECT_EQ(ValueOf(*ns3, "rate_hai"), 200);
  EXPECT_EQ(ns3->marking->at_rate, Rate::GigabitsPerSecond(25));
  EXPECT_FALSE(ns3->policy.needs_cnp);
}

TEST(CongestionControl, UnknownNamesAreRefusedWithTheNearestOne) {
  const auto policy = MakeCongestionControl("dcqnc", "", {}, k100Gb);
  ASSERT_FALSE(policy.has_value());
  EXPECT_EQ(policy.error()[0].code, "TL1820");
  EXPECT_THAT(policy.error()[0].hint, HasSubstr("did you mean 'dcqcn'?"));

  const auto preset = MakeCongestionControl("dcqcn", "dcqcn-papr", {}, k100Gb);
  ASSERT_FALSE(preset.has_value());
  EXPECT_EQ(preset.error()[0].code, "TL1821");
  EXPECT_THAT(preset.error()[0].hint, HasSubstr("did you mean 'dcqcn-paper'?"));

  const auto others = MakeCongestionControl("dcqcn", "hpcc", {}, k100Gb);
  ASSERT_FALSE(others.has_value());
  EXPECT_EQ(others.error()[0].code, "TL1821");

  const std::vector<CongestionOverride> typo = {{"rate_aii", 5}};
  const auto parameter = MakeCongestionControl("dcqcn", "", typo, k100Gb);
  ASSERT_FALSE(parameter.has_value());
  EXPECT_EQ(parameter.error()[0].code, "TL1822");
  EXPECT_THAT(parameter.error()[0].hint, HasSubstr("did you mean 'rate_ai'?"));
}

TEST(CongestionControl, ValuesOutOfRangeAndContradictionsAreRefused) {
  for (const double bad : {-1.0, 2.0, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()}) {
    const std::vector<CongestionOverride> overrides = {{"g", bad}};
    const auto made = MakeCongestionControl("dcqcn", "", overrides, k100Gb);
    ASSERT_FALSE(made.has_value()) << bad;
    EXPECT_EQ(made.error()[0].code, "TL1823");
  }
  const std::vector<CongestionOverride> crossed = {{"t_low", 600}};
  const auto timely = MakeCongestionControl("timely", "", crossed, k100Gb);
  ASSERT_FALSE(timely.has_value());
  EXPECT_THAT(timely.error()[0].message, HasSubstr("t_low is above t_high"));
}

TEST(CongestionControl, OverridesReplaceWhatThePresetSays) {
  const std::vector<CongestionOverride> overrides = {{"eta", 0.99}};
  const auto made = MakeCongestionControl("hpcc", "", overrides, k100Gb);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(ValueOf(*made, "eta"), 0.99);
  EXPECT_TRUE(made->policy.needs_telemetry);
  EXPECT_EQ(made->header, Bytes(42));
}

}  // namespace
}  // namespace trunkline
