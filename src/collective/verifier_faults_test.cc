#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "collective/execution.h"
#include "collective/program_schedule.h"
#include "collective/test_support.h"
#include "trunkline/collective/verifier.h"

// That the verifier fails what is wrong.
namespace trunkline {
namespace {

// A schedule written out op by op, one channel a program list.
class WrittenSchedule : public Schedule {
 public:
  using Programs = std::vector<std::vector<std::vector<Op>>>;  // by participant, by channel

  // As `original`, whose programs can then be changed.
  explicit WrittenSchedule(const Schedule& original) : original_(original) {
    for (Participant p = 0; p < original.participants(); ++p) {
      auto& of_participant = programs.emplace_back();
      for (std::uint32_t channel = 0; channel < original.channels(); ++channel) {
        of_participant.push_back(Program(original, p, channel));
      }
    }
  }

  [[nodiscard]] Primitive primitive() const override { return original_.primitive(); }
  [[nodiscard]] std::string algorithm() const override { return original_.algorithm(); }
  [[nodiscard]] std::uint32_t ranks() const override { return original_.ranks(); }
  [[nodiscard]] std::uint32_t participants() const override { return original_.participants(); }
  [[nodiscard]] std::uint32_t channels() const override { return original_.channels(); }
  [[nodiscard]] ChannelShape channel_shape(std::uint32_t channel) const override {
    return original_.channel_shape(channel);
  }
  [[nodiscard]] std::int64_t input_bytes(std::uint32_t rank) const override {
    return original_.input_bytes(rank);
  }
  [[nodiscard]] std::int64_t output_bytes(std::uint32_t rank) const override {
    return original_.output_bytes(rank);
  }
  [[nodiscard]] std::int64_t scratch_bytes(Participant p) const override {
    return original_.scratch_bytes(p);
  }
  [[nodiscard]] std::uint64_t op_count(Participant p, std::uint32_t channel) const override {
    return programs[p][channel].size();
  }
  void ops(Participant p, std::uint32_t channel, std::uint64_t first,
           std::span<Op> out) const override {
    std::copy_n(programs[p][channel].begin() + static_cast<std::ptrdiff_t>(first), out.size(),
                out.begin());
  }

  Programs programs;

 private:
  const Schedule& original_;
};

// The code with which the ring AllReduce of three ranks fails after `change`; "" if it passes.
std::string CodeAfter(const std::function<void(WrittenSchedule::Programs&)>& change,
                      std::uint32_t slots = 0) {
  CollectiveSpec spec = AllReduceOf(6);
  spec.slots = slots;
  const GroupLayout layout = GroupLayout::Flat(3);
  const auto ring = MustMake("ring", spec, layout);
  WrittenSchedule schedule(*ring);
  change(schedule.programs);
  const auto traffic = Verify(schedule, spec, layout);
  return traffic ? "" : traffic.error().front().code;
}

TEST(Verifier, PassesTheUnchangedSchedule) {
  EXPECT_EQ(CodeAfter([](auto&) {}), "");
}

TEST(Verifier, NamesWhoWaitsForWhomInADeadlock) {
  const CollectiveSpec spec = AllReduceOf(6);
  const GroupLayout layout = GroupLayout::Flat(3);
  const auto ring = MustMake("ring", spec, layout);
  WrittenSchedule schedule(*ring);
  for (auto& program : schedule.programs) {
    std::swap(program[0][0], program[0][1]);  // all wait before they send
  }
  const auto traffic = Verify(schedule, spec, layout);
  ASSERT_FALSE(traffic.has_value());
  ASSERT_EQ(traffic.error().size(), 3U);
  EXPECT_EQ(traffic.error()[1].code, "TL1510");
  EXPECT_EQ(traffic.error()[1].message,
            "deadlock: op 0 of participant 1, channel 0 waits for a signal from participant 0");
}

TEST(Verifier, FindsADeadlockOfFullSlots) {
  // Each rank puts its first chunk twice before it waits: two slots suffice, one does not.
  const auto twice = [](WrittenSchedule::Programs& programs) {
    for (auto& program : programs) {
      const Op put = program[0][0];
      program[0].insert(program[0].begin(), Signal(put.peer));
      program[0].insert(program[0].begin() + 2, Wait(program[0][2].peer));
    }
  };
  EXPECT_EQ(CodeAfter(twice, 2), "");
  EXPECT_EQ(CodeAfter(twice, 1), "TL1510");
}

TEST(Verifier, RefusesSpansOutsideTheirBuffers) {
  EXPECT_EQ(CodeAfter([](auto& programs) { programs[1][0][0].target.offset = 5; }), "TL1511");
  EXPECT_EQ(CodeAfter([](auto& programs) { programs[1][0][0].source.offset = -1; }), "TL1511");
  EXPECT_EQ(CodeAfter([](auto& programs) {
              programs[1][0][0].source.size = programs[1][0][0].target.size = INT64_MAX;
            }),
            "TL1511");
  EXPECT_EQ(CodeAfter([](auto& programs) { programs[1][0][0].source.size = 1; }), "TL1511");
}

TEST(Verifier, FindsPutsThatNothingWaitsFor) {
  EXPECT_EQ(CodeAfter([](auto& programs) { programs[2][0].push_back(Signal(0)); }), "TL1512");
}

TEST(Verifier, FindsAWriteToASourceThatMayStillTravel) {
  // Rank 0 clobbers the sum that it has just sent on.
  EXPECT_EQ(CodeAfter([](auto& programs) {
              auto& program = programs[0][0];
              const BufferSpan sent = program[3].source;
              program.insert(program.begin() + 4, Copy(In(0, sent.size), sent));
            }),
            "TL1513");
}

TEST(Verifier, FindsAReadOfDataThatMayNotHaveArrived) {
  EXPECT_EQ(CodeAfter([](auto& programs) { std::swap(programs[1][0][1], programs[1][0][2]); }),
            "TL1513");
}

TEST(Verifier, FindsWrongResults) {
  EXPECT_EQ(CodeAfter([](auto& programs) { programs[1][0][2].source = In(0, 2); }), "TL1514");
}

TEST(Verifier, FindsReadsOfWhatNothingWrote) {
  EXPECT_EQ(CodeAfter([](auto& programs) { programs[1][0][0].source.buffer = Buffer::kOutput; }),
            "TL1516");
}

TEST(Verifier, RefusesOpsThatNameNoOne) {
  EXPECT_EQ(CodeAfter([](auto& programs) { programs[1][0][0].peer = 3; }), "TL1515");
  EXPECT_EQ(CodeAfter([](auto& programs) { programs[1][0][0].kind = OpKind::kMulticastStore; }),
            "TL1515");
  EXPECT_EQ(CodeAfter([](auto& programs) { programs[1][0][2].target = In(0, 2); }), "TL1515");
}

TEST(Verifier, FindsABarrierThatLetsARankThroughEarly) {
  const CollectiveSpec spec{.primitive = Primitive::kBarrier};
  const GroupLayout layout = GroupLayout::Flat(4);
  const auto doubling = MustMake("recursive_doubling", spec, layout);
  WrittenSchedule schedule(*doubling);
  for (auto& program : schedule.programs) {
    program[0].resize(3);  // the first of two exchanges
  }
  const auto traffic = Verify(schedule, spec, layout);
  ASSERT_FALSE(traffic.has_value());
  EXPECT_EQ(traffic.error().front().code, "TL1514");
}

// Of every algorithm, no op can be left out: the verifier notices each, and none is idle.
TEST(EveryAlgorithm, NeedsEachOfItsOps) {
  const GroupLayout layout = GroupLayout::Grid(3, 2);
  for (const Algorithm& algorithm : Algorithms()) {
    for (const Primitive primitive :
         {Primitive::kAllReduce, Primitive::kReduceScatter, Primitive::kAllGather,
          Primitive::kAllToAll, Primitive::kBroadcast, Primitive::kReduce, Primitive::kGather,
          Primitive::kScatter, Primitive::kSendRecv}) {
      if (!algorithm.supports(primitive)) {
        continue;
      }
      const CollectiveSpec spec{
          .primitive = primitive, .bytes = Bytes(24), .root = 1, .slice = Bytes(6)};
      const auto schedule = MustMake(algorithm.name, spec, layout);
      for (Participant p = 0; p < schedule->participants(); ++p) {
        for (std::uint32_t channel = 0; channel < schedule->channels(); ++channel) {
          for (std::uint64_t i = 0; i < schedule->op_count(p, channel); ++i) {
            WrittenSchedule changed(*schedule);
            auto& program = changed.programs[p][channel];
            const bool idle = program[i].kind == OpKind::kCopy && program[i].source.size == 0;
            program.erase(program.begin() + static_cast<std::ptrdiff_t>(i));
            EXPECT_EQ(Verify(changed, spec, layout).has_value(), idle)
                << algorithm.name << " " << ToString(primitive) << " without op " << i << " of "
                << p << ", channel " << channel;
          }
        }
      }
    }
  }
}

// The data really goes through both: the outputs of one are the inputs of the other.
TEST(ReduceScatterThenAllGather, IsAnAllReduce) {
  const GroupLayout layout = GroupLayout::Grid(3, 4);
  const auto input = [](std::uint32_t rank, std::int64_t position) {
    return std::uint64_t{1} << (rank * 4 + static_cast<std::uint64_t>(position) % 4);
  };
  const auto run = [&](const char* algorithm, Primitive primitive, const auto& from) {
    const CollectiveSpec spec{.primitive = primitive, .bytes = Bytes(53)};
    const auto schedule = MustMake(algorithm, spec, layout);
    Execution execution(*schedule, 1, Order::kLate, from);
    EXPECT_TRUE(execution.Run({}).empty());
    std::vector<std::vector<std::uint64_t>> outputs;
    for (std::uint32_t rank = 0; rank < layout.size(); ++rank) {
      outputs.emplace_back(execution.output(rank).begin(), execution.output(rank).end());
    }
    return outputs;
  };
  for (const char* algorithm : {"ring", "hierarchical"}) {
    const auto scattered = run(algorithm, Primitive::kReduceScatter, input);
    const auto gathered =
        run(algorithm, Primitive::kAllGather, [&](std::uint32_t rank, std::int64_t position) {
          return scattered[rank][static_cast<std::size_t>(position)];
        });
    EXPECT_EQ(gathered, run(algorithm, Primitive::kAllReduce, input));
    // Each of 12 ranks set one bit of every element, a different one.
    EXPECT_EQ(std::popcount(gathered[5][7]), 12);
  }
}

}  // namespace
}  // namespace trunkline
