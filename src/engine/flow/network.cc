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

std::uint64_t LevelAt(Uint128 left, std::uint64_t weight) {
  return static_cast<std::uint64_t>(std::min<Uint128>(left / weight, INT64_MAX));
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
    shares_.push_back({Cap::Limit(0), 0});
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
  flow.remaining = work;
  flow.settled = now;
  shares_[index] = {Cap::Limit(limit.units), limit.units};
  bool alone = true;
  for (std::uint32_t i = 0; i < path.size(); ++i) {
    Resource& resource = resources_[path[i].resource];
    resource.demand += static_cast<Uint128>(path[i].weight) * limit.units;
    resource.contended = resource.demand > resource.capacity;
    hops_[flow.first_hop + i] = {path[i].weight, path[i].resource,
                                 static_cast<std::uint32_t>(resource.active.size())};
    resource.active.push_back({path[i].weight, index, flow.first_hop + i});
    if (resource.contended) {
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
  return {flow.owner, Surplus(flow.remaining, shares_[index].cap.rate(), now - flow.settled)};
}

std::vector<FlowNetwork::Rest> FlowNetwork::TakeAll(Time now) {
  std::vector<Rest> taken;
  while (!completions_.empty()) {
    const std::uint32_t index = completions_.Pop();
    const Flow& flow = flows_[index];
    const auto elapsed = static_cast<std::uint64_t>((now - flow.settled).ps());
    taken.push_back(
        {flow.owner, flow.remaining - static_cast<Uint128>(shares_[index].cap.rate()) * elapsed});
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
    resource.demand -= static_cast<Uint128>(hop.weight) * shares_[index].limit;
    resource.contended = resource.demand > resource.capacity;
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
  const std::uint64_t rate = shares_[index].cap.rate();
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

void FlowNetwork::FindNextEnd() {
  while (!completions_.empty()) {
    const std::uint32_t index = completions_.next_id();
    Flow& flow = flows_[index];
    if (flow.due) return;
    flow.due = true;
    completions_.Set(index, EndOf(flow.remaining, shares_[index].cap.rate(), flow.settled));
  }
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
  for (const std::uint32_t index : dirty_) {
    resources_[index].dirty = false;
    Await(index, 0);
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
  const std::uint64_t level = resource.known ? at_least : LevelOf(resource, at_least);
  resource.known = false;
  if (resource.level != kNone && level > resource.level) Release(index);
  if (level == kNone) return;
  if (!pending_.empty() && pending_.front().level < level) {
    Await(index, level);
    resource.known = true;
  } else {
    Hold(index, level);
  }
}

// The level of `resource`, which is not below `at_least`, if nothing held the flows that it holds.
std::uint64_t FlowNetwork::LevelOf(const Resource& resource, std::uint64_t at_least) const {
  // Most often the flows that were lower are. So they are if the level comes out between them and
  // the others, and so far above them that rounding cannot make it stop at one of theirs.
  const Split likely = SplitAt(resource, resource.level);
  if (likely.lower <= resource.capacity) {
    const Uint128 left = resource.capacity - likely.lower;
    if (likely.weight == 0) {
      if (left >= likely.lower_weight) return kNone;
    } else {
      const std::uint64_t level = LevelAt(left, likely.weight);
      if (level >= likely.highest && level < likely.first_to_pass &&
          static_cast<Uint128>(level - likely.highest) * likely.weight >=
              static_cast<Uint128>(likely.lower_weight) + likely.weight) {
        return level;
      }
    }
  }
  for (;;) {
    const Split split = SplitAt(resource, at_least);
    if (split.weight == 0) return kNone;
    at_least = LevelAt(resource.capacity - split.lower, split.weight);
    if (at_least < split.first_to_pass) return at_least;
  }
}

FlowNetwork::Split FlowNetwork::SplitAt(const Resource& resource, std::uint64_t level) const {
  const Cap own = Cap::Held(resource.level);
  Split split;
  for (const Active& active : resource.active) {
    const Share& share = shares_[active.flow];
    const Cap cap = share.cap == own ? Cap::Limit(share.limit) : share.cap;
    const std::uint64_t passes = cap.passes();
    if (passes <= level) {
      split.lower += static_cast<Uint128>(active.weight) * cap.rate();
      split.lower_weight += active.weight;
      split.highest = std::max(split.highest, passes);
    } else {
      split.weight += active.weight;
      split.first_to_pass = std::min(split.first_to_pass, passes);
    }
  }
  return split;
}

// Lets go of the flows that the resource holds: they rise until something else holds them.
void FlowNetwork::Release(std::uint32_t index) {
  Resource& resource = resources_[index];
  const std::uint64_t level = resource.level;
  for (const Active& active : resource.active) {
    if (shares_[active.flow].cap != Cap::Held(level)) continue;
    Change(active.flow, Cap::Limit(shares_[active.flow].limit));
    for (const Hop& hop : hops(flows_[active.flow])) {
      if (hop.resource == index) continue;
      Resource& other = resources_[hop.resource];
      other.known = false;
      if (other.contended || other.level != kNone) Await(hop.resource, level);
    }
  }
  resource.level = kNone;
}

// Holds the flows of the resource that would pass `level`.
void FlowNetwork::Hold(std::uint32_t index, std::uint64_t level) {
  Resource& resource = resources_[index];
  resource.level = level;
  for (const Active& active : resource.active) {
    const Cap cap = shares_[active.flow].cap;
    if (cap.passes() <= level || cap == Cap::Held(level)) continue;
    Change(active.flow, Cap::Held(level));
    for (const Hop& hop : hops(flows_[active.flow])) {
      if (hop.resource == index) continue;
      Resource& other = resources_[hop.resource];
      other.known = false;
      if (other.level != kNone) Await(hop.resource, other.level);
    }
  }
}

// Flows whose rate changes settle what they have moved so far.
void FlowNetwork::Change(std::uint32_t index, Cap cap) {
  Flow& flow = flows_[index];
  if (!flow.changed) {
    flow.changed = true;
    changed_.push_back(index);
    flow.remaining -= static_cast<Uint128>(shares_[index].cap.rate()) *
                      static_cast<std::uint64_t>((now_ - flow.settled).ps());
    flow.settled = now_;
  }
  shares_[index].cap = cap;
}

}  // namespace trunkline
