#pragma once

#include <algorithm>
#include <cstdint>

#include "trunkline/collective/algorithm.h"

namespace trunkline {

// Default slices of one channel at most, to bound the cost of simulating them. Pieces above that
// (256 MiB under simple, 16 MiB under ll) get longer slices than NCCL's: filling a pipeline of d
// hops then takes d/512 of the whole time.
inline constexpr std::int64_t kMostDefaultSlices = 512;

// How many slices a pipelined algorithm cuts the largest of `channels` equal pieces into.
inline std::int64_t SliceCount(const CollectiveSpec& spec, std::int64_t channels) {
  const std::int64_t piece = (spec.bytes.count() + channels - 1) / channels;
  const std::int64_t slice = (spec.slice.count() > 0 ? spec.slice : spec.step).count();
  const std::int64_t count = std::max<std::int64_t>(1, (piece + slice - 1) / slice);
  return spec.slice.count() > 0 ? count : std::min(count, kMostDefaultSlices);
}

}  // namespace trunkline
