#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/flow/event_queue.h"
#include "engine/flow/rate.h"
#include "engine/flow/shared_resource.h"
#include "trunkline/base/int128.h"
#include "trunkline/base/units.h"

namespace trunkline {

// The rate of a flow of weight 1 that has a resource of this capacity to itself.
[[nodiscard]] constexpr FlowRate LoneRate(Rate capacity) {
  const auto bits = static_cast<std::uint64_t>(capacity.bits_per_second());
  return {bits > (INT64_MAX >> FlowRate::kFractionBits) ? INT64_MAX
                                                        : bits << FlowRate::kFractionBits};
}
// The same for one that crosses it by this hop, whose weight is rounded to 2^-32.
[[nodiscard]] FlowRate LoneRate(const FlowHop& hop, Rate capacity);
// The rate of a flow that has its resources to itself: route_limit, or less where a hop leaves
// less.
[[nodiscard]] FlowRate LoneRate(std::span<const FlowHop> hops, std::span<const Rate> capacities,
                                Rate route_limit);

// Time to move `bytes` at `rate`, rounded up to a picosecond; Time::Max() when that is past every
// horizon. `surplus` is what the last picosecond of the transfer before moved beyond its end, when
// this one follows without a gap, and becomes what this one leaves: rounding does not accumulate.
[[nodiscard]] Time FluidTime(Bytes bytes, FlowRate rate, std::uint64_t& surplus);

// Flows that share resources max-min fairly, event driven and incremental. A flow exists from its
// start to its end.
//
// Every quantity is an integer: rates, capacities, weights and remaining work. Sums therefore do
// not depend on their order, bytes are conserved exactly, and a folded network (weights multiplied
// by class sizes) takes bit for bit the rates of the whole one.
//
// The rates are those of progressive filling in which every step rounds down: all unfrozen flows
// rise together; the lowest of the flow limits and of the levels floor(left / weight) of the
// resources is next; all resources at that level freeze their flows at once. This definition is a
// function of the set of active flows alone. It reads, for the level of one resource: the least
// fixed point of
//
//     level = floor((capacity - what lower flows take) / weight of the others)
//
// where lower are the flows whose rate is below `level`, or equal to it and their limit. So the
// rates of the flows on a resource give its level, the levels of its resources give a flow its
// rate, and a solve need only follow what changes: see Solve.
//
// Flows of the same hops and limit have the same rate at every instant. Those whose hops stand at
// one place in memory (HopLists) are one bundle: it has a rate, and knows how much each of its
// flows would have moved had they all been in it from its beginning. A flow ends when that has
// grown by its own work since it joined.
class FlowNetwork {
 public:
  explicit FlowNetwork(std::span<const Rate> capacities);
  // Its number is the next one.
  void AddResource(Rate capacity);
  // As one newly made, but with the memory that it has.
  void Restart(std::span<const Rate> capacities);

  // Capacity in the units of weight x rate.
  [[nodiscard]] static Uint128 Units(Rate capacity);

  // A flow of `owner` begins to move `bytes` at `now`, `surplus` of it already done (FluidTime).
  // Returns its bundle, which is the same as long as it has flows. REQUIRES: bytes > 0, `limit` is
  // at most its lone rate, and now is not before any earlier call; `hops` are not empty, and as
  // long as the flow moves no others stand where they do. Call Solve before time moves on.
  std::uint32_t Start(std::uint32_t owner, std::span<const FlowHop> hops, FlowRate limit,
                      Bytes bytes, Time now, std::uint64_t surplus = 0);
  // When the next active flow ends, as far as rates are solved; Time::Max(): none does.
  [[nodiscard]] Time next_completion() {
    if (!completions_.empty() && !bundles_[completions_.next_id()].due) FindNextEnd();
    return completions_.next_time();
  }

  struct Ended {
    std::uint32_t owner = 0;
    std::uint64_t surplus = 0;
  };
  // Ends the flow that completes next, at next_completion().
  Ended PopCompleted();
  // What is left of a flow that is taken out before its end, in rate units x picoseconds.
  struct Rest {
    std::uint32_t owner = 0;
    Uint128 work = 0;
    [[nodiscard]] Bytes bytes() const;  // rounded up
  };
  // Takes all flows out at `now`. REQUIRES: rates are
  // solved, and no flow ends before `now` or at it.
  std::vector<Rest> TakeAll(Time now);
  // Lets a flow that was taken out elsewhere go on, as Start does.
  void Resume(const Rest& rest, std::span<const FlowHop> hops, FlowRate limit, Time now);
  // Brings rates up to date with the starts and ends at `now`.
  void Solve(Time now);

  [[nodiscard]] bool active() const { return !completions_.empty() || needs_solve(); }
  [[nodiscard]] bool needs_solve() const { return !dirty_.empty() || !changed_.empty(); }
  [[nodiscard]] FlowRate rate(std::uint32_t bundle) const { return {shares_[bundle].cap.rate()}; }
  [[nodiscard]] std::uint64_t solves() const { return solves_; }

 private:
  using Cap = FlowCap;
  using Share = FlowShare;
  using Resource = SharedResource;
  using Active = SharedResource::Active;
  static constexpr std::uint64_t kNone = SharedResource::kNone;
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  struct Flow {
    Uint128 goal = 0;  // it ends when the bundle has moved this
    std::uint32_t owner = 0;
    bool operator>(const Flow& other) const { return goal > other.goal; }
  };
  struct Bundle {
    Uint128 moved = 0;  // by each flow until `settled`, in rate units x picoseconds
    Time settled;
    std::vector<Flow> flows;  // a heap, the next to end first
    const FlowHop* path = nullptr;
    std::uint32_t first_hop = 0;
    std::uint32_t hop_count = 0;
    std::uint32_t hash = 0;
    std::uint32_t next = kNobody;   // with the same hash, modulo the number of buckets
    std::uint64_t rate_before = 0;  // that it was last scheduled at; 0: it is to be done anew
    bool changed = false;           // in changed_
    bool due = false;  // the time in completions_ is when a flow ends, not only a lower bound
  };
  struct Hop {
    std::uint64_t weight = 0;
    std::uint32_t resource = 0;
    std::uint32_t position = 0;  // in the resource's active list
  };
  [[nodiscard]] std::span<Hop> hops(const Bundle& bundle) {
    return std::span(hops_).subspan(bundle.first_hop, bundle.hop_count);
  }
  // The bundle of flows like this, which has none yet if it is new.
  std::uint32_t BundleOf(std::span<const FlowHop> path, FlowRate limit);
  std::uint32_t TakeBundle(std::uint32_t hop_count);
  void FreeBundle(std::uint32_t index);
  void Rehash();
  std::uint32_t Add(std::uint32_t owner, std::span<const FlowHop> path, FlowRate limit,
                    Uint128 work, Time now);
  // Takes out the flow of the bundle that ends next.
  Flow Drop(std::uint32_t bundle);
  void Settle(std::uint32_t bundle);
  void MarkChanged(std::uint32_t bundle);
  void Reschedule(std::uint32_t bundle);
  void MarkDirty(std::uint32_t resource);
  void Await(std::uint32_t resource, std::uint64_t level);
  void Examine(std::uint32_t index, std::uint64_t at_least);
  [[nodiscard]] std::uint64_t FindLevel(const Resource& resource, std::uint64_t at_least) const;
  void Recount(Resource& resource, std::uint64_t mark);
  // The flows of a resource, by whether they count as lower at a level.
  struct Split {
    Uint128 lower = 0;         // what they take
    std::uint64_t weight = 0;  // of the others
    std::uint64_t first_to_pass = kNone;
  };
  [[nodiscard]] Split SplitAt(const Resource& resource, std::uint64_t level) const;
  void Release(std::uint32_t resource);
  void Hold(std::uint32_t resource, std::uint64_t level, bool as_before);
  void Change(const Active& active, Cap cap, std::uint64_t await);
  void Schedule(std::uint32_t bundle);
  [[nodiscard]] Time NextEnd(std::uint32_t bundle) const;
  void FindNextEnd();

  std::vector<Bundle> bundles_;
  std::vector<Share> shares_;  // by bundle
  // Of each bundle all, then all but the last again: the others of any one come right after it.
  std::vector<Hop> hops_;
  // By hop count: bundles without flows.
  std::vector<std::vector<std::uint32_t>> free_;
  std::vector<std::uint32_t> buckets_ = {kNobody};  // the first bundle with flows of each hash
  std::uint32_t bucket_mask_ = 0;
  std::vector<Resource> resources_;
  EventQueue completions_;              // by bundle
  std::vector<std::uint32_t> dirty_;    // resources whose flows changed while contended
  std::vector<std::uint32_t> changed_;  // bundles whose next end is to be found by Solve
  std::uint64_t solves_ = 0;
  Time now_;
  std::vector<std::uint32_t> pending_;  // of a solve: first in, first out
};

}  // namespace trunkline
