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

Uint128 FlowNetwork::Units(Rate capacity) {
  return static_cast<Uint128>(capacity.bits_per_second())
         << (FlowRate::kFractionBits + FlowHop::kFractionBits);
}

FlowNetwork::FlowNetwork(std::span<const Rate> capacities) : resources_(capacities.size()) {
  for (std::size_t i = 0; i < capacities.size(); ++i) {
    resources_[i].capacity = Units(capacities[i]);
  }
}

// --- Flows that come and go ---------------------------------------------------------------------

std::uint32_t FlowNetwork::TakeFlow(std::uint32_t hop_count) {
  if (hop_count >= free_.size()) free_.resize(hop_count + 1);
  std::vector<std::uint32_t>& free = free_[hop_count];
  if (free.empty()) {
    free.push_back(static_cast<std::uint32_t>(flows_.size()));
    Flow flow;
    flow.first_hop = static_cast<std::uint32_t>(hops_.size());
    flow.hop_count = hop_count;
    flows_.push_back(flow);
    caps_.push_back(Cap::Limit(0));
    hops_.resize(hops_.size() + hop_count);
  }
  const std::uint32_t index = free.back();
  free.pop_back();
  return index;
}

void FlowNetwork::MarkDirty(std::uint32_t resource) {
  if (resources_[resource].dirty) return;
  resources_[resource].dirty = true;
  dirty_.push_back(resource);
}

std::uint32_t FlowNetwork::Start(std::uint32_t owner, std::span<const FlowHop> path, FlowRate limit,
                                 Bytes bytes, Time now, std::uint64_t surplus) {
  TL_CHECK(bytes > Bytes(0), "a flow of no bytes", owner);
  return Add(owner, path, limit, Work(bytes, surplus), now);
}

void FlowNetwork::Resume(const Rest& rest, std::span<const FlowHop> hops, FlowRate limit,
                         Time now) {
  Add(rest.owner, hops, limit, rest.work, now);
}

std::uint32_t FlowNetwork::Add(std::uint32_t owner, std::span<const FlowHop> path, FlowRate limit,
                               Uint128 work, Time now) {
  const std::uint32_t index = TakeFlow(static_cast<std::uint32_t>(path.size()));
  Flow& flow = flows_[index];
  flow.owner = owner;
  flow.limit = limit.units;
  flow.remaining = work;
  flow.settled = now;
  caps_[index] = Cap::Limit(limit.units);
  bool alone = true;
  for (std::uint32_t i = 0; i < path.size(); ++i) {
    Resource& resource = resources_[path[i].resource];
    resource.demand += static_cast<Uint128>(path[i].weight) * flow.limit;
    hops_[flow.first_hop + i] = {path[i].weight, path[i].resource,
                                 static_cast<std::uint32_t>(resource.active.size())};
    resource.active.push_back({path[i].weight, index, flow.first_hop + i});
    if (resource.contended()) {
      MarkDirty(path[i].resource);
      alone = false;
    }
  }
  now_ = now;
  if (alone) {
    Schedule(index);
  } else {
    flow.changed = true;
    changed_.push_back(index);
  }
  return index;
}

FlowNetwork::Ended FlowNetwork::PopCompleted() {
  const Time now = next_completion();
  const std::uint32_t index = completions_.Pop();
  const Flow& flow = flows_[index];
  Drop(index);
  return {flow.owner, Surplus(flow.remaining, caps_[index].rate(), now - flow.settled)};
}

std::vector<FlowNetwork::Rest> FlowNetwork::TakeAll(Time now) {
  std::vector<Rest> taken;
  while (!completions_.empty()) {
    const std::uint32_t index = completions_.Pop();
    const Flow& flow = flows_[index];
    const auto elapsed = static_cast<std::uint64_t>((now - flow.settled).ps());
    taken.push_back(
        {flow.owner, flow.remaining - static_cast<Uint128>(caps_[index].rate()) * elapsed});
    Drop(index);
  }
  Solve(now);
  return taken;
}

void FlowNetwork::Drop(std::uint32_t index) {
  const Flow& flow = flows_[index];
  for (const Hop& hop : hops(flow)) {
    Resource& resource = resources_[hop.resource];
    if (resource.level != kNone) MarkDirty(hop.resource);
    resource.demand -= static_cast<Uint128>(hop.weight) * flow.limit;
    const Active moved = resource.active.back();
    resource.active[hop.position] = moved;
    hops_[moved.hop].position = hop.position;
    resource.active.pop_back();
  }
  free_[flow.hop_count].push_back(index);
}

// --- Ends ---------------------------------------------------------------------------------------

// A flow that slows down keeps its earlier end in the queue, as a lower bound.
void FlowNetwork::Schedule(std::uint32_t index) {
  Flow& flow = flows_[index];
  const std::uint64_t rate = caps_[index].rate();
  const Time queued = completions_.time_of(index);
  flow.due = false;
  if (queued != Time::Max()) {
    if (queued <= now_) return;
    const auto before = static_cast<std::uint64_t>((queued - now_).ps() - 1);
    if (flow.remaining > static_cast<Uint128>(rate) * before) return;
  }
  flow.due = true;
  completions_.Set(index, EndOf(flow.remaining, rate, now_));
}

Time FlowNetwork::next_completion() {
  while (!completions_.empty()) {
    const std::uint32_t index = completions_.next_id();
    Flow& flow = flows_[index];
    if (flow.due) break;
    flow.due = true;
    completions_.Set(index, EndOf(flow.remaining, caps_[index].rate(), flow.settled));
  }
  return completions_.next_time();
}

// --- Solving ------------------------------------------------------------------------------------

// A sweep by rising level over the resources whose level may be another than before. What happens
// at one level changes nothing below it, as in progressive filling: a flow that is held lower takes
// less of its other resources, whose levels rise and were above; a resource whose level rises
// releases the flows it held, which are then in the way of others from their old rate on.
void FlowNetwork::Solve(Time now) {
  if (!needs_solve()) return;
  ++solves_;
  now_ = now;
  for (const std::uint32_t resource : dirty_) {
    resources_[resource].dirty = false;
    Await(resource, 0);
  }
  dirty_.clear();
  while (!pending_.empty()) {
    std::ranges::pop_heap(pending_, std::greater{});
    const Pending next = pending_.back();
    pending_.pop_back();
    if (resources_[next.resource].queued == next.level) Examine(next.resource, next.level);
  }
  for (const std::uint32_t flow : changed_) {
    flows_[flow].changed = false;
    Schedule(flow);
  }
  changed_.clear();
}

void FlowNetwork::Await(std::uint32_t index, std::uint64_t level) {
  Resource& resource = resources_[index];
  if (resource.queued <= level) return;
  resource.queued = level;
  pending_.push_back({level, index});
  std::ranges::push_heap(pending_, std::greater{});
}

void FlowNetwork::Examine(std::uint32_t index, std::uint64_t at_least) {
  Resource& resource = resources_[index];
  resource.queued = kNone;
  const std::uint64_t level = LevelOf(resource, at_least);
  if (resource.level != kNone && level > resource.level) Release(index);
  if (level == kNone) return;
  if (!pending_.empty() && pending_.front().level < level) {
    Await(index, level);
  } else {
    Hold(index, level);
  }
}

// The level of `resource`, which is not below `at_least`, if nothing held the flows that it holds.
std::uint64_t FlowNetwork::LevelOf(const Resource& resource, std::uint64_t at_least) {
  open_.clear();
  const Cap own = Cap::Held(resource.level);
  Uint128 left = resource.capacity;
  std::uint64_t weight = 0;
  for (const Active& active : resource.active) {
    Cap cap = caps_[active.flow];
    if (cap == own) cap = Cap::Limit(flows_[active.flow].limit);
    if (cap.passes() <= at_least) {
      left -= static_cast<Uint128>(active.weight) * cap.rate();
    } else {
      open_.push_back({cap, active.weight});
      weight += active.weight;
    }
  }
  while (!open_.empty()) {
    const auto level = static_cast<std::uint64_t>(std::min<Uint128>(left / weight, INT64_MAX));
    std::size_t kept = 0;
    for (const Open& open : open_) {
      if (open.cap.passes() <= level) {
        left -= static_cast<Uint128>(open.weight) * open.cap.rate();
        weight -= open.weight;
      } else {
        open_[kept++] = open;
      }
    }
    if (kept == open_.size()) return level;
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(kept), open_.end());
  }
  return kNone;
}

// Lets go of the flows that the resource holds: they rise until something else holds them.
void FlowNetwork::Release(std::uint32_t index) {
  Resource& resource = resources_[index];
  const std::uint64_t level = resource.level;
  for (const Active& active : resource.active) {
    if (caps_[active.flow] != Cap::Held(level)) continue;
    const Flow& flow = flows_[active.flow];
    Change(active.flow, Cap::Limit(flow.limit));
    for (const Hop& hop : hops(flow)) {
      if (hop.resource == index) continue;
      const Resource& other = resources_[hop.resource];
      if (other.contended() || other.level != kNone) Await(hop.resource, level);
    }
  }
  resource.level = kNone;
}

// Holds the flows of the resource that would pass `level`.
void FlowNetwork::Hold(std::uint32_t index, std::uint64_t level) {
  Resource& resource = resources_[index];
  for (const Active& active : resource.active) {
    const Cap cap = caps_[active.flow];
    if (cap.passes() <= level || cap == Cap::Held(level)) continue;
    Change(active.flow, Cap::Held(level));
    for (const Hop& hop : hops(flows_[active.flow])) {
      if (hop.resource == index) continue;
      const Resource& other = resources_[hop.resource];
      if (other.level != kNone) Await(hop.resource, other.level);
    }
  }
  resource.level = level;
}

// Flows whose rate changes settle what they have moved so far.
void FlowNetwork::Change(std::uint32_t index, Cap cap) {
  Flow& flow = flows_[index];
  if (!flow.changed) {
    flow.changed = true;
    changed_.push_back(index);
    flow.remaining -= static_cast<Uint128>(caps_[index].rate()) *
                      static_cast<std::uint64_t>((now_ - flow.settled).ps());
    flow.settled = now_;
  }
  caps_[index] = cap;
}

}  // namespace trunkline
