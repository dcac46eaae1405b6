#include <gtest/gtest.h>

#include <vector>

#include "collective/program_schedule.h"
#include "trunkline/collective/algorithm.h"

namespace trunkline {
namespace {

std::vector<Op> Program(const Schedule& schedule, Participant participant, std::uint32_t channel) {
  std::vector<Op> program(schedule.op_count(participant, channel));
  schedule.ops(participant, channel, 0, program);
  return program;
}

BufferSpan In(std::int64_t offset, std::int64_t size) { return {Buffer::kInput, offset, size}; }
BufferSpan Out(std::int64_t offset, std::int64_t size) { return {Buffer::kOutput, offset, size}; }

// Chunks of 10 elements over 4 ranks: 3, 3, 2, 2.
TEST(RingAllReduce, FourRanksRunTheseOps) {
  const CollectiveSpec spec{
      .primitive = Primitive::kAllReduce, .bytes = Bytes(40), .element_bytes = 4};
  const auto schedule = MakeSchedule("ring", spec, GroupLayout::Flat(4));
  ASSERT_TRUE(schedule.has_value());
  const BufferSpan c0 = Out(0, 12);
  const BufferSpan c1 = Out(12, 12);
  const BufferSpan c2 = Out(24, 8);
  const BufferSpan c3 = Out(32, 8);
  const std::vector<Op> expected = {
      // Rank 1 starts chunk 0, adds to chunks 3 and 2, and completes its own chunk 1 …
      Put(2, In(0, 12), c0),
      Wait(0),
      Reduce(In(32, 8), c3),
      Put(2, c3, c3),
      Wait(0),
      Reduce(In(24, 8), c2),
      Put(2, c2, c2),
      Wait(0),
      Reduce(In(12, 12), c1),
      // … then passes on chunks 1, 0 and 3 and keeps chunk 2.
      Put(2, c1, c1),
      Wait(0),
      Put(2, c0, c0),
      Wait(0),
      Put(2, c3, c3),
      Wait(0),
  };
  EXPECT_EQ(Program(**schedule, 1, 0), expected);
}

TEST(RingAllReduce, SendsTwoNMinusOneOverNOfTheBuffer) {
  const CollectiveSpec spec{.primitive = Primitive::kAllReduce, .bytes = Bytes(8 << 20)};
  const auto schedule = MakeSchedule("ring", spec, GroupLayout::Flat(16));
  ASSERT_TRUE(schedule.has_value());
  std::int64_t sent = 0;
  for (const Op& op : Program(**schedule, 7, 0)) {
    sent += op.kind == OpKind::kPut ? op.source.size : 0;
  }
  EXPECT_EQ(sent, 2 * 15 * (8 << 20) / 16);
}

// Three nodes of four: no hop between nodes but the closing one changes rail, and each rank sends
// one channel out of its node.
TEST(RingOrder, ChannelsLeaveAndEnterNodesOnOneRail) {
  const CollectiveSpec spec{
      .primitive = Primitive::kAllReduce, .bytes = Bytes(4800), .channels = 4};
  const GroupLayout layout = GroupLayout::Grid(3, 4);
  const auto schedule = MakeSchedule("ring", spec, layout);
  ASSERT_TRUE(schedule.has_value());
  std::vector<int> channels_out(layout.size(), 0);
  int rail_changes = 0;
  for (const auto& pair : (*schedule)->pairs()) {
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
  const auto schedule = MakeSchedule("ring", spec, layout);
  ASSERT_TRUE(schedule.has_value());
  for (const auto& pair : (*schedule)->pairs()) {
    if (layout.node[pair.source] != layout.node[pair.destination]) {
      EXPECT_EQ(layout.local[pair.source], layout.local[pair.destination]);
    }
  }
}

}  // namespace
}  // namespace trunkline
