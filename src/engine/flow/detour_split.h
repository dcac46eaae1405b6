#pragma once

#include <span>
#include <vector>

#include "engine/flow/network.h"
#include "trunkline/base/int128.h"

namespace trunkline {

// Paths of several ways, one behind the other.
class Ways {
 public:
  Ways() = default;
  explicit Ways(std::span<const std::vector<FlowHop>> ways) {
    for (const std::vector<FlowHop>& way : ways) Add(way);
  }

  void Add(std::span<const FlowHop> hops) {
    hops_.insert(hops_.end(), hops.begin(), hops.end());
    ends_.push_back(static_cast<std::uint32_t>(hops_.size()));
  }
  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] std::span<const FlowHop> operator[](std::size_t way) const {
    const std::uint32_t first = way == 0 ? 0 : ends_[way - 1];
    return std::span(hops_).subspan(first, ends_[way] - first);
  }

 private:
  std::vector<FlowHop> hops_;
  std::vector<std::uint32_t> ends_;  // by way, into hops_
};

// A flow of which part takes its minimal path and the rest detours.
struct DividedFlow {
  std::span<const FlowHop> minimal;
  const Ways* detours = nullptr;  // of all of it
  FlowRate limit;                 // of all parts together
};
struct DividedRate {
  FlowRate minimal;
  std::vector<FlowRate> detours;  // by way

  [[nodiscard]] FlowRate sum() const;
};

// How policies that judge by queues (UGAL, Singh, thesis, Stanford 2005) divide flows that always
// have more to send. A packet turns off where its minimal path's queue times its hops is longer
// than that of a detour drawn at random: never while the minimal path has no queue, so flows share
// minimal paths max-min fairly first; where such a path is full its queue grows until packets turn
// off, and queues of detours grow only when those are full. So what is left of all links is then
// shared, max-min fairly, among detours of the flows that could send more: evenly over the ways of
// a flow until links of some are full, then over its others, as far as packets draw these.
// `capacities`: by resource that flows name. `network` is room to reckon in.
[[nodiscard]] std::vector<DividedRate> DivideFlows(std::span<const DividedFlow> flows,
                                                   std::span<const Rate> capacities,
                                                   FlowNetwork& network);

// Adds up what parts of a flow take of resources.
class HopSum {
 public:
  void Add(std::uint32_t resource, Uint128 amount) {
    if (resource >= amounts_.size()) amounts_.resize(resource + 1, 0);
    if (amounts_[resource] == 0) resources_.push_back(resource);
    amounts_[resource] += amount;
  }
  // The sums by `divisor`, in the order in which resources were first added, and starts anew.
  std::vector<FlowHop> Take(std::uint64_t divisor);

 private:
  std::vector<Uint128> amounts_;          // by resource
  std::vector<std::uint32_t> resources_;  // with an amount
};

// What one payload byte of a flow takes of each resource when its parts move at these rates; those
// of the minimal path where nothing moves. `sum` is room to reckon in.
[[nodiscard]] std::vector<FlowHop> HopsOf(const DividedFlow& flow, const DividedRate& rate,
                                          HopSum& sum);

}  // namespace trunkline
