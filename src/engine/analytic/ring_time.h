#pragma once

#include <cstdint>
#include <span>

namespace trunkline {

// A hop of a ring or a chain: how long a message keeps the sender busy, and how long it then flies.
struct RingHop {
  double busy = 0;
  double latency = 0;
};

// Seconds until the last of `steps` messages of every hop has arrived, where hop i may send its
// step s once its step s - 1 has left and the message of step s - 1 of hop i - 1 has arrived (the
// dependency recurrence of a ring collective).
//
// The longest chain of dependencies sends `steps` messages; between two it either stays at a hop
// (busy again) or moves on (busy, then latency). So it is the largest, over runs of at most `steps`
// consecutive hops, of their busy + latency once each, plus the remaining steps at the busiest hop
// of the run. Two kinds of runs are tried: those that move all the time, and those that contain a
// busiest hop of the ring; where nodes are alike no other can be longer. A homogeneous ring takes
// steps x (busy + latency). O(hops). REQUIRES: not empty.
[[nodiscard]] double RingSeconds(std::span<const RingHop> hops, std::uint64_t steps);

// Seconds until the last of `slices` messages has crossed all hops one behind the other.
[[nodiscard]] double ChainSeconds(std::span<const RingHop> hops, std::uint64_t slices);

}  // namespace trunkline
