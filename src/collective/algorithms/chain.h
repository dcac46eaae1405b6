#pragma once

#include <memory>

#include "trunkline/collective/algorithm.h"

namespace trunkline {

// Broadcast and Reduce as rings do them: along the ring from (or towards) the root, slice by slice,
// every rank passing on a slice while it receives the next.
[[nodiscard]] std::shared_ptr<const Schedule> MakeChain(const char* algorithm,
                                                        const CollectiveSpec& spec,
                                                        const GroupLayout& layout);

}  // namespace trunkline
