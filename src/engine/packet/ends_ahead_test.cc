#include "engine/packet/ends_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>

#include "engine/packet/test_network.h"

namespace trunkline {
namespace {

TestNetwork LeavesWithHosts(LossControl loss, bool cut_through, Time cable) {
  SwitchModel switches;
  switches.loss_control = loss;
  switches.cut_through = cut_through;
  return {FabricOf("fat-tree:k=4,link=100Gb/s", cable), switches, PacketTransport()};
}

TEST(EndsAhead, AreAllEndpointsWhereNothingIsLostAndCablesDelay) {
  const TestNetwork network = LeavesWithHosts(LossControl::kPause, false, Time::Nanoseconds(25));
  const auto hosts = FindHosts(network.plant, network.fabric);
  std::set<std::uint32_t> found;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    EXPECT_EQ(hosts[i] == kNoIndex, network.plant.ports[i].at_switch != kNoIndex);
    if (hosts[i] != kNoIndex) found.insert(hosts[i]);
  }
  EXPECT_EQ(found.size(), 16U);
}

TEST(EndsAhead, AreNoneWhereTimersCreditsOrHeadsOfPacketsMatter) {
  const auto run_ahead = [](LossControl loss, bool cut_through, Time cable) {
    const TestNetwork network = LeavesWithHosts(loss, cut_through, cable);
    return !FindHosts(network.plant, network.fabric).empty();
  };
  EXPECT_FALSE(run_ahead(LossControl::kLossy, false, Time::Microseconds(1)));
  EXPECT_FALSE(run_ahead(LossControl::kCredits, false, Time::Microseconds(1)));
  EXPECT_FALSE(run_ahead(LossControl::kPause, true, Time::Microseconds(1)));
  EXPECT_FALSE(run_ahead(LossControl::kPause, false, Time()));
}

TEST(EndsAhead, ArePostedToWithNoticeOfAFrameAndThreeCables) {
  const TestNetwork network = LeavesWithHosts(LossControl::kPause, false, Time::Nanoseconds(500));
  const Bytes frame = network.plant.transport.mtu + network.plant.transport.packet_overhead;
  EXPECT_EQ(LeastNotice(network.plant),
            TransferTime(frame, Rate::GigabitsPerSecond(100)) + Time::Nanoseconds(1500));
}

}  // namespace
}  // namespace trunkline
