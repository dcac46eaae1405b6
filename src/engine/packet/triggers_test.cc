#include "engine/packet/triggers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/test_units.h"

namespace trunkline {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TrafficTrigger Barrier(std::uint32_t count, std::vector<std::uint32_t> flows) {
  TrafficTrigger trigger;
  trigger.kind = TrafficTrigger::Kind::kBarrier;
  trigger.count = count;
  trigger.flows = std::move(flows);
  return trigger;
}

std::vector<std::pair<std::uint32_t, Time>> Started(Triggers& triggers, std::uint32_t trigger,
                                                    Time now) {
  std::vector<std::pair<std::uint32_t, Time>> started;
  triggers.Activate(trigger, now,
                    [&](std::uint32_t flow, Time at) { started.emplace_back(flow, at); });
  return started;
}

TEST(Triggers, FireAtTheLatestOfTheirActivationsInWhateverOrderTheseAreHeardOf) {
  const std::vector<TrafficTrigger> barrier = {Barrier(3, {7, 8})};
  Triggers triggers(barrier);
  EXPECT_THAT(Started(triggers, 0, Us(5)), ElementsAre());
  EXPECT_THAT(Started(triggers, 0, Us(9)), ElementsAre());
  EXPECT_THAT(Started(triggers, 0, Us(2)), ElementsAre(Pair(7, Us(9)), Pair(8, Us(9))));
}

TEST(Triggers, ActivateOthersWhenTheyFire) {
  std::vector<TrafficTrigger> chain = {Barrier(2, {0}), Barrier(2, {1})};
  chain[0].then = 1;
  Triggers triggers(chain);
  EXPECT_THAT(Started(triggers, 1, Us(3)), ElementsAre());
  EXPECT_THAT(Started(triggers, 0, Us(6)), ElementsAre());
  EXPECT_THAT(Started(triggers, 0, Us(1)), ElementsAre(Pair(0, Us(6)), Pair(1, Us(6))));
}

// Two flows activate one trigger, and it another.
TrafficWorkload TwoThenOneThenOne() {
  TrafficWorkload traffic;
  traffic.flows.resize(4);
  traffic.triggers = {Barrier(2, {2}), Barrier(1, {3})};
  traffic.triggers[0].then = 1;
  traffic.flows[0].when_received = 0;
  traffic.flows[1].when_sent = 0;
  traffic.flows[2].trigger = 0;
  traffic.flows[2].start = Us(4);
  traffic.flows[3].trigger = 1;
  traffic.flows[3].start = Us(2);
  return traffic;
}

TEST(Triggers, AreInAnyOrderUnlessMoreActivateOneThanItWaitsFor) {
  TrafficWorkload traffic = TwoThenOneThenOne();
  EXPECT_TRUE(Triggers::AreInAnyOrder(traffic));
  traffic.flows[2].when_sent = 1;  // which has fired by then, or not
  EXPECT_FALSE(Triggers::AreInAnyOrder(traffic));
  traffic.triggers[1].count = 2;
  EXPECT_TRUE(Triggers::AreInAnyOrder(traffic));
  traffic.triggers[1].kind = TrafficTrigger::Kind::kMultiShot;
  EXPECT_FALSE(Triggers::AreInAnyOrder(traffic));
}

TEST(Triggers, TellTheShortestTimeThatPassesBetweenThemAndAFlow) {
  EXPECT_EQ(Triggers::LeastDelay(TwoThenOneThenOne()), Us(2));
  EXPECT_EQ(Triggers::LeastDelay(TrafficWorkload()), Time::Max());
}

TEST(Triggers, ReachTheShardsOfTheirFlowsAndOfThoseOfTriggersThatTheyActivate) {
  const TrafficWorkload traffic = TwoThenOneThenOne();
  const std::vector<std::uint16_t> shard_of = {0, 1, 2, 4};
  EXPECT_THAT(Triggers::Reach(traffic, shard_of), ElementsAre(1U << 2 | 1U << 4, 1U << 4));
}

}  // namespace
}  // namespace trunkline
