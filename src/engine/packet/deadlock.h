#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

struct Plant;

// Simulated time between two looks for a deadlock.
inline constexpr Time kBetweenDeadlockLooks = Time::Microseconds(1000);

// A packet in a switch: it holds room that an input's class is short of, and queues for an output.
// Both by [link x classes + class].
struct QueueWait {
  static constexpr std::size_t kNothing = std::numeric_limits<std::size_t>::max();
  std::size_t input = 0;
  std::size_t output = kNothing;  // kNothing: it is leaving
  auto operator<=>(const QueueWait&) const = default;
};

// Whether the sending side of a (link, class) may not send until its receiver makes room, and the
// receiver is not about to say that it has.
[[nodiscard]] bool IsBlocked(const Plant& plant, std::size_t queue);

// A cycle of blocked (link, class)es, each of which waits for room that only packets before the
// next hold; empty when nothing is deadlocked. Such a cycle never dissolves. `waits` holds those of
// all switches.
[[nodiscard]] std::vector<std::size_t> FindDeadlock(const Plant& plant,
                                                    std::vector<QueueWait> waits);

// "leaf-0/spine-1 class 0".
[[nodiscard]] std::string NameOfQueue(const Fabric& fabric, const Plant& plant, std::size_t queue);

// The cycle in words.
[[nodiscard]] std::string DescribeDeadlock(const Fabric& fabric, const Plant& plant,
                                           std::span<const std::size_t> cycle);

}  // namespace trunkline
