#include "trunkline/fabric/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "fabric/builders/testing.h"
#include "fabric/check/testing.h"
#include "trunkline/base/random.h"
#include "trunkline/fabric/import.h"

namespace trunkline {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Kind = FabricFinding::Kind;

struct Change {
  std::size_t drop = 0;  // cables between switches
  std::size_t slow = 0;
  bool shuffle = false;  // switches and cables in another order, under other names
};

// The fabric with some cables between switches absent or at half their rate, all chosen by seed.
Fabric Changed(const Fabric& fabric, const Change& change, std::uint64_t seed) {
  std::vector<std::size_t> switch_cables;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < fabric.link_count(); i += 2) {
    order.push_back(i);
    const Link& link = fabric.link(LinkId(i));
    if (fabric.device(link.from).tier > 0 && fabric.device(link.to).tier > 0) {
      switch_cables.push_back(i);
    }
  }
  const auto key = [&](std::size_t i) { return Draw(seed, i, 1); };
  std::ranges::sort(switch_cables, {}, key);
  if (change.shuffle) std::ranges::sort(order, {}, key);
  const auto chosen = [&](std::size_t i, std::size_t from, std::size_t count) {
    const auto begin = switch_cables.begin() + static_cast<std::ptrdiff_t>(from);
    return std::find(begin, begin + static_cast<std::ptrdiff_t>(count), i) !=
           begin + static_cast<std::ptrdiff_t>(count);
  };

  std::vector<std::size_t> devices(fabric.device_count());
  std::iota(devices.begin(), devices.end(), 0U);
  if (change.shuffle) {
    std::ranges::stable_sort(devices, {}, [&](std::size_t i) {
      const bool of_node = fabric.device(DeviceId(i)).tier == 0;
      return std::pair(!of_node, of_node ? i : Draw(seed, i, 2));
    });
  }
  FabricBuilder builder;
  std::vector<DeviceId> moved(devices.size());
  std::map<std::uint8_t, std::uint32_t> next;
  for (std::size_t i : devices) {
    Device device = fabric.device(DeviceId(i));
    if (device.tier > 0) device.local = next[device.tier]++;
    moved[i] = builder.AddDevice(device);
  }
  for (std::size_t i : order) {
    if (chosen(i, 0, change.drop)) continue;
    const Link& link = fabric.link(LinkId(i));
    const Rate rate = chosen(i, change.drop, change.slow)
                          ? Rate::BitsPerSecond(link.rate.bits_per_second() / 2)
                          : link.rate;
    builder.AddCable(moved[Index(link.from)], moved[Index(link.to)], rate, link.latency, link.kind);
  }
  return std::move(builder).Build();
}

std::size_t CablesOfKind(const FabricCheck& check, Kind kind) {
  std::size_t cables = 0;
  for (const FabricFinding& finding : check.findings) {
    if (finding.kind != kind) continue;
    cables += kind == Kind::kMissingCables ? finding.expected - finding.found : 1;
  }
  return cables;
}

std::string All(const FabricCheck& check) {
  std::string text;
  for (const FabricFinding& finding : check.findings) text += Describe(finding) + "\n";
  return text;
}

class EveryKind : public testing::TestWithParam<const char*> {};

TEST_P(EveryKind, WholeHasNoFindings) {
  const Fabric fabric = FabricOf(GetParam());
  EXPECT_THAT(CheckFabric(fabric, {}, nullptr).findings, IsEmpty());
  EXPECT_THAT(CheckFabric(fabric, {}, &fabric).findings, IsEmpty());
}

TEST_P(EveryKind, IsMatchedWhateverTheOrderAndNames) {
  const Fabric fabric = FabricOf(GetParam());
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const FabricCheck check = CheckFabric(Changed(fabric, {.shuffle = true}, seed), {}, &fabric);
    EXPECT_THAT(check.findings, IsEmpty()) << All(check);
  }
}

TEST_P(EveryKind, ExactlyWhatWasTakenAwayIsMissing) {
  const Fabric fabric = FabricOf(GetParam());
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Fabric changed = Changed(fabric, {.drop = 3, .slow = 2, .shuffle = true}, seed);
    const FabricCheck check = CheckFabric(changed, {}, &fabric);
    EXPECT_EQ(CablesOfKind(check, Kind::kMissingCables), 3U) << All(check);
    EXPECT_EQ(CablesOfKind(check, Kind::kSlowCable), 2U) << All(check);
    EXPECT_EQ(check.mended.link_count(), fabric.link_count());
  }
}

INSTANTIATE_TEST_SUITE_P(Check, EveryKind,
                         testing::Values("clos:node=host,nodes=64,radix=16",
                                         "clos:nodes=256,radix=16,tiers=3",
                                         "rail-optimized:node=dgx-h100,nodes=64,radix=64",
                                         "rail-optimized:node=dgx-h100,nodes=96,radix=[64,32]",
                                         "fat-tree:k=8"));

TEST(CheckFabric, RegularityNamesWhatMostHaveAndOneLacks) {
  const Fabric fabric = FabricOf("clos:node=host,nodes=64,radix=16");
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const FabricCheck check = CheckFabric(Changed(fabric, {.drop = 2}, seed), {}, nullptr);
    EXPECT_EQ(CablesOfKind(check, Kind::kMissingCables), 2U) << All(check);
    EXPECT_EQ(check.mended.link_count(), fabric.link_count());
    ASSERT_FALSE(check.switches.empty());
    EXPECT_LT(check.switches[0].cables_up, 8U);
    EXPECT_EQ(check.switches[0].cables_up_expected, 8U);
    EXPECT_DOUBLE_EQ(check.switches[0].oversubscription_expected, 1);
    EXPECT_DOUBLE_EQ(check.switches[0].oversubscription, 8.0 / check.switches[0].cables_up);
  }
}

// Two pods of two leaves and two spines each; the spines of a pod reach two cores of their own.
constexpr const char* kPods = "fat-tree:k=4";

TEST(CheckFabric, ACableToTheWrongSwitchIsMiscabledNotMissing) {
  const Fabric fabric = FabricOf(kPods);
  FabricBuilder builder;
  builder.CopyDevices(fabric);
  // Leaf 0's cable to spine 0 goes to spine 2, of the next pod.
  const DeviceId leaf = fabric.Find("leaf-0")[0];
  const DeviceId right = fabric.Find("spine-0")[0];
  const DeviceId wrong = fabric.Find("spine-2")[0];
  for (std::size_t i = 0; i < fabric.link_count(); i += 2) {
    const Link& link = fabric.link(LinkId(i));
    const bool moved = link.from == leaf && link.to == right;
    builder.AddCable(link.from, moved ? wrong : link.to, link.rate, link.latency, link.kind);
  }
  const FabricCheck check = CheckFabric(std::move(builder).Build(), {}, &fabric);
  ASSERT_EQ(check.findings.size(), 1U) << All(check);
  EXPECT_EQ(Describe(check.findings[0]), "the cable of leaf-0 leads to spine-2, not spine-0");
}

TEST(CheckFabric, AnAbsentSpineIsOneFindingAndItsCablesAreNone) {
  const Fabric expected = FabricOf("clos:node=host,nodes=64,radix=16");
  FabricBuilder builder;
  const auto last = static_cast<DeviceId>(expected.device_count() - 1);
  for (std::size_t i = 0; i + 1 < expected.device_count(); ++i) {
    builder.AddDevice(expected.device(DeviceId(i)));
  }
  for (std::size_t i = 0; i < expected.link_count(); i += 2) {
    const Link& link = expected.link(LinkId(i));
    if (link.from == last || link.to == last) continue;
    builder.AddCable(link.from, link.to, link.rate, link.latency, link.kind);
  }
  const FabricCheck check = CheckFabric(std::move(builder).Build(), {}, &expected);
  ASSERT_EQ(check.findings.size(), 1U) << All(check);
  EXPECT_EQ(check.findings[0].kind, Kind::kMissingDevice);
  EXPECT_EQ(check.switches.size(), 8U);  // every leaf has one uplink less
  EXPECT_EQ(check.mended.link_count(), expected.link_count());
}

TEST(CheckFabric, AServerThatIsAbsentOrTooManyIsNamed) {
  const Fabric more = FabricOf("clos:node=host,nodes=64,radix=16");
  const Fabric fewer = FabricOf("clos:node=host,nodes=63,radix=16");
  const FabricCheck absent = CheckFabric(fewer, {}, &more);
  ASSERT_EQ(absent.findings.size(), 1U) << All(absent);
  EXPECT_EQ(absent.findings[0].kind, Kind::kMissingDevice);
  const FabricCheck extra = CheckFabric(more, {}, &fewer);
  ASSERT_EQ(extra.findings.size(), 1U) << All(extra);
  EXPECT_EQ(extra.findings[0].kind, Kind::kExtraDevice);
}

// A rail-optimised fabric of 16 servers, without the cables of some NICs.
Fabric WithoutNics(const std::vector<const char*>& nics, bool own_names) {
  const Fabric fabric = FabricOf("rail-optimized:node=dgx-h100,nodes=16,radix=32");
  std::vector<DeviceId> lost;
  for (const char* nic : nics) lost.push_back(fabric.Find(nic)[0]);
  FabricBuilder builder;
  builder.CopyDevices(fabric);
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (!own_names || device.kind != DeviceKind::kNic) continue;
    const char row = static_cast<char>('a' + device.node);
    builder.SetName(DeviceId(i),
                    std::string("dgx-") + row + "/mlx5_" + std::to_string(device.local));
  }
  for (std::size_t i = 0; i < fabric.link_count(); i += 2) {
    const Link& link = fabric.link(LinkId(i));
    if (link.kind == LinkKind::kNetwork && std::ranges::find(lost, link.from) != lost.end())
      continue;
    builder.AddCable(link.from, link.to, link.rate, link.latency, link.kind);
  }
  return std::move(builder).Build();
}

TEST(CheckFabric, AServerThatLacksANicIsNamedBesideLikeOnes) {
  const Fabric expected = FabricOf("rail-optimized:node=dgx-h100,nodes=16,radix=32");
  // By its own name where both fabrics use the same names, …
  EXPECT_EQ(All(CheckFabric(WithoutNics({"nic:5/3"}, false), {}, &expected)),
            "expected nic:5/3 is missing on leaf-3\n");
  // … else by that of its server and the leaf.
  EXPECT_EQ(All(CheckFabric(WithoutNics({"nic:5/3"}, true), {}, &expected)),
            "dgx-f misses 1 of 1 cables to leaf-3\n");
}

// Eight hosts on two leaves below one spine. Where four of them have changed places, half of the
// host cables join other names, and names are not to be trusted.
TEST(CheckFabric, CountsTheCablesForWhichNamesAreNotTrusted) {
  const Fabric expected = FabricOf("fat-tree:children=[4,2],parents=[1,1]");
  Fabric found = Exchanged(expected, "host-0", "host-4");
  found = Exchanged(found, "host-1", "host-5");
  const FabricCheck check = CheckFabric(found, {}, &expected);
  EXPECT_THAT(check.expectation, HasSubstr("since of 8 cables expected from servers to "
                                           "leaf switches only 4 join the same names here"));
  EXPECT_THAT(check.findings, IsEmpty());
  EXPECT_THAT(CheckFabric(expected, {}, &expected).expectation, HasSubstr("by their names"));
}

TEST(CheckFabric, ASwitchIsNotAHostOfTheSameName) {
  // `odd` has no ends in either, so its tier says nothing.
  const auto with = [](DeviceKind kind) {
    FabricBuilder builder;
    const auto add = [&](DeviceKind of, std::uint8_t tier, std::uint32_t number,
                         const std::string& name) {
      Device device{.kind = of, .tier = tier, .local = number};
      if (of == DeviceKind::kHost) device.node = number;
      const DeviceId id = builder.AddDevice(device);
      builder.SetName(id, name);
      return id;
    };
    const DeviceId leaf = add(DeviceKind::kSwitch, 1, 0, "leaf");
    const DeviceId apart = add(DeviceKind::kSwitch, 0, 1, "apart");
    const DeviceId odd = add(kind, 0, 2, "odd");
    for (std::uint32_t i = 0; i < 2; ++i) {
      builder.AddCable(add(DeviceKind::kHost, 0, 3 + i, "host-" + std::to_string(i)), leaf,
                       Rate::GigabitsPerSecond(100), Time(), LinkKind::kNetwork);
    }
    builder.AddCable(kind == DeviceKind::kHost ? leaf : apart, odd, Rate::GigabitsPerSecond(100),
                     Time(), LinkKind::kNetwork);
    return std::move(builder).Build();
  };
  const Fabric expected = with(DeviceKind::kSwitch);
  EXPECT_FALSE(CheckFabric(with(DeviceKind::kHost), {}, &expected).findings.empty());
}

TEST(CheckFabric, RegularityNamesTheServerThatLacksANic) {
  EXPECT_EQ(All(CheckFabric(WithoutNics({"nic:5/3", "nic:9/0"}, true), {}, nullptr)),
            "dgx-f misses 1 of 1 cables to leaf-3\ndgx-j misses 1 of 1 cables to leaf-0\n");
}

TEST(CheckFabric, AServerWithHalfOfTheUsualNicsIsOfAnotherKind) {
  EXPECT_EQ(All(CheckFabric(WithoutNics({"nic:5/0", "nic:5/1", "nic:5/2", "nic:5/3"}, true), {},
                            nullptr)),
            "");
}

// A rail-optimised fabric of 16 servers where the NICs `a` and `b` of one server are exchanged.
Fabric WithSwappedNics(const char* a, const char* b) {
  return Exchanged(FabricOf("rail-optimized:node=dgx-h100,nodes=16,radix=32"), a, b);
}

TEST(CheckFabric, ANicOnTheWrongRailIsFoundWithWhatItCosts) {
  const FabricCheck check = CheckFabric(WithSwappedNics("nic:3/1", "nic:3/2"), {}, nullptr);
  ASSERT_EQ(check.findings.size(), 2U) << All(check);
  EXPECT_EQ(Describe(check.findings[0]),
            "nic:3/1, of rail 1, is on leaf-2 of rail 2, not on leaf-1");
  EXPECT_TRUE(check.rail.rails);
  EXPECT_EQ(check.rail.wrong, 2U);
  EXPECT_EQ(check.rail.pairs, 8U * 16 * 15 / 2);
  EXPECT_EQ(check.rail.pairs_over_spines, 2U * 15);  // each of the two with its 15 peers
}

TEST(CheckFabric, LeavesWithNicsOfAllKindsHaveNoRails) {
  EXPECT_FALSE(
      CheckFabric(FabricOf("clos:node=dgx-h100,nodes=16,radix=32"), {}, nullptr).rail.rails);
}

// A NIC that the plan has on the leaf of another rail is where it should be.
TEST(CheckFabric, AFabricIsAsItWasHoweverItsRailsAre) {
  const Fabric odd = WithSwappedNics("nic:3/1", "nic:3/2");
  const FabricCheck check = CheckFabric(odd, {}, &odd);
  EXPECT_TRUE(check.findings.empty()) << All(check);
  EXPECT_TRUE(check.shape.empty());
  EXPECT_EQ(check.rail.wrong, 2U);
}

// Sixteen servers where 32 are expected, on leaves twice as large: 1:1 is expected of a leaf, with
// the servers that are missing, and not what is left of it.
TEST(CheckFabric, WhatIsExpectedOfALeafCountsTheServersThatAreMissing) {
  const Fabric found = FabricOf("clos:node=host,nodes=16,radix=8");
  const Fabric expected = FabricOf("clos:node=host,nodes=32,radix=16");
  const FabricCheck check = CheckFabric(found, {}, &expected);
  ASSERT_FALSE(check.switches.empty());
  for (const ShortSwitch& one : check.switches) {
    EXPECT_DOUBLE_EQ(one.oversubscription_expected, 1) << one.name;
  }
  const auto row = [&](const std::string& what) {
    const auto at = std::ranges::find(check.shape, what, &ShapeCount::what);
    return at == check.shape.end() ? std::pair<std::uint64_t, std::uint64_t>()
                                   : std::pair(at->found, at->expected);
  };
  EXPECT_EQ(row("servers"), std::pair(std::uint64_t{16}, std::uint64_t{32}));
  EXPECT_EQ(row("leaf switches").first, 4U);
}

TEST(CheckFabric, ARealPodLacksTheCablesCountedFromItsFile) {
  const std::string path =
      TRUNKLINE_SOURCE_DIR "/../shared/samples/fabrics/ndr-dgx-pod.ibnetdiscover";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
  const auto imported = ImportFabricFile(path);
  ASSERT_TRUE(imported);
  const FabricCheck check = CheckFabric(imported->built.fabric, imported->port_of_link, nullptr);
  // 31 leaves of 18 uplinks would be 558 cables, where 532 are.
  EXPECT_EQ(CablesOfKind(check, Kind::kMissingCables), 26U);
  EXPECT_EQ(check.switches_with_uplinks, 31U);
  ASSERT_EQ(check.switches.size(), 12U);
  for (const ShortSwitch& one : check.switches) {
    EXPECT_GE(one.cables_up, 14U) << one.name;
    EXPECT_LE(one.cables_up, 17U) << one.name;
    EXPECT_EQ(one.cables_up_expected, 18U) << one.name;
  }
  EXPECT_THAT(All(check),
              HasSubstr("A09-P1-IBLEAF-01-02 misses 2 of 2 cables to A10-P1-IBSPINE-04"));
}

}  // namespace
}  // namespace trunkline
