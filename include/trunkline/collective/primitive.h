#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trunkline/base/units.h"

namespace trunkline {

// What each rank holds when a collective is over (not how it gets there).
enum class Primitive : std::uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kAllToAll,
  kAllToAllV,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kSendRecv,
  kBarrier,
};

[[nodiscard]] const char* ToString(Primitive primitive);  // "all_reduce"
// Accepts allreduce, all_reduce, AllReduce, all-reduce …
[[nodiscard]] std::optional<Primitive> ParsePrimitive(std::string_view text);

// Whether no rank has its result before every member has come: false where there is a root, or only
// pairs.
[[nodiscard]] bool NeedsEveryMember(Primitive primitive);

// Whether one rank is the source or the destination of all data.
[[nodiscard]] bool HasRoot(Primitive primitive);

// nccl-tests' bus bandwidth factor: busbw = algbw x factor (doc/PERFORMANCE.md of nccl-tests).
//   AllReduce 2(n-1)/n; ReduceScatter, AllGather, AllToAll, Gather, Scatter (n-1)/n; others 1.
[[nodiscard]] double BusBandwidthFactor(Primitive primitive, std::int64_t ranks);

}  // namespace trunkline
