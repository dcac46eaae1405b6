#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trunkline/base/check.h"
#include "trunkline/base/diagnostics.h"
#include "trunkline/collective/algorithm.h"

// What tests of schedules share.
namespace trunkline {

inline std::string Text(const Diagnostics& problems) {
  std::string text;
  for (const auto& problem : problems) {
    text += Format(problem);
  }
  return text;
}

inline CollectiveSpec AllReduceOf(std::int64_t bytes) {
  return {.primitive = Primitive::kAllReduce, .bytes = Bytes(bytes)};
}

inline std::shared_ptr<const Schedule> MustMake(std::string_view algorithm,
                                                const CollectiveSpec& spec,
                                                const GroupLayout& layout) {
  auto schedule = MakeSchedule(algorithm, spec, layout);
  TL_CHECK(schedule.has_value(), schedule ? "" : Text(schedule.error()));
  return *schedule;
}

inline std::vector<Op> Program(const Schedule& schedule, Participant participant,
                               std::uint32_t channel) {
  std::vector<Op> program(schedule.op_count(participant, channel));
  schedule.ops(participant, channel, 0, program);
  return program;
}

inline BufferSpan In(std::int64_t offset, std::int64_t size) {
  return {Buffer::kInput, offset, size};
}
inline BufferSpan Out(std::int64_t offset, std::int64_t size) {
  return {Buffer::kOutput, offset, size};
}
inline BufferSpan Scratch(std::int64_t offset, std::int64_t size) {
  return {Buffer::kScratch, offset, size};
}

}  // namespace trunkline
