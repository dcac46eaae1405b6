#include "planner/link_load.h"

#include <gtest/gtest.h>

#include <string>

#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

LinkLoad LoadOf(const std::string& text, Bytes bytes) {
  const auto spec = ParseFabricSpec(text);
  EXPECT_TRUE(spec.has_value()) << Format(spec.error().front());
  const auto built = BuildFabric(*spec);
  EXPECT_TRUE(built.has_value()) << Format(built.error().front());
  const Router router(built->fabric, {.policy = RoutingPolicy::kAdaptive});
  const auto load = LinkLoadTime(router, bytes);
  EXPECT_TRUE(load.has_value()) << Format(load.error().front());
  return load.value_or(LinkLoad());
}

constexpr Bytes kGigabyte{1'000'000'000};

TEST(LinkLoad, OfOneSwitchIsWhatANicSends) {
  // (n - 1)/n of 1 GB at 50 GB/s.
  const LinkLoad load = LoadOf("single-switch:nodes=8,link=400 Gb/s", kGigabyte);
  EXPECT_EQ(load.time, Time::Picoseconds(17'500'000'000));
  EXPECT_EQ(load.rounds, 7U);
}

TEST(LinkLoad, OfATaperedTreeIsWhatItsUplinkCarries) {
  // Two leaves of four hosts at 100 Gb/s with one uplink of as much: 4 x 4 messages of 1/8 GB.
  const LinkLoad load = LoadOf("tree:arity=[4,2],taper=[4],link=100 Gb/s", kGigabyte);
  EXPECT_EQ(load.time, Time::Picoseconds(160'000'000'000));
}

TEST(LinkLoad, OfRailsApartIsThatOfOneSwitchAsNodesForward) {
  // Two nodes of eight GPUs: each NIC carries its own rail and seven others', 8 x 8/8 messages of
  // 1/16 GB, as it would on one switch.
  const LinkLoad load = LoadOf("rail-only:node=dgx-h100,nodes=2", kGigabyte);
  EXPECT_EQ(load.time, Time::Picoseconds(10'000'000'000));
}

TEST(LinkLoad, OfASampleOfRoundsIsThatOfAllWhereTheyAreAlike) {
  const LinkLoad load = LoadOf("single-switch:nodes=2048,link=400 Gb/s", kGigabyte);
  EXPECT_LT(load.rounds, load.all_rounds);
  EXPECT_NEAR(load.time.seconds(), 2047.0 / 2048 / 50, 2e-12);  // whole picoseconds
}

}  // namespace
}  // namespace trunkline
