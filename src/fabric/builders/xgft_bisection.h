#pragma once

#include <cstdint>

#include "fabric/builders/xgft.h"

namespace trunkline {

// The bisection of a generalised fat tree, by nodes.
//
// Spreading every flow evenly over its minimal paths loads the links above each group of switches
// evenly, so the network carries exactly what the tree of its groups carries, where the edge above
// a group has the rate of all its uplinks. Cuts of that tree are cuts of the network.
//   Lower bound: an end on the side without the root is cut off by some edge above it; an edge of
//   rate
//     u above a group of n ends cuts off at most n of them; so each costs at least the least u / n.
//   Upper bound: the cut of the tree that parts the first half of the nodes from the rest.
// They meet in every non-blocking tree, and in tapered ones of an even number of top groups.
[[nodiscard]] Bisection BisectionOf(const XgftPlan& plan, std::uint32_t nodes, std::uint32_t nics);

}  // namespace trunkline
