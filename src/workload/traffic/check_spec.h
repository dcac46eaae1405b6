#pragma once

#include <cstdint>

#include "trunkline/workload/traffic.h"

namespace trunkline {

[[nodiscard]] inline bool IsTimed(const TrafficJob& job) {
  return job.arrivals != Arrivals::kAtOnce;
}

// How many ranks take part. REQUIRES: the job fits `ranks`.
[[nodiscard]] inline std::uint32_t RanksOf(const TrafficJob& job, std::uint32_t ranks) {
  return job.ranks == 0 ? ranks - job.first_rank : job.ranks;
}

// What is wrong with a specification by itself: bounds, keys that nothing reads, missing ones.
[[nodiscard]] Diagnostics CheckTrafficSpec(const TrafficSpec& spec, std::uint32_t ranks,
                                           Rate host_rate);

}  // namespace trunkline
