#pragma once

#include <span>
#include <vector>

#include "trunkline/base/int128.h"
#include "trunkline/engine/timeline.h"
#include "trunkline/fabric/route.h"

namespace trunkline {

// Wire bytes of every link, from what each resource carried in units of FlowHop's weight. What a
// trunk carried is divided over its links, in proportion to their rates when routing adapts, else
// evenly; where parts of it carried some, so that its links come as level as these allow.
[[nodiscard]] std::vector<LinkUse> LinkUses(const Router& router,
                                            std::span<const Uint128> by_resource);

}  // namespace trunkline
