#pragma once

#include <cstdint>
#include <optional>

#include "trunkline/workload/traffic.h"

namespace trunkline {

// The first of the flows that no run would ever start.
struct NeverStarted {
  std::uint32_t flow = 0;
  std::uint64_t activations = 0;  // that its trigger gets
  std::uint64_t needed = 0;       // for this flow
  std::uint64_t flows = 0;        // how many never start
};
// Nothing when all start. REQUIRES: triggers exist and list the flows that name them.
[[nodiscard]] std::optional<NeverStarted> FindNeverStarted(const TrafficWorkload& traffic);

}  // namespace trunkline
