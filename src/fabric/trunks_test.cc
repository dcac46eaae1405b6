#include "fabric/trunks.h"

#include <gtest/gtest.h>

namespace trunkline {
namespace {

// Three leaves under two spines; the third has `cables` of its two cables up. What has several is
// bundled as readers of files do.
Fabric ThreeLeaves(std::uint32_t cables) {
  FabricBuilder builder;
  const DeviceId spines[] = {builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 2}),
                             builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 2})};
  for (std::uint32_t leaf = 0; leaf < 3; ++leaf) {
    const DeviceId self = builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1});
    std::vector<LinkId> up;
    std::vector<LinkId> down;
    for (std::uint32_t c = 0; c < (leaf == 2 ? cables : 2); ++c) {
      up.push_back(builder.AddCable(self, spines[c], Rate::GigabitsPerSecond(100), Time(),
                                    LinkKind::kNetwork));
      down.push_back(LinkId(Index(up.back()) ^ 1U));
    }
    if (up.size() < 2) continue;
    builder.AddTrunk(up);
    builder.AddTrunk(down);
  }
  return std::move(builder).Build();
}

TEST(Trunks, AreWholeWhereAllLeavesHaveAllCables) {
  EXPECT_TRUE(TrunksAreWhole(ThreeLeaves(2)));
  EXPECT_TRUE(TrunksAreWhole(ThreeLeaves(0)));
}

TEST(Trunks, AreEvenWhereAllTheirCablesAreEquallyFast) {
  EXPECT_TRUE(TrunksAreEven(ThreeLeaves(2)));
  FabricBuilder builder;
  const DeviceId leaf = builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1});
  const DeviceId spine = builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 2});
  std::vector<LinkId> up;
  for (const std::int64_t gbps : {100, 50}) {
    up.push_back(
        builder.AddCable(leaf, spine, Rate::GigabitsPerSecond(gbps), Time(), LinkKind::kNetwork));
  }
  builder.AddTrunk(up);
  EXPECT_FALSE(TrunksAreEven(std::move(builder).Build()));
}

TEST(Trunks, ALeafWithOneCableUpMakesThoseOfOthersParts) {
  EXPECT_FALSE(TrunksAreWhole(ThreeLeaves(1)));
}

}  // namespace
}  // namespace trunkline
