#pragma once

#include <optional>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

struct LowerBound {
  Rate rate;
  const char* how = "";  // "hose model over evenly split minimal paths"
};

// A rate that crosses between the halves of every halving of the nodes: the largest of what two
// arguments say of two ways of putting NICs into groups that send among themselves, those of one
// index in their nodes, and those that switches join. Half of the nodes has a least number of a
// group's NICs, so what holds for so many NICs holds for halves of nodes.
//   Hose model: pair each NIC of one half with one of the other. Whatever the pairing, a source
//     loads a link by at most its largest share over all destinations, when its flow is split
//     evenly over its minimal paths; the sum over all sources bounds the load of the link (and so
//     does the sum over destinations). Sources whose links would overflow are slowed until none
//     does. Every pairing then carries at least the sum of the slowest NICs.
//   All to all: let each NIC send to every other of its group, split evenly over minimal paths, as
//     fast as links between switches carry it. A cut lets through what the NICs on its sides send
//     to each other, but for those that their own cables cut off (Leighton and Rao: Multicommodity
//     max-flow min-cut theorems, JACM 46, 1999).
// Zero when NICs of a group are not all joined; nothing when there are too many pairs to try.
[[nodiscard]] std::optional<LowerBound> BoundFromBelow(const Fabric& fabric);

}  // namespace trunkline
