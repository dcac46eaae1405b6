#pragma once

#include <optional>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

// A rate that crosses between the halves of every halving of the nodes.
//
// Pair each node of one half with one of the other, NIC i with NIC i. Whatever the pairing, a
// source loads a link by at most its largest share over all destinations, when its flow is split
// evenly over its minimal paths; the sum over all sources bounds the load of the link (and so does
// the sum over destinations). Sources whose links would overflow are slowed until none does. Every
// pairing of a half then carries at least the sum of the slowest half of the NICs. Zero when NICs
// of one index are not all joined; nothing when there are too many pairs to try.
[[nodiscard]] std::optional<Rate> HoseBound(const Fabric& fabric);

}  // namespace trunkline
