#pragma once

#include <cstdint>
#include <optional>

#include "base/word_reader.h"
#include "trunkline/workload/traffic.h"

namespace trunkline {

// Each reads from the current line of `reader` to the end; problems are noted there.
[[nodiscard]] TrafficWorkload ReadConnectionMatrix(WordReader& reader);
[[nodiscard]] TrafficWorkload ReadFlowList(WordReader& reader);

// More flows, hosts or bytes than these are a slip or an attack.
inline constexpr std::uint32_t kMostTraceFlows = 1U << 26;
inline constexpr std::uint32_t kMostTraceHosts = 1U << 20;
inline constexpr std::int64_t kLargestTraceFlow = std::int64_t{1} << 40;

// The values of a line, each nothing with a problem noted when it is not one.
//
// A message size: from 1 byte to 1 TiB.
[[nodiscard]] std::optional<Bytes> ReadSize(WordReader& reader, const Word& word);
// A moment in units of `unit`: from 0 to 100 days.
[[nodiscard]] std::optional<Time> ReadMoment(WordReader& reader, const Word& word, Time unit,
                                             const char* unit_name);

}  // namespace trunkline
