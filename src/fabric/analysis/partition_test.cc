#include "fabric/analysis/partition.h"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>

namespace trunkline {
namespace {

// Servers of four hosts at a switch of their own, 25 ns away, and each host at one of four rails,
// 500 ns away, below two spines: vertices are the hosts, since each is a node.
struct Servers {
  explicit Servers(std::uint32_t count) {
    FabricBuilder builder;
    const auto add = [&](DeviceKind kind, std::uint8_t tier, std::uint32_t node) {
      return builder.AddDevice(
          {.kind = kind, .tier = tier, .node = node, .local = 0, .latency = {}});
    };
    const auto connect = [&](DeviceId a, DeviceId b, Time length) {
      builder.AddCable(a, b, Rate::GigabitsPerSecond(100), length, LinkKind::kNetwork);
    };
    constexpr Time kLong = Time::Nanoseconds(500);
    std::vector<DeviceId> rails;
    for (int i = 0; i < 2; ++i) spines.push_back(add(DeviceKind::kSwitch, 2, Device::kNoNode));
    for (int i = 0; i < 4; ++i) {
      rails.push_back(add(DeviceKind::kSwitch, 1, Device::kNoNode));
      for (const DeviceId spine : spines) connect(rails.back(), spine, kLong);
    }
    for (std::uint32_t server = 0; server < count; ++server) {
      const DeviceId center = add(DeviceKind::kSwitch, 1, Device::kNoNode);
      members.push_back({center});
      for (std::uint32_t i = 0; i < 4; ++i) {
        members.back().push_back(add(DeviceKind::kHost, 0, server * 4 + i));
        connect(members.back().back(), center, Time::Nanoseconds(25));
        connect(members.back().back(), rails[i], kLong);
      }
    }
    fabric = std::move(builder).Build();
    for (std::size_t i = 0; i < fabric.link_count(); ++i) {
      lengths.push_back(fabric.link(LinkId(i)).latency);
    }
  }
  Fabric fabric;
  std::vector<DeviceId> spines;
  std::vector<std::vector<DeviceId>> members;  // by server
  std::vector<Time> lengths;
};

TEST(PartitionFabric, CutsTheLongestCablesThatLeavePartsOfLikeWork) {
  const Servers servers(4);
  const auto part = PartitionFabric(servers.fabric, 2, {}, servers.lengths);
  for (const auto& members : servers.members) {
    for (const DeviceId device : members) EXPECT_EQ(part[Index(device)], part[Index(members[0])]);
  }
  EXPECT_GT(std::accumulate(part.begin(), part.end(), 0), 0);
}

// The work of two servers is 100 and 60, that of two spines 20 each: a server here, the rest there.
TEST(PartitionFabric, DividesTheWorkThatItIsTold) {
  const Servers servers(2);
  std::vector<std::uint64_t> work(servers.fabric.device_count(), 0);
  for (const DeviceId device : servers.members[0]) work[Index(device)] = 20;
  for (const DeviceId device : servers.members[1]) work[Index(device)] = 12;
  for (const DeviceId spine : servers.spines) work[Index(spine)] = 20;
  const auto part = PartitionFabric(servers.fabric, 2, work, servers.lengths);
  const std::uint16_t first = part[Index(servers.members[0][0])];
  for (const DeviceId device : servers.members[0]) EXPECT_EQ(part[Index(device)], first);
  for (const DeviceId device : servers.members[1]) EXPECT_NE(part[Index(device)], first);
  for (const DeviceId spine : servers.spines) EXPECT_NE(part[Index(spine)], first);
}

}  // namespace
}  // namespace trunkline
