#include "engine/packet/zones.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "engine/packet/test_network.h"

namespace trunkline {
namespace {

// Sixteen hosts at eight leaves, 20 switches.
TestNetwork FatTree(Time cable, LossControl loss = LossControl::kPause) {
  SwitchModel switches;
  switches.loss_control = loss;
  return {FabricOf("fat-tree:k=4,link=100Gb/s", cable), switches, PacketTransport()};
}

TEST(Zones, AreTheSwitchesEachWithItsHosts) {
  const TestNetwork network = FatTree(Time::Microseconds(1));
  const Zones zones = FindZones(network.plant, network.fabric);
  EXPECT_EQ(zones.count, 20U);
  std::set<std::uint16_t> of_hosts;
  for (std::size_t i = 0; i < network.fabric.link_count(); ++i) {
    const bool to_host = network.plant.cables[i].to_switch == kNoIndex;
    if (to_host) of_hosts.insert(zones.of_link[i]);
    if (to_host || network.plant.ports[i].at_switch == kNoIndex) {
      EXPECT_EQ(zones.of_link[i], zones.of_link[i ^ 1U]) << "a host is not where its leaf is";
    } else {
      EXPECT_NE(zones.of_link[i], zones.of_link[i ^ 1U]);
    }
  }
  EXPECT_EQ(of_hosts.size(), 8U);
}

TEST(Zones, HaveWindowsAsLongAsTheShortestCableBetweenThem) {
  const TestNetwork network = FatTree(Time::Nanoseconds(350));
  EXPECT_EQ(FindZones(network.plant, network.fabric).window, Time::Nanoseconds(350));
}

TEST(Zones, AreOneWhereCablesHaveNoLengthOrCreditsComeBack) {
  const TestNetwork without_length = FatTree(Time());
  EXPECT_EQ(FindZones(without_length.plant, without_length.fabric).count, 1U);
  const TestNetwork credits = FatTree(Time::Microseconds(1), LossControl::kCredits);
  EXPECT_EQ(FindZones(credits.plant, credits.fabric).count, 1U);
}

TEST(Zones, HaveEndpointsApartUnlessOneIsNearerThanAWindow) {
  TestNetwork network = FatTree(Time::Microseconds(1));
  EXPECT_TRUE(FindZones(network.plant, network.fabric).ends_apart);
  for (std::size_t i = 0; i < network.fabric.link_count(); ++i) {
    if (network.plant.cables[i].to_switch != kNoIndex) continue;
    network.plant.cables[i].delay -= 1;  // from a leaf to its host
    break;
  }
  const Zones zones = FindZones(network.plant, network.fabric);
  EXPECT_EQ(zones.window, Time::Microseconds(1));
  EXPECT_FALSE(zones.ends_apart);
}

// Two leaves below a spine, and a host at both.
TEST(Zones, DoNotHaveEndpointsApartWhereOneHasTwoCables) {
  FabricBuilder builder;
  const auto add = [&](DeviceKind kind, std::uint8_t tier, std::uint32_t node) {
    return builder.AddDevice({.kind = kind, .tier = tier, .node = node, .local = 0, .latency = {}});
  };
  const auto connect = [&](DeviceId a, DeviceId b) {
    builder.AddCable(a, b, Rate::GigabitsPerSecond(100), Time::Microseconds(1), LinkKind::kNetwork);
  };
  const DeviceId spine = add(DeviceKind::kSwitch, 2, Device::kNoNode);
  const DeviceId host = add(DeviceKind::kHost, 0, 0);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const DeviceId leaf = add(DeviceKind::kSwitch, 1, Device::kNoNode);
    connect(leaf, spine);
    connect(add(DeviceKind::kHost, 0, 1 + i), leaf);
    connect(host, leaf);
  }
  const TestNetwork network(std::move(builder).Build(), SwitchModel(), PacketTransport());
  const Zones zones = FindZones(network.plant, network.fabric);
  EXPECT_EQ(zones.count, 3U);
  EXPECT_FALSE(zones.ends_apart);
}

// 96 directed links carry a frame of 4,178 bytes in 334 ns: 14 in a microsecond at each of 20
// switches.
TEST(Zones, AreWorthwhileWhereAWindowHoldsManyFrames) {
  const TestNetwork far = FatTree(Time::Microseconds(1));
  EXPECT_TRUE(AreWorthwhile(FindZones(far.plant, far.fabric), far.plant));
  const TestNetwork near = FatTree(Time::Nanoseconds(100));
  EXPECT_FALSE(AreWorthwhile(FindZones(near.plant, near.fabric), near.plant));
  EXPECT_FALSE(AreWorthwhile(Zones(), far.plant));
}

}  // namespace
}  // namespace trunkline
