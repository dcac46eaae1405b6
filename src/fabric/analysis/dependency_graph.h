#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trunkline/fabric/deadlock.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {

// Channels between switches, and which may be waited for by a packet that holds which.
class DependencyGraph {
 public:
  DependencyGraph(const Fabric& fabric, std::uint32_t lanes);

  // REQUIRES: `from` leads to the switch that `to` leaves; neither touches a NIC or host.
  void Add(Channel from, Channel to) {
    const std::size_t bit = first_bit_[NodeOf(from)] + place_[Index(to.link)] * lanes_ + to.lane;
    std::uint64_t& word = bits_[bit / 64];
    const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
    edges_ += (word & mask) == 0 ? 1 : 0;
    word |= mask;
  }
  [[nodiscard]] bool IsBetweenSwitches(LinkId link) const { return place_[Index(link)] != kNone; }

  [[nodiscard]] std::uint64_t channels() const { return channels_; }
  [[nodiscard]] std::uint64_t edges() const { return edges_; }
  // A cycle, a short one if there are several; empty: there is none.
  [[nodiscard]] std::vector<Channel> FindCycle() const;
  [[nodiscard]] bool HasCycle() const { return !InOrBehindCycles().empty(); }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  [[nodiscard]] std::size_t NodeOf(Channel channel) const {
    return Index(channel.link) * lanes_ + channel.lane;
  }
  template <typename Visit>
  void ForEachNext(std::size_t node, Visit visit) const;
  // By node: whether it is on a cycle, or only leads out of some; empty: there is none.
  [[nodiscard]] std::vector<bool> InOrBehindCycles() const;
  [[nodiscard]] std::vector<std::uint32_t> ShortestCycle(std::size_t start,
                                                         const std::vector<bool>& left) const;

  const Fabric& fabric_;
  std::uint32_t lanes_;
  std::uint64_t channels_ = 0;
  std::uint64_t edges_ = 0;
  std::vector<std::uint32_t> place_;  // by link: among those between switches that its switch sends
                                      // by; kNone: not between switches
  std::vector<std::size_t> first_bit_;  // by node: a bit for each channel that its switch sends by
  std::vector<std::uint64_t> bits_;
};

}  // namespace trunkline
