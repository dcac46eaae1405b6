#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trunkline/fabric/build.h"
#include "trunkline/fabric/fault.h"

namespace trunkline {
namespace {

Fabric TwoHosts() {
  auto built = BuildFabric(*ParseFabricSpec("single-switch:nodes=2,link=100Gb/s"));
  EXPECT_TRUE(built.has_value());
  return std::move(built->fabric);
}

TimedFault Fault(TimedFault::Kind kind, std::int64_t from_us, std::int64_t until_us) {
  TimedFault fault;
  fault.target = "host-0/leaf-0";
  fault.kind = kind;
  fault.at = Time::Microseconds(from_us);
  if (until_us != 0) fault.until = Time::Microseconds(until_us);
  return fault;
}

TEST(ResolveFaults, AddsUpWhatBefallsOneCable) {
  TimedFault slow = Fault(TimedFault::Kind::kRate, 10, 40);
  slow.fraction = 0.5;
  TimedFault slower = Fault(TimedFault::Kind::kRate, 20, 0);
  slower.rate = Rate::GigabitsPerSecond(25);
  const std::vector<TimedFault> faults = {slow, slower, Fault(TimedFault::Kind::kDown, 30, 40)};
  const auto changes = ResolveFaults(TwoHosts(), faults);
  ASSERT_TRUE(changes.has_value());
  ASSERT_EQ(changes->size(), 4);
  const auto at = [&](std::size_t i) { return (*changes)[i]; };
  EXPECT_EQ(at(0).at, Time::Microseconds(10));
  EXPECT_EQ(at(0).rate, Rate::GigabitsPerSecond(50));
  EXPECT_EQ(at(1).at, Time::Microseconds(20));
  EXPECT_EQ(at(1).reverse_rate, Rate::GigabitsPerSecond(25));
  EXPECT_TRUE(at(2).down);
  EXPECT_EQ(at(3).at, Time::Microseconds(40));
  EXPECT_FALSE(at(3).down);
  EXPECT_EQ(at(3).rate, Rate::GigabitsPerSecond(25));
}

TEST(ResolveFaults, RefusesTimesThatRunBackwards) {
  const std::vector<TimedFault> faults = {Fault(TimedFault::Kind::kDown, 10, 10)};
  const auto changes = ResolveFaults(TwoHosts(), faults);
  ASSERT_FALSE(changes.has_value());
  EXPECT_EQ(changes.error()[0].code, "TL1406");
}

TEST(ResolveFaults, RefusesChancesAndRatesThatAreNone) {
  TimedFault certain = Fault(TimedFault::Kind::kFrameLoss, 0, 0);
  certain.chance = 1;
  TimedFault none = Fault(TimedFault::Kind::kBitErrors, 0, 0);
  TimedFault both = Fault(TimedFault::Kind::kRate, 0, 0);
  both.rate = Rate::GigabitsPerSecond(25);
  both.fraction = 0.5;
  const TimedFault neither = Fault(TimedFault::Kind::kRate, 0, 0);
  const std::vector<TimedFault> faults = {certain, none, both, neither};
  const auto changes = ResolveFaults(TwoHosts(), faults);
  ASSERT_FALSE(changes.has_value());
  EXPECT_EQ(changes.error().size(), 4);
}

}  // namespace
}  // namespace trunkline
