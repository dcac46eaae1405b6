#include <gtest/gtest.h>

#include <vector>

#include "collective/program_schedule.h"
#include "collective/test_support.h"

// The exact ops of the four schedules that the form was made for, worked out by hand.
namespace trunkline {
namespace {

using Ops = std::vector<Op>;

// 10 elements of 4 bytes over 4 ranks: chunks of 3, 3, 2 and 2.
TEST(Ops, ARingAllReduceOfFourRanksIsThis) {
  const CollectiveSpec spec{
      .primitive = Primitive::kAllReduce, .bytes = Bytes(40), .element_bytes = 4};
  const auto schedule = MustMake("ring", spec, GroupLayout::Flat(4));
  const BufferSpan c0 = Out(0, 12);
  const BufferSpan c1 = Out(12, 12);
  const BufferSpan c2 = Out(24, 8);
  const BufferSpan c3 = Out(32, 8);
  // Rank 1 starts chunk 0, adds to chunks 3 and 2, and completes its own chunk 1; then it passes on
  // chunks 1, 0 and 3 and keeps chunk 2.
  EXPECT_EQ(Program(*schedule, 1, 0), (Ops{Put(2, In(0, 12), c0),                            //
                                           Wait(0), Reduce(In(32, 8), c3), Put(2, c3, c3),   //
                                           Wait(0), Reduce(In(24, 8), c2), Put(2, c2, c2),   //
                                           Wait(0), Reduce(In(12, 12), c1), Put(2, c1, c1),  //
                                           Wait(0), Put(2, c0, c0),                          //
                                           Wait(0), Put(2, c3, c3),                          //
                                           Wait(0)}));
}

// 16 bytes over two trees of two slices each. First tree: 1 and 3 below 2, 2 below 0; second tree:
// 2 and 3 below 1, 1 below 0. Channels: up and down the first, up and down the second.
TEST(Ops, APipelinedDoubleTreeOfFourRanksIsThis) {
  const CollectiveSpec spec{
      .primitive = Primitive::kAllReduce, .bytes = Bytes(16), .slots = 2, .slice = Bytes(4)};
  const auto schedule = MustMake("double_binary_tree", spec, GroupLayout::Flat(4));
  ASSERT_EQ(schedule->channels(), 4U);
  EXPECT_EQ(schedule->channel_shape(0).slots, 2U);
  // The inside of the first tree: its first child's sums land in the output, the second's in
  // scratch.
  EXPECT_EQ(Program(*schedule, 2, 0), (Ops{Wait(1), Reduce(In(0, 4), Out(0, 4)),       //
                                           Wait(3), Reduce(Scratch(0, 4), Out(0, 4)),  //
                                           Put(0, Out(0, 4), Out(0, 4)),               //
                                           Wait(1), Reduce(In(4, 4), Out(4, 4)),       //
                                           Wait(3), Reduce(Scratch(4, 4), Out(4, 4)),  //
                                           Put(0, Out(4, 4), Out(4, 4))}));
  EXPECT_EQ(Program(*schedule, 2, 1),
            (Ops{Wait(0), Put(1, Out(0, 4), Out(0, 4)), Put(3, Out(0, 4), Out(0, 4)), Wait(0),
                 Put(1, Out(4, 4), Out(4, 4)), Put(3, Out(4, 4), Out(4, 4))}));
  // A leaf of the second.
  EXPECT_EQ(Program(*schedule, 3, 2),
            (Ops{Put(1, In(8, 4), Scratch(8, 4)), Put(1, In(12, 4), Scratch(12, 4))}));
  EXPECT_EQ(Program(*schedule, 3, 3), (Ops{Wait(1), Wait(1)}));
  // The root wakes its own downward channel, slice by slice.
  EXPECT_EQ(Program(*schedule, 0, 0),
            (Ops{Wait(2), Reduce(In(0, 4), Out(0, 4)), SignalOwnChannel(0, 1), Wait(2),
                 Reduce(In(4, 4), Out(4, 4)), SignalOwnChannel(0, 1)}));
  EXPECT_EQ(Program(*schedule, 0, 1),
            (Ops{Wait(0), Put(2, Out(0, 4), Out(0, 4)), Wait(0), Put(2, Out(4, 4), Out(4, 4))}));
}

TEST(Ops, AnAllToAllVOfThreeRanksIsThis) {
  const CollectiveSpec spec{.primitive = Primitive::kAllToAllV,
                            .matrix = {1, 2, 0,  //
                                       3, 0, 4,  //
                                       5, 6, 7}};
  const auto schedule = MustMake("pairwise", spec, GroupLayout::Flat(3));
  EXPECT_EQ(Program(*schedule, 1, 0), (Ops{Copy(In(3, 0), Out(2, 0)),             //
                                           Put(2, In(3, 4), Out(0, 4)), Wait(0),  //
                                           Put(0, In(0, 3), Out(1, 3)), Wait(2)}));
  EXPECT_EQ(Program(*schedule, 2, 0), (Ops{Copy(In(11, 7), Out(4, 7)),            //
                                           Put(0, In(0, 5), Out(4, 5)), Wait(1),  //
                                           Put(1, In(5, 6), Out(2, 6)), Wait(0)}));
  EXPECT_EQ(schedule->input_bytes(2), 18);
  EXPECT_EQ(schedule->output_bytes(2), 11);
}

// Participant 3 is the one aggregation vertex above three ranks.
TEST(Ops, ASharpTreeOfThreeRanksIsThis) {
  const CollectiveSpec spec{.primitive = Primitive::kAllReduce, .bytes = Bytes(4)};
  const auto schedule = MustMake("sharp", spec, GroupLayout::Flat(3));
  ASSERT_EQ(schedule->participants(), 4U);
  ASSERT_EQ(schedule->channels(), 2U);
  EXPECT_EQ(Program(*schedule, 1, 0), (Ops{Put(3, In(0, 4), Scratch(4, 4))}));
  EXPECT_EQ(Program(*schedule, 1, 1), (Ops{Wait(3)}));
  EXPECT_EQ(Program(*schedule, 3, 0), (Ops{Wait(0),                                        //
                                           Wait(1), Reduce(Scratch(4, 4), Scratch(0, 4)),  //
                                           Wait(2), Reduce(Scratch(8, 4), Scratch(0, 4)),  //
                                           SignalOwnChannel(3, 1)}));
  EXPECT_EQ(Program(*schedule, 3, 1),
            (Ops{Wait(3), Put(0, Scratch(0, 4), Out(0, 4)), Put(1, Scratch(0, 4), Out(0, 4)),
                 Put(2, Scratch(0, 4), Out(0, 4))}));
}

}  // namespace
}  // namespace trunkline
