#pragma once

#include <span>
#include <vector>

#include "engine/flow/problem.h"
#include "trunkline/base/int128.h"

namespace trunkline {

// Unmarks the resources that a rendezvous never fills.
//
// There a program that has waited puts again only when all that it has put and waited for is over.
// So it has one *round* under way at a time: the puts and waits up to the first put after a wait.
// What a member's rounds ask of a resource is at most the sum of its connections there, and at most
// the most demanding of them as often as its largest round has messages. Added up over all members,
// that fits such a resource.
//
// Looks at workloads that are collectives only, and there at what programs put on resources `near
// sources` and at what they await from those `near destinations`. `capacities` are in units of
// FlowNetwork::Units; all vectors are by resource.
void UnmarkUnfilledByRounds(const FlowProblem& problem, std::span<const Uint128> capacities,
                            const std::vector<char>& near_source,
                            const std::vector<char>& near_destination, std::vector<char>& binds);

}  // namespace trunkline
