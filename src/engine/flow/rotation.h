#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trunkline/collective/schedule.h"
#include "trunkline/fabric/placement.h"
#include "trunkline/fabric/route.h"

namespace trunkline {

// A symmetry that takes rank r to rank (r + period) mod ranks, and each link to one alike.
//
// Let a schedule rotate (Schedule::rotates), and a permutation of the links take the route from a
// to b to the route from a + period to b + period for all ranks a and b, with equal rates, limits
// and latencies. Then the run commutes with it: by induction over the events, rank r + period does
// at every instant what rank r does, with every peer moved on by period, and so do their
// connections, as the max-min fair rates are unique. The ranks below period and the connections
// that they put on therefore stand for all. A resource is crossed by the images of a connection as
// often as the connection crosses the links that the rotation takes it through, times
// turns / (how many those are).
//
// Unlike Fold (fold.h), which looks at every connection, this is known before any connection is
// made.
struct Rotation {
  std::uint32_t period = 0;
  std::uint32_t turns = 0;  // ranks / period
  std::vector<LinkId> image;

  // The links that the rotation takes `link` through, itself first.
  [[nodiscard]] std::vector<LinkId> Orbit(LinkId link) const;
};

// The rotation of least period that the ranks of a schedule and their routes have; nothing when
// there is none or none is found. Looks at schedules that rotate and whose ranks talk to most
// others, on plain hosts with one cable each: under static routing, where a route depends on its
// source only through the switch at the other end of the cable (it costs a look at the routes from
// one rank of each switch to all others), and under those that take all paths of fewest cables at
// once, which whatever keeps the fabric keeps too, where there are no trunks.
[[nodiscard]] std::optional<Rotation> FindRotation(const Router& router, const Placement& placement,
                                                   const Schedule& schedule);

// The pairs from the first `period` ranks of a schedule that rotates, sorted and unique.
[[nodiscard]] std::vector<Schedule::Pair> RotatedPairs(const Schedule& schedule,
                                                       std::uint32_t period);

}  // namespace trunkline
