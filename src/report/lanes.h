#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trunkline/scenario/result.h"

// How recorded spans are drawn: a lane for each stream of each recorded rank.
namespace trunkline {

struct Lane {
  RankId rank{};
  std::uint8_t stream = 0;
  bool first_of_rank = false;
};

// By rank, then stream; only streams with a span.
[[nodiscard]] std::vector<Lane> LanesOf(const RunResult& result);

struct SpanMeaning {
  std::string name;
  Phase phase = Phase::kCommunication;
};

// A result without a task graph (a lone collective) has only communication.
[[nodiscard]] SpanMeaning MeaningOf(const RunResult& result, std::uint16_t label);
[[nodiscard]] std::string StreamName(const RunResult& result, std::uint8_t stream);
[[nodiscard]] const char* PhaseName(Phase phase);  // "forward"

}  // namespace trunkline
