#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/flow/event_queue.h"
#include "trunkline/base/int128.h"
#include "trunkline/base/units.h"

namespace trunkline {

// What one payload byte of a flow takes of a resource, in units of 2^-32 bytes.
struct FlowHop {
  static constexpr int kFractionBits = 32;
  static constexpr std::uint64_t kOne = std::uint64_t{1} << kFractionBits;

  std::uint32_t resource = 0;
  std::uint64_t weight = kOne;
};

// Payload rate in units of 2^-10 bit/s, so that a 100,000th share of a link keeps ten digits.
struct FlowRate {
  static constexpr int kFractionBits = 10;

  std::uint64_t units = 0;
  [[nodiscard]] double bits_per_second() const {
    return static_cast<double>(units) / (1 << kFractionBits);
  }
  auto operator<=>(const FlowRate&) const = default;
};

// The rate of a flow that has its resources to itself: route_limit, or less where a hop's weight
// (rounded to 2^-32) leaves less.
[[nodiscard]] FlowRate LoneRate(std::span<const FlowHop> hops, std::span<const Rate> capacities,
                                Rate route_limit);

// Time to move `bytes` at `rate`, rounded up to a picosecond; Time::Max() when that is past every
// horizon. `surplus` is what the last picosecond of the transfer before moved beyond its end, when
// this one follows without a gap, and becomes what this one leaves: rounding does not accumulate.
[[nodiscard]] Time FluidTime(Bytes bytes, FlowRate rate, std::uint64_t& surplus);

// Flows that share resources max-min fairly, event driven and incremental.
//
// Every quantity is an integer: rates, capacities, weights and remaining work. Sums therefore do
// not depend on their order, bytes are conserved exactly, and a folded network (weights multiplied
// by class sizes) takes bit for bit the rates of the whole one.
//
// The rates are those of progressive filling in which every step rounds down: all unfrozen flows
// rise together; the lowest of the flow limits and of the levels floor(left / weight) of the
// resources is next; all resources at that level freeze their flows at once. This definition is a
// function of the set of active flows alone, so any part of the network may be solved by itself: a
// resource whose flows cannot fill it even at their limits couples nobody, and only what is
// connected through the others to a flow that came or went is solved again.
class FlowNetwork {
 public:
  explicit FlowNetwork(std::span<const Rate> capacities);

  // Capacity in the units of weight x rate.
  [[nodiscard]] static Uint128 Units(Rate capacity);

  // Declares a flow, idle at first; returns its dense index. `limit` is at most its lone rate.
  std::uint32_t AddFlow(std::span<const FlowHop> hops, FlowRate limit);

  // A flow begins to move `bytes` at `now`. REQUIRES: it is idle, bytes > 0, and now is not before
  // any earlier call. Call Solve before time moves on. `follows`: it waited for this flow's
  // previous transfer, which ended now.
  void Start(std::uint32_t flow, Bytes bytes, Time now, bool follows = false);
  // When the next active flow ends, as far as rates are solved; Time::Max(): none does.
  [[nodiscard]] Time next_completion() const { return completions_.next_time(); }
  // Ends the flow that completes next, at next_completion(), and returns it.
  std::uint32_t PopCompleted();
  // Brings rates up to date with the starts and ends at `now`.
  void Solve(Time now);

  [[nodiscard]] bool active() const { return !completions_.empty() || needs_solve(); }
  [[nodiscard]] bool needs_solve() const { return !dirty_.empty() || !unsolved_.empty(); }
  [[nodiscard]] FlowRate rate(std::uint32_t flow) const { return {flows_[flow].rate}; }
  [[nodiscard]] std::uint64_t solves() const { return solves_; }

 private:
  struct Flow {
    std::uint64_t limit = 0;
    std::uint64_t rate = 0;
    Uint128 remaining = 0;  // work at `settled`, in rate units x picoseconds
    Time settled;
    std::uint32_t first_hop = 0;
    std::uint32_t hop_count = 0;
    std::uint64_t visit = 0;    // the solve that last collected it
    std::uint64_t surplus = 0;  // see FluidTime
    bool frozen = false;
  };
  struct Hop {
    std::uint64_t weight = 0;
    std::uint32_t resource = 0;
    std::uint32_t position = 0;  // in the resource's active list
  };
  struct Active {
    std::uint32_t flow = 0;
    std::uint32_t hop = 0;
  };
  struct Resource {
    Uint128 capacity = 0;      // rate units x weight units
    Uint128 demand = 0;        // sum of weight x limit over active flows
    Uint128 left = 0;          // during a solve: capacity less what frozen flows take
    std::uint64_t weight = 0;  // during a solve: of the unfrozen flows
    std::uint64_t visit = 0;
    bool dirty = false;
    std::vector<Active> active;

    [[nodiscard]] bool contended() const { return demand > capacity; }
    [[nodiscard]] std::uint64_t level() const;
  };

  [[nodiscard]] std::span<Hop> hops(const Flow& flow) {
    return std::span(hops_).subspan(flow.first_hop, flow.hop_count);
  }
  void MarkDirty(std::uint32_t resource);
  void CollectComponent();
  void Visit(std::uint32_t flow);
  void Fill();
  void FreezeSaturated(std::uint64_t level);
  void Freeze(std::uint32_t flow, std::uint64_t rate);
  void Apply(Time now);
  void Schedule(std::uint32_t index, Time now);

  struct Level {
    std::uint64_t level = 0;
    std::uint32_t resource = 0;
    bool operator>(const Level& other) const { return level > other.level; }
  };

  std::vector<Flow> flows_;
  std::vector<Hop> hops_;
  std::vector<Resource> resources_;
  EventQueue completions_;
  std::vector<std::uint32_t> dirty_;     // resources whose flows changed while contended
  std::vector<std::uint32_t> unsolved_;  // flows that started on a contended resource
  std::uint64_t solves_ = 0;             // also the mark of what the current one has collected
  // Scratch of a solve.
  std::vector<std::uint32_t> component_;
  std::vector<std::uint32_t> component_resources_;
  std::vector<std::uint64_t> new_rate_;  // by flow
  std::vector<Level> levels_;
  std::vector<std::uint32_t> saturated_;
};

}  // namespace trunkline
