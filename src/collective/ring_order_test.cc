#include <gtest/gtest.h>

#include <vector>

#include "collective/test_support.h"

namespace trunkline {
namespace {

// Three nodes of four: no hop between nodes but the closing one changes rail, and each rank sends
// one channel out of its node.
TEST(RingOrder, ChannelsLeaveAndEnterNodesOnOneRail) {
  const CollectiveSpec spec{
      .primitive = Primitive::kAllReduce, .bytes = Bytes(4800), .channels = 4};
  const GroupLayout layout = GroupLayout::Grid(3, 4);
  const auto schedule = MustMake("ring", spec, layout);
  std::vector<int> channels_out(layout.size(), 0);
  int rail_changes = 0;
  for (const auto& pair : schedule->pairs()) {
    if (layout.node[pair.source] != layout.node[pair.destination]) {
      ++channels_out[pair.source];
      const bool closing = layout.node[pair.destination] == 0;
      const bool same_rail = layout.local[pair.source] == layout.local[pair.destination];
      EXPECT_TRUE(same_rail || closing);
      rail_changes += same_rail ? 0 : 1;
    }
  }
  EXPECT_EQ(channels_out, std::vector<int>(layout.size(), 1));
  EXPECT_EQ(rail_changes, 4);
}

TEST(RingOrder, TheClosingHopKeepsItsRailWhereNodesAreAMultipleOfTheirRanks) {
  const CollectiveSpec spec{
      .primitive = Primitive::kAllReduce, .bytes = Bytes(4800), .channels = 4};
  const GroupLayout layout = GroupLayout::Grid(8, 4);
  const auto schedule = MustMake("ring", spec, layout);
  for (const auto& pair : schedule->pairs()) {
    if (layout.node[pair.source] != layout.node[pair.destination]) {
      EXPECT_EQ(layout.local[pair.source], layout.local[pair.destination]);
    }
  }
}

}  // namespace
}  // namespace trunkline
