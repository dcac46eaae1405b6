#pragma once

#include <memory>

#include "trunkline/collective/algorithm.h"

namespace trunkline {

// When a rank's messages of an exchange are sent.
enum class Pace : std::uint8_t {
  kPairwise,  // one at a time, each when that of the step before has arrived; all to all only
  kAtOnce,    // all, then it waits for all
};

// Bytes of the largest block that one rank of `ranks` sends to another; of an AllToAllV, what the
// busiest rank sends or receives, divided evenly.
[[nodiscard]] double LargestBlock(const CollectiveSpec& spec, std::uint32_t ranks);

// Primitives without reduction, every block going straight from its owner to its destination.
[[nodiscard]] bool ExchangeSupports(Primitive primitive);
[[nodiscard]] std::shared_ptr<const Schedule> MakeExchange(const char* algorithm, Pace pace,
                                                           const CollectiveSpec& spec,
                                                           const GroupLayout& layout);

}  // namespace trunkline
