#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/packet/plant.h"

namespace trunkline {

// Which queue pair carries which flow. One is made as a flow begins, and carries another once the
// sender knows that all has arrived: what is kept, and what is in cache, is of the flows under way.
//
// So it is where nothing of a queue pair can be met later: its packets take one path, on which
// answers and notifications overtake nothing sent before them, and none is lost, so that nothing is
// sent twice and no timer runs (`CanReuse`). Elsewhere each flow has the queue pair of its number.
class QueuePairPool {
 public:
  [[nodiscard]] static bool CanReuse(const Plant& plant) {
    return plant.forwarding == Forwarding::kSource && !plant.can_lose && plant.faults == nullptr &&
           !plant.transport.sockets;
  }

  // Each flow has its own, or they are reused.
  explicit QueuePairPool(bool reuses) : reuses_(reuses) {}
  [[nodiscard]] bool reuses() const { return reuses_; }

  // A queue pair for a flow: one that is free, or the next after those that there are.
  [[nodiscard]] std::uint32_t Take(std::uint32_t flow) {
    if (!reuses_) return flow;
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(flows_.size()));
      flows_.emplace_back();
    }
    const std::uint32_t queue_pair = free_.back();
    free_.pop_back();
    flows_[queue_pair] = flow;
    return queue_pair;
  }
  void Give(std::uint32_t queue_pair) {
    if (reuses_) free_.push_back(queue_pair);
  }

  // Queue pairs made so far. REQUIRES: they are reused.
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(flows_.size()); }
  [[nodiscard]] std::uint32_t flow_of(std::uint32_t queue_pair) const {
    return reuses_ ? flows_[queue_pair] : queue_pair;
  }
  // That of a flow that is under way.
  [[nodiscard]] std::uint32_t Find(std::uint32_t flow) const {
    if (!reuses_) return flow;
    return static_cast<std::uint32_t>(std::ranges::find(flows_, flow) - flows_.begin());
  }

 private:
  bool reuses_;
  std::vector<std::uint32_t> flows_;  // by queue pair
  std::vector<std::uint32_t> free_;
};

}  // namespace trunkline
