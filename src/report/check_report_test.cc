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

// Findings of one device are said together where they are the same but for the place.
TEST(CheckReport, SaysLikewiseOnlyOfWhatIsAlike) {
  using Kind = FabricFinding::Kind;
  FabricCheck check;
  const auto add = [&](FabricFinding finding, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) check.findings.push_back(finding);
  };
  add({.kind = Kind::kMissingCables, .from = "leaf-1", .to = "spine-0", .found = 3, .expected = 4},
      1);
  for (const char* spine : {"spine-1", "spine-2"}) {
    add({.kind = Kind::kMissingCables, .from = "leaf-1", .to = spine, .found = 2, .expected = 4},
        1);
  }
  const auto slow = [](const char* spine, int gigabits) {
    return FabricFinding{.kind = Kind::kSlowCable,
                         .from = "leaf-2",
                         .to = spine,
                         .found = 1,
                         .expected = 1,
                         .found_rate = Rate::GigabitsPerSecond(gigabits),
                         .expected_rate = Rate::GigabitsPerSecond(400)};
  };
  add(slow("spine-0", 25), 3);
  add(slow("spine-0", 100), 3);
  add(slow("spine-1", 100), 1);
  add(slow("spine-2", 100), 10);
  for (std::uint32_t port = 1; port <= 4; ++port) {
    FabricFinding finding = slow("spine-0", 100);
    finding.from = "leaf-3";
    finding.to = port == 4 ? "spine-1" : "spine-0";
    finding.ports = {port};
    add(finding, 1);
  }
  add({.kind = Kind::kMiscabled, .from = "leaf-4", .to = "spine-0", .instead = "spine-1"}, 1);
  add({.kind = Kind::kMiscabled, .from = "leaf-4", .to = "spine-2", .instead = "spine-3"}, 1);
  const std::string text = RenderCheckText(Build("fat-tree:k=4"), check, {});
  EXPECT_THAT(text, HasSubstr("  leaf-1 misses 2 of 4 cables to spine-1; likewise spine-2; 1 of "
                              "other numbers of cables\n"));
  EXPECT_THAT(text, HasSubstr("  the cable of leaf-2 to spine-0 runs at 100 Gb/s, not 400 Gb/s; "
                              "likewise spine-0 (2 cables), spine-1 and 10 more; 3 of other "
                              "rates\n"));
  EXPECT_THAT(text, HasSubstr("  the cable of leaf-3 port 1 to spine-0 runs at 100 Gb/s, not 400 "
                              "Gb/s; likewise spine-0 ports 2+3, spine-1 port 4\n"));
  EXPECT_THAT(text,
              HasSubstr("  the cable of leaf-4 leads to spine-0, not spine-1; 1 otherwise\n"));
}

// One leaf has half of a rate and one a cable less, of 2:1 fabrics with 4 uplinks each.
TEST(CheckReport, SaysWhetherUplinksAreFewerOrSlower) {
  const BuiltFabric found = Build("fat-tree:k=4");
  const auto head = [&](std::vector<ShortSwitch> switches) {
    FabricCheck check;
    check.switches = std::move(switches);
    check.switches_with_uplinks = 8;
    return RenderCheckText(found, check, {});
  };
  const ShortSwitch slower{
      .name = "leaf-0", .cables_up = 4, .cables_up_expected = 4, .uplink_rate_share = 0.5};
  const ShortSwitch fewer{
      .name = "leaf-1", .cables_up = 3, .cables_up_expected = 4, .uplink_rate_share = 0.75};
  EXPECT_THAT(head({slower}), HasSubstr("\n1 of 8 switches have slower uplinks than expected:\n"));
  EXPECT_THAT(head({fewer}), HasSubstr("\n1 of 8 switches have fewer uplinks than expected:\n"));
  EXPECT_THAT(head({fewer, slower}),
              HasSubstr("\n2 of 8 switches have fewer or slower uplinks than expected:\n"));
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
