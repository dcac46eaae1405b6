#include <gtest/gtest.h>

#include <map>
#include <utility>
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

// As many nodes as a node has ranks, or an even number of nodes with an even number of ranks.
TEST(RingOrder, TheClosingHopKeepsItsRail) {
  for (const auto& [nodes, per_node] : {std::pair(8U, 4U), std::pair(3U, 3U), std::pair(2U, 8U),
                                        std::pair(6U, 4U), std::pair(10U, 6U), std::pair(4U, 2U)}) {
    const CollectiveSpec spec{
        .primitive = Primitive::kAllReduce, .bytes = Bytes(48'000), .channels = per_node};
    const GroupLayout layout = GroupLayout::Grid(nodes, per_node);
    const auto schedule = MustMake("ring", spec, layout);
    std::vector<int> channels_out(layout.size(), 0);
    std::vector<int> channels_in(layout.size(), 0);
    for (const auto& pair : schedule->pairs()) {
      if (layout.node[pair.source] == layout.node[pair.destination]) continue;
      EXPECT_EQ(layout.local[pair.source], layout.local[pair.destination]) << nodes;
      ++channels_out[pair.source];
      ++channels_in[pair.destination];
    }
    EXPECT_EQ(channels_out, std::vector<int>(layout.size(), 1)) << nodes;
    EXPECT_EQ(channels_in, std::vector<int>(layout.size(), 1)) << nodes;
  }
}

// Nodes of eight GPUs joined pair by pair: 4 strides share no link, rails are kept as ever.
TEST(RingOrder, SpreadsOverTheLinksOfAMesh) {
  const CollectiveSpec spec{
      .primitive = Primitive::kAllReduce, .bytes = Bytes(64'000), .channels = 8};
  GroupLayout layout = GroupLayout::Grid(8, 8);
  layout.meshed = true;
  const auto schedule = MustMake("ring", spec, layout);
  std::map<std::pair<Participant, Participant>, int> channels_on;
  std::vector<int> channels_out(layout.size(), 0);
  for (const auto& pair : schedule->pairs()) {
    if (layout.node[pair.source] == layout.node[pair.destination]) {
      ++channels_on[{pair.source, pair.destination}];
      continue;
    }
    ++channels_out[pair.source];
    EXPECT_EQ(layout.local[pair.source], layout.local[pair.destination]);
  }
  EXPECT_EQ(channels_out, std::vector<int>(layout.size(), 1));
  for (const auto& [link, channels] : channels_on) EXPECT_LE(channels, 2);
  EXPECT_EQ(channels_on.size(), 8U * 8 * 4);
}

}  // namespace
}  // namespace trunkline
