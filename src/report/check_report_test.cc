#include "trunkline/report/check_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "report/test_fabrics.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CheckReport, OfAnUnlikeFabricFitsAScreenAndJsonHasAll) {
  const BuiltFabric found = Build("fat-tree:k=4");
  const BuiltFabric expected = Build("fat-tree:k=8");
  const FabricCheck check = CheckFabric(found.fabric, {}, &expected.fabric);
  ASSERT_GT(check.findings.size(), 100U);  // 112 of 128 hosts are missing
  const std::string text = RenderCheckText(found, check, {});
  EXPECT_LT(std::ranges::count(text, '\n'), 40);
  EXPECT_THAT(text, HasSubstr(" more: --json has all\n"));
  // The shapes come first: 5k^2/4 switches, k^3/4 hosts.
  EXPECT_THAT(text, ::testing::ContainsRegex("the shapes differ:.*servers +16 +128"));
  EXPECT_THAT(text, ::testing::ContainsRegex("core switches +4 +16"));
  EXPECT_LT(text.find("the shapes differ"), text.find("found: "));
  const auto json = nlohmann::json::parse(RenderCheckJson(found, check, {}));
  EXPECT_EQ(json["findings"].size(), check.findings.size());
}

TEST(CheckReport, OfAFewFindingsNamesThemAll) {
  BuiltFabric found = Build("fat-tree:k=8");
  const BuiltFabric expected = found;
  std::vector<StaticFault> faults;
  for (const char* target : {"leaf-0/spine-0", "leaf-1/spine-1", "leaf-2/spine-2", "leaf-3/spine-3",
                             "leaf-4/spine-4", "leaf-5/spine-5"}) {
    faults.push_back({.target = target});
  }
  const auto cut = ApplyFaults(found.fabric, faults);
  ASSERT_TRUE(cut.has_value()) << Format(cut.error().front());
  found.fabric = *cut;
  const std::string text =
      RenderCheckText(found, CheckFabric(found.fabric, {}, &expected.fabric), {});
  EXPECT_THAT(text, HasSubstr("found: 6 places with missing cables (6 cables)\n"));
  EXPECT_THAT(text, HasSubstr("leaf-5 misses 1 of 1 cables to spine-5"));
}

TEST(CheckReport, SaysWhyTheCostCannotBeTold) {
  const BuiltFabric found = Build("fat-tree:k=4");
  const FabricCheck check = CheckFabric(found.fabric, {}, nullptr);
  EXPECT_THAT(RenderCheckText(found, check, {}, "in the fabric found, no path"),
              HasSubstr("\nthe cost cannot be told: in the fabric found, no path\n"));
  EXPECT_EQ(nlohmann::json::parse(RenderCheckJson(found, check, {}, "no path"))["no_cost"],
            "no path");
  EXPECT_TRUE(nlohmann::json::parse(RenderCheckJson(found, check, {}))["no_cost"].is_null());
}

TEST(CheckReport, ACostThatRoundsToNothingHasNoSign) {
  const BuiltFabric found = Build("fat-tree:k=4");
  const FabricCheck check = CheckFabric(found.fabric, {}, nullptr);
  const CheckCost cost{.found = {Time::Nanoseconds(999'999), Time::Nanoseconds(1'000'000)},
                       .mended = {Time::Nanoseconds(1'000'000), Time::Nanoseconds(1'000'000)}};
  EXPECT_THAT(RenderCheckText(found, check, cost), Not(HasSubstr("-0.0 %")));
}

}  // namespace
}  // namespace trunkline
