#include "trunkline/fabric/fabric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "trunkline/fabric/placement.h"

namespace trunkline {
namespace {

// Two nodes of one GPU and one NIC each, on one leaf.
Fabric TwoNodes() {
  FabricBuilder builder;
  const DeviceId leaf =
      builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1, .node = Device::kNoNode});
  for (std::uint32_t node = 0; node < 2; ++node) {
    const DeviceId gpu = builder.AddDevice({.kind = DeviceKind::kGpu, .node = node});
    const DeviceId nic = builder.AddDevice({.kind = DeviceKind::kNic, .node = node});
    builder.AddCable(gpu, nic, Rate::GigabytesPerSecond(50), Time::Nanoseconds(100),
                     LinkKind::kPcie);
    builder.AddCable(nic, leaf, Rate::GigabitsPerSecond(400), Time::Nanoseconds(50),
                     LinkKind::kNetwork);
  }
  return std::move(builder).Build();
}

TEST(Fabric, ReverseOfALinkRunsBackBetweenTheSameDevices) {
  const Fabric fabric = TwoNodes();
  ASSERT_EQ(fabric.link_count(), 8U);
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const LinkId back = fabric.reverse(LinkId(i));
    EXPECT_EQ(fabric.link(back).from, fabric.link(LinkId(i)).to);
    EXPECT_EQ(fabric.link(back).to, fabric.link(LinkId(i)).from);
    EXPECT_EQ(fabric.reverse(back), LinkId(i));
  }
}

TEST(Fabric, ListsLinksOutOfADeviceInTheOrderTheyWereAdded) {
  const Fabric fabric = TwoNodes();
  const auto leaf = fabric.Find("leaf-0");
  ASSERT_EQ(leaf.size(), 1U);
  const auto out = fabric.out(leaf[0]);
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(fabric.name(fabric.link(out[0]).to), "nic:0/0");
  EXPECT_EQ(fabric.name(fabric.link(out[1]).to), "nic:1/0");
}

TEST(Fabric, FindsEveryDeviceByItsName) {
  const Fabric fabric = TwoNodes();
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    EXPECT_EQ(fabric.Find(fabric.name(DeviceId(i))), std::vector{DeviceId(i)});
  }
}

TEST(Fabric, FindsNothingUnderMalformedNames) {
  const Fabric fabric = TwoNodes();
  for (const char* name : {"", "gpu", "gpu:", "gpu:0", "gpu:0/", "gpu:/0", "gpu:0/9", "gpu:9/0",
                           "gpu:0/0x", "leaf", "leaf-", "leaf--1", "leaf-9", "leaf-99999999999",
                           "tier-1", "tier300-0", "nosuch-0", "0/gpu:0"}) {
    EXPECT_TRUE(fabric.Find(name).empty()) << name;
  }
}

TEST(Fabric, OrdersEndpointsByNodeThenIndex) {
  FabricBuilder builder;
  builder.AddDevice({.kind = DeviceKind::kGpu, .node = 1, .local = 1});
  builder.AddDevice({.kind = DeviceKind::kGpu, .node = 0, .local = 0});
  builder.AddDevice({.kind = DeviceKind::kGpu, .node = 1, .local = 0});
  builder.AddDevice({.kind = DeviceKind::kGpu, .node = 0, .local = 1});
  const Fabric fabric = std::move(builder).Build();
  EXPECT_EQ(fabric.endpoints_per_node(), 2U);
  EXPECT_EQ(fabric.node_count(), 2U);
  std::vector<std::string> names;
  for (DeviceId id : fabric.endpoints()) names.push_back(fabric.name(id));
  EXPECT_EQ(names, (std::vector<std::string>{"gpu:0/0", "gpu:0/1", "gpu:1/0", "gpu:1/1"}));
}

TEST(Fabric, CountsNoEndpointsPerNodeWhereNodesDiffer) {
  FabricBuilder builder;
  builder.AddDevice({.kind = DeviceKind::kGpu, .node = 0, .local = 0});
  builder.AddDevice({.kind = DeviceKind::kGpu, .node = 0, .local = 1});
  builder.AddDevice({.kind = DeviceKind::kGpu, .node = 1, .local = 0});
  EXPECT_EQ(std::move(builder).Build().endpoints_per_node(), 0U);
}

TEST(Fabric, NumbersTrunksAfterLinks) {
  FabricBuilder builder;
  const DeviceId a = builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1});
  const DeviceId b = builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 2});
  std::vector<LinkId> up;
  for (int i = 0; i < 3; ++i) {
    up.push_back(builder.AddCable(a, b, Rate::GigabitsPerSecond(1), Time(), LinkKind::kNetwork));
  }
  const std::uint32_t trunk = builder.AddTrunk(up);
  const Fabric fabric = std::move(builder).Build();
  EXPECT_EQ(fabric.resource_count(), 7U);
  EXPECT_EQ(fabric.trunk_resource(trunk), ResourceId(6));
  EXPECT_EQ(fabric.link(up[1]).trunk, trunk);
  EXPECT_EQ(fabric.link(fabric.reverse(up[1])).trunk, Link::kNoTrunk);
}

TEST(Placement, PackedPutsRankIOnEndpointI) {
  const Fabric fabric = TwoNodes();
  const auto placement = PackedPlacement(fabric, 2);
  ASSERT_TRUE(placement.has_value());
  EXPECT_EQ(fabric.name(placement->endpoint(RankId(0))), "gpu:0/0");
  EXPECT_EQ(fabric.name(placement->endpoint(RankId(1))), "gpu:1/0");
}

TEST(Placement, RefusesMoreRanksThanEndpoints) {
  const auto placement = PackedPlacement(TwoNodes(), 3);
  ASSERT_FALSE(placement.has_value());
  EXPECT_EQ(placement.error().front().code, "TL1420");
  EXPECT_FALSE(RandomPlacement(TwoNodes(), 3, 1).has_value());
}

TEST(Placement, RandomIsAPermutationThatItsSeedAloneDecides) {
  FabricBuilder builder;
  for (std::uint32_t node = 0; node < 100; ++node) {
    builder.AddDevice({.kind = DeviceKind::kHost, .node = node});
  }
  const Fabric fabric = std::move(builder).Build();
  const auto endpoints = [&](std::uint64_t seed) {
    const auto placement = RandomPlacement(fabric, 100, seed);
    std::vector<DeviceId> of_rank;
    for (std::size_t r = 0; r < 100; ++r) of_rank.push_back(placement->endpoint(RankId(r)));
    return of_rank;
  };
  auto first = endpoints(1);
  EXPECT_EQ(first, endpoints(1));
  EXPECT_NE(first, endpoints(2));
  std::ranges::sort(first);
  EXPECT_TRUE(std::ranges::equal(first, fabric.endpoints()));
}

TEST(Fabric, GivesDevicesTheNamesOfTheirFile) {
  FabricBuilder builder;
  const DeviceId host = builder.AddDevice({.kind = DeviceKind::kHost, .node = 0});
  const DeviceId leaf = builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1, .local = 0});
  builder.AddCable(host, leaf, Rate::BitsPerSecond(1'000), Time(), LinkKind::kNetwork);
  builder.SetName(leaf, "ibsw01");
  const Fabric fabric = std::move(builder).Build();
  EXPECT_EQ(fabric.name(leaf), "ibsw01");
  EXPECT_EQ(fabric.name(host), "host-0");
  EXPECT_EQ(fabric.Find("ibsw01"), std::vector{leaf});
  EXPECT_TRUE(fabric.Find("leaf-0").empty());

  FabricBuilder copy;
  copy.CopyDevices(fabric);
  EXPECT_EQ(std::move(copy).Build().name(leaf), "ibsw01");
}

}  // namespace
}  // namespace trunkline
