#include "engine/flow/roles.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>
#include <vector>

#include "trunkline/collective/algorithm.h"

namespace trunkline {
namespace {

// A program with its peers replaced by the index of the op that first names them.
using Canonical = std::vector<std::tuple<OpKind, std::uint64_t, std::int64_t>>;

Canonical ProgramOf(const Schedule& schedule, Participant member, std::uint32_t channel) {
  std::vector<Op> ops(schedule.op_count(member, channel));
  schedule.ops(member, channel, 0, ops);
  std::map<std::pair<bool, Participant>, std::uint64_t> first;
  Canonical canonical;
  for (std::uint64_t i = 0; i < ops.size(); ++i) {
    const Op& op = ops[i];
    if (op.kind == OpKind::kReduce || op.kind == OpKind::kCopy) {
      canonical.emplace_back(op.kind, 0, schedule.sent_bytes(op.source.size));
      continue;
    }
    const auto peer = first.try_emplace({op.kind == OpKind::kWait, op.peer}, i).first->second;
    canonical.emplace_back(op.kind, peer, schedule.sent_bytes(op.source.size));
  }
  return canonical;
}

TEST(ProgramClass, IsSharedOnlyByMembersWithCongruentPrograms) {
  int shared = 0;
  for (const Algorithm& algorithm : Algorithms()) {
    for (const Primitive primitive :
         {Primitive::kAllReduce, Primitive::kReduceScatter, Primitive::kAllGather,
          Primitive::kAllToAll, Primitive::kBroadcast, Primitive::kReduce, Primitive::kBarrier}) {
      if (!algorithm.supports(primitive)) continue;
      for (const std::uint32_t nodes : {2U, 3U, 4U}) {
        for (const std::int64_t bytes : {0, 4096 * 12, 4096 * 12 + 4, 4096 * 120 + 4}) {
          CollectiveSpec spec;
          spec.primitive = primitive;
          spec.bytes = Bytes(primitive == Primitive::kBarrier ? 0 : bytes);
          spec.element_bytes = 4;
          spec.channels = 2;
          const auto schedule = MakeSchedule(algorithm.name, spec, GroupLayout::Grid(nodes, 2));
          if (!schedule) continue;
          std::map<std::uint32_t, Participant> first;
          for (Participant member = 0; member < (*schedule)->ranks(); ++member) {
            const auto program_class = (*schedule)->program_class(member);
            if (!program_class) continue;
            const auto [same, is_new] = first.try_emplace(*program_class, member);
            if (is_new) continue;
            ++shared;
            for (std::uint32_t channel = 0; channel < (*schedule)->channels(); ++channel) {
              EXPECT_EQ(ProgramOf(**schedule, member, channel),
                        ProgramOf(**schedule, same->second, channel))
                  << algorithm.name << ' ' << ToString(primitive) << ' ' << bytes;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(shared, 0);
}

// A program with peers counted from the rank that runs it.
Canonical RotatedBack(const Schedule& schedule, Participant member, std::uint32_t channel) {
  std::vector<Op> ops(schedule.op_count(member, channel));
  schedule.ops(member, channel, 0, ops);
  Canonical canonical;
  for (const Op& op : ops) {
    const bool local = op.kind == OpKind::kReduce || op.kind == OpKind::kCopy;
    const Participant peer = (op.peer + schedule.ranks() - member) % schedule.ranks();
    canonical.emplace_back(op.kind, local ? 0 : peer, schedule.sent_bytes(op.source.size));
  }
  return canonical;
}

TEST(Rotates, IsSaidOnlyOfSchedulesWhoseProgramsAreTheFirstMovedOn) {
  int rotating = 0;
  for (const Algorithm& algorithm : Algorithms()) {
    for (const Primitive primitive :
         {Primitive::kAllReduce, Primitive::kReduceScatter, Primitive::kAllGather,
          Primitive::kAllToAll, Primitive::kBroadcast, Primitive::kGather, Primitive::kScatter,
          Primitive::kSendRecv, Primitive::kBarrier}) {
      if (!algorithm.supports(primitive)) continue;
      for (const std::int64_t bytes : {0, 4096 * 12, 4096 * 12 + 4}) {
        CollectiveSpec spec;
        spec.primitive = primitive;
        spec.bytes = Bytes(primitive == Primitive::kBarrier ? 0 : bytes);
        spec.element_bytes = 4;
        spec.channels = 2;
        const auto schedule = MakeSchedule(algorithm.name, spec, GroupLayout::Grid(3, 2));
        if (!schedule || !(*schedule)->rotates()) continue;
        ++rotating;
        for (Participant member = 1; member < (*schedule)->ranks(); ++member) {
          for (std::uint32_t channel = 0; channel < (*schedule)->channels(); ++channel) {
            EXPECT_EQ(RotatedBack(**schedule, member, channel), RotatedBack(**schedule, 0, channel))
                << algorithm.name << ' ' << ToString(primitive) << ' ' << bytes;
          }
        }
      }
    }
  }
  EXPECT_GT(rotating, 0);
}

}  // namespace
}  // namespace trunkline
