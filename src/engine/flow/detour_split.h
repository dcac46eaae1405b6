#pragma once

#include <span>
#include <vector>

#include "engine/flow/network.h"

namespace trunkline {

// A flow of which part takes its minimal path and the rest detours.
struct DividedFlow {
  std::span<const FlowHop> minimal;
  std::span<const FlowHop> detours;  // of all of it, were it to take these alone; empty: it cannot
  FlowRate limit;                    // of both parts together
};
struct DividedRate {
  FlowRate minimal;
  FlowRate detours;
};

// How policies that judge by queues (UGAL, Singh, thesis, Stanford 2005) divide flows that always
// have more to send. A packet turns off where its minimal path's queue times its hops is longer
// than the detour's: never while the minimal path has no queue, so flows share minimal paths
// max-min fairly first; where such a path is full its queue grows until packets turn off, and
// queues of detours grow only when those are full. So what is left of all links is then shared,
// max-min fairly, among detours of the flows that could send more.
[[nodiscard]] std::vector<DividedRate> DivideFlows(std::span<const DividedFlow> flows,
                                                   std::span<const Rate> capacities);

// What one payload byte of a flow takes of each resource when its parts move at these rates, in
// order of resources; those of the minimal path where nothing moves.
[[nodiscard]] std::vector<FlowHop> HopsOf(const DividedFlow& flow, const DividedRate& rate);

}  // namespace trunkline
