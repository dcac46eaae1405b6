#include "engine/flow/network.h"

#include <algorithm>
#include <functional>

#include "trunkline/base/check.h"

namespace trunkline {
namespace {

// Work is counted in rate units x picoseconds: bits x 2^10 x 10^12.
constexpr Uint128 kWorkPerByte =
    static_cast<Uint128>(8) * (1 << FlowRate::kFractionBits) * 1'000'000'000'000;

// now + work / rate, rounded up.
Time EndOf(Uint128 work, std::uint64_t rate, Time now) {
  if (rate == 0) return Time::Max();
  const Uint128 ps = (work + rate - 1) / rate;
  if (ps > static_cast<Uint128>((Time::Horizon() - now).ps())) return Time::Max();
  return now + Time::Picoseconds(static_cast<std::int64_t>(ps));
}

// What is left to do of `bytes` when `surplus` is already done.
Uint128 Work(Bytes bytes, std::uint64_t surplus) {
  const Uint128 work = static_cast<Uint128>(bytes.count()) * kWorkPerByte;
  return work - std::min<Uint128>(surplus, work - 1);
}

std::uint64_t Surplus(Uint128 work, std::uint64_t rate, Time duration) {
  return static_cast<std::uint64_t>(
      static_cast<Uint128>(rate) * static_cast<std::uint64_t>(duration.ps()) - work);
}

}  // namespace

FlowRate LoneRate(std::span<const FlowHop> hops, std::span<const Rate> capacities,
                  Rate route_limit) {
  Uint128 lone = static_cast<Uint128>(route_limit.bits_per_second()) << FlowRate::kFractionBits;
  for (const FlowHop& hop : hops) {
    lone = std::min(lone, FlowNetwork::Units(capacities[hop.resource]) / hop.weight);
  }
  return {static_cast<std::uint64_t>(std::min<Uint128>(lone, INT64_MAX))};
}

Time FluidTime(Bytes bytes, FlowRate rate, std::uint64_t& surplus) {
  const Uint128 work = Work(bytes, surplus);
  const Time time = EndOf(work, rate.units, Time());
  surplus = time == Time::Max() ? 0 : Surplus(work, rate.units, time);
  return time;
}

std::uint64_t FlowNetwork::Resource::level() const {
  const Uint128 share = left / weight;
  return static_cast<std::uint64_t>(std::min<Uint128>(share, INT64_MAX));
}

Uint128 FlowNetwork::Units(Rate capacity) {
  return static_cast<Uint128>(capacity.bits_per_second())
         << (FlowRate::kFractionBits + FlowHop::kFractionBits);
}

FlowNetwork::FlowNetwork(std::span<const Rate> capacities) : resources_(capacities.size()) {
  for (std::size_t i = 0; i < capacities.size(); ++i) {
    resources_[i].capacity = Units(capacities[i]);
  }
}

std::uint32_t FlowNetwork::AddFlow(std::span<const FlowHop> hops, FlowRate limit) {
  Flow flow;
  flow.limit = limit.units;
  flow.first_hop = static_cast<std::uint32_t>(hops_.size());
  flow.hop_count = static_cast<std::uint32_t>(hops.size());
  for (const FlowHop& hop : hops) hops_.push_back({hop.weight, hop.resource, 0});
  flows_.push_back(flow);
  new_rate_.push_back(0);
  return static_cast<std::uint32_t>(flows_.size() - 1);
}

void FlowNetwork::MarkDirty(std::uint32_t resource) {
  if (resources_[resource].dirty) return;
  resources_[resource].dirty = true;
  dirty_.push_back(resource);
}

void FlowNetwork::Start(std::uint32_t index, Bytes bytes, Time now, bool follows) {
  Flow& flow = flows_[index];
  TL_CHECK(flow.remaining == 0 && bytes > Bytes(0), "a flow starts while it is busy", index);
  flow.remaining = Work(bytes, follows ? flow.surplus : 0);
  flow.settled = now;
  flow.rate = 0;
  bool alone = true;
  for (Hop& hop : hops(flow)) {
    Resource& resource = resources_[hop.resource];
    resource.demand += static_cast<Uint128>(hop.weight) * flow.limit;
    hop.position = static_cast<std::uint32_t>(resource.active.size());
    resource.active.push_back({index, static_cast<std::uint32_t>(&hop - hops_.data())});
    if (resource.contended()) {
      MarkDirty(hop.resource);
      alone = false;
    }
  }
  if (alone) {
    flow.rate = flow.limit;
    Schedule(index, now);
  } else {
    unsolved_.push_back(index);
  }
}

std::uint32_t FlowNetwork::PopCompleted() {
  const Time now = completions_.next_time();
  const std::uint32_t index = completions_.Pop();
  Flow& flow = flows_[index];
  flow.surplus = Surplus(flow.remaining, flow.rate, now - flow.settled);
  flow.remaining = 0;
  for (const Hop& hop : hops(flow)) {
    Resource& resource = resources_[hop.resource];
    if (resource.contended()) MarkDirty(hop.resource);
    resource.demand -= static_cast<Uint128>(hop.weight) * flow.limit;
    const Active moved = resource.active.back();
    resource.active[hop.position] = moved;
    hops_[moved.hop].position = hop.position;
    resource.active.pop_back();
  }
  return index;
}

void FlowNetwork::Schedule(std::uint32_t index, Time now) {
  const Flow& flow = flows_[index];
  completions_.Set(index, EndOf(flow.remaining, flow.rate, now));
}

void FlowNetwork::Solve(Time now) {
  if (!needs_solve()) return;
  ++solves_;
  CollectComponent();
  Fill();
  Apply(now);
}

void FlowNetwork::Visit(std::uint32_t index) {
  Flow& flow = flows_[index];
  if (flow.visit == solves_) return;
  flow.visit = solves_;
  flow.frozen = false;
  component_.push_back(index);
}

// Flows whose rates may change: those on dirty resources, and all that contended resources connect
// to them.
void FlowNetwork::CollectComponent() {
  component_.clear();
  component_resources_.clear();
  for (const std::uint32_t flow : unsolved_) {
    if (flows_[flow].remaining != 0) Visit(flow);
  }
  for (const std::uint32_t index : dirty_) {
    resources_[index].dirty = false;
    for (const Active& active : resources_[index].active) Visit(active.flow);
  }
  unsolved_.clear();
  dirty_.clear();
  for (std::size_t next = 0; next < component_.size(); ++next) {
    for (const Hop& hop : hops(flows_[component_[next]])) {
      Resource& resource = resources_[hop.resource];
      if (!resource.contended()) continue;
      if (resource.visit != solves_) {
        resource.visit = solves_;
        resource.left = resource.capacity;
        resource.weight = 0;
        component_resources_.push_back(hop.resource);
        for (const Active& active : resource.active) Visit(active.flow);
      }
      resource.weight += hop.weight;
    }
  }
}

void FlowNetwork::Freeze(std::uint32_t index, std::uint64_t rate) {
  Flow& flow = flows_[index];
  flow.frozen = true;
  new_rate_[index] = rate;
  for (const Hop& hop : hops(flow)) {
    Resource& resource = resources_[hop.resource];
    if (resource.visit != solves_) continue;
    resource.left -= static_cast<Uint128>(hop.weight) * rate;
    resource.weight -= hop.weight;
  }
}

// Freezes the flows of every resource whose level is `level`, the lowest of all.
void FlowNetwork::FreezeSaturated(std::uint64_t level) {
  saturated_.clear();
  while (!levels_.empty() && levels_.front().level == level) {
    std::ranges::pop_heap(levels_, std::greater{});
    Level last = levels_.back();
    Resource& resource = resources_[last.resource];
    levels_.pop_back();
    if (resource.weight == 0) continue;
    last.level = resource.level();
    if (last.level == level) {
      saturated_.push_back(last.resource);
    } else {
      levels_.push_back(last);
      std::ranges::push_heap(levels_, std::greater{});
    }
  }
  for (const std::uint32_t index : saturated_) {
    for (const Active& active : resources_[index].active) {
      if (!flows_[active.flow].frozen) Freeze(active.flow, level);
    }
  }
}

// Progressive filling of the collected component.
void FlowNetwork::Fill() {
  const auto limit = [this](std::uint32_t flow) { return flows_[flow].limit; };
  // Most often all limits are equal.
  if (!std::ranges::is_sorted(component_, {}, limit)) std::ranges::sort(component_, {}, limit);
  levels_.clear();
  for (const std::uint32_t index : component_resources_) {
    levels_.push_back({resources_[index].level(), index});
  }
  std::ranges::make_heap(levels_, std::greater{});

  for (std::size_t next = 0; next < component_.size();) {
    const std::uint32_t flow = component_[next];
    if (flows_[flow].frozen) {
      ++next;
      continue;
    }
    // Levels only rise as flows freeze, so a stored one that is still true is the lowest.
    while (!levels_.empty()) {
      const Level lowest = levels_.front();
      const Resource& resource = resources_[lowest.resource];
      const std::uint64_t now = resource.weight == 0 ? UINT64_MAX : resource.level();
      if (now == lowest.level) break;
      std::ranges::pop_heap(levels_, std::greater{});
      levels_.pop_back();
      if (resource.weight == 0) continue;
      levels_.push_back({now, lowest.resource});
      std::ranges::push_heap(levels_, std::greater{});
    }
    if (levels_.empty() || flows_[flow].limit <= levels_.front().level) {
      Freeze(flow, flows_[flow].limit);
    } else {
      FreezeSaturated(levels_.front().level);
    }
  }
}

// Flows whose rate changed settle what they have moved so far and get a new end.
void FlowNetwork::Apply(Time now) {
  for (const std::uint32_t index : component_) {
    Flow& flow = flows_[index];
    if (flow.rate == new_rate_[index]) continue;
    flow.remaining -=
        static_cast<Uint128>(flow.rate) * static_cast<std::uint64_t>((now - flow.settled).ps());
    flow.settled = now;
    flow.rate = new_rate_[index];
    Schedule(index, now);
  }
}

}  // namespace trunkline
