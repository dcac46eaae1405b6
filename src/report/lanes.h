#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trunkline/scenario/result.h"

// How recorded spans are drawn: a lane for each stream of each recorded rank.
namespace trunkline {

struct TimelineLane {
  RankId rank{};
  std::uint8_t stream = 0;
  bool first_of_rank = false;
};

// By rank, then stream; only streams with a span.
[[nodiscard]] std::vector<TimelineLane> LanesOf(const RunResult& result);

// What a span is, and how it is coloured. A receive is posted early and mostly waits, which is no
// work of the rank: it has a category of its own.
struct SpanMeaning {
  std::string name;
  std::string category;  // "forward", …, "communication", "receive"
  auto operator<=>(const SpanMeaning&) const = default;
};

// A result without a task graph (a lone collective) has only communication.
[[nodiscard]] SpanMeaning MeaningOf(const RunResult& result, const TaskSpan& span);
[[nodiscard]] std::string StreamName(const RunResult& result, std::uint8_t stream);

}  // namespace trunkline
