#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace trunkline {

// A cable between two devices, numbered from the lowest tier up, and the ports that it takes there
// (0: unknown).
struct CableToLay {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint32_t low_port = 0;
  std::uint32_t high_port = 0;
  bool sideways = false;  // between switches of one tier
};

// The order in which cables are laid, which is that of a device's links, by which routes are
// chosen: by their lower ends and these ends' ports. Where neither end is above the other, as in a
// torus or between the routers of a dragonfly, cables follow each other by the ports of both, or as
// in the file where it numbers none, so that what is read has the routes of what was written,
// whatever the order of lines. Ends that contradict each other give way to the lower device.
[[nodiscard]] std::vector<std::size_t> OrderOfCables(std::span<const CableToLay> cables);

}  // namespace trunkline
