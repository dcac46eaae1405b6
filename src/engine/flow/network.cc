#include "engine/flow/network.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "trunkline/base/check.h"

namespace trunkline {
namespace {

// Work is counted in rate units x picoseconds: bits x 2^10 x 10^12.
constexpr Uint128 kWorkPerByte =
    static_cast<Uint128>(8) * (1 << FlowRate::kFractionBits) * 1'000'000'000'000;

// now + work / rate, rounded up.
[[gnu::always_inline]] inline Time EndOf(Uint128 work, std::uint64_t rate, Time now) {
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

FlowRate LoneRate(const FlowHop& hop, Rate capacity) {
  // Spares most hops a division of 128 bits.
  if (hop.weight == FlowHop::kOne) return LoneRate(capacity);
  const Uint128 rate = FlowNetwork::Units(capacity) / hop.weight;
  return {static_cast<std::uint64_t>(std::min<Uint128>(rate, INT64_MAX))};
}

FlowRate LoneRate(std::span<const FlowHop> hops, std::span<const Rate> capacities,
                  Rate route_limit) {
  FlowRate rate = LoneRate(route_limit);
  for (const FlowHop& hop : hops) rate = std::min(rate, LoneRate(hop, capacities[hop.resource]));
  return rate;
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

Bytes FlowNetwork::Rest::bytes() const {
  return Bytes(static_cast<std::int64_t>((work + kWorkPerByte - 1) / kWorkPerByte));
}

FlowNetwork::FlowNetwork(std::span<const Rate> capacities) {
  resources_.reserve(capacities.size());
  for (const Rate capacity : capacities) AddResource(capacity);
}

void FlowNetwork::Restart(std::span<const Rate> capacities) {
  std::vector<std::vector<Active>> lists;
  lists.reserve(resources_.size());
  for (Resource& resource : resources_) lists.push_back(std::move(resource.active));
  resources_.clear();
  resources_.reserve(capacities.size());
  for (const Rate capacity : capacities) AddResource(capacity);
  for (std::size_t i = 0; i < std::min(lists.size(), resources_.size()); ++i) {
    lists[i].clear();
    resources_[i].active = std::move(lists[i]);
  }
  bundles_.clear();
  shares_.clear();
  hops_.clear();
  free_.clear();
  buckets_.assign(1, kNobody);
  bucket_mask_ = 0;
  completions_ = EventQueue();
  dirty_.clear();
  changed_.clear();
  pending_.clear();
  now_ = Time();
}

void FlowNetwork::AddResource(Rate capacity) {
  Resource& resource = resources_.emplace_back();
  resource.capacity = Units(capacity);
  resource.spare = static_cast<Int128>(resource.capacity);
}

// --- What is done most often, inline
// --------------------------------------------------------------

inline void FlowNetwork::Settle(std::uint32_t index) {
  Bundle& bundle = bundles_[index];
  bundle.moved += static_cast<Uint128>(shares_[index].cap.rate()) *
                  static_cast<std::uint64_t>((now_ - bundle.settled).ps());
  bundle.settled = now_;
}

[[gnu::always_inline]] inline void FlowNetwork::MarkChanged(std::uint32_t index) {
  if (bundles_[index].changed) return;
  bundles_[index].changed = true;
  bundles_[index].rate_before = shares_[index].cap.rate();
  changed_.push_back(index);
  Settle(index);
}

[[gnu::always_inline]] inline void FlowNetwork::Reschedule(std::uint32_t index) {
  MarkChanged(index);
  bundles_[index].rate_before = 0;
}

// --- Flows that come and go ---------------------------------------------------------------------

[[gnu::always_inline]] inline std::uint32_t FlowNetwork::BundleOf(std::span<const FlowHop> path,
                                                                  FlowRate limit) {
  std::uint64_t hash =
      (reinterpret_cast<std::uintptr_t>(path.data()) ^ (limit.units << 20)) * 0x9E3779B97F4A7C15U;
  hash ^= hash >> 32;
  for (std::uint32_t i = buckets_[hash & bucket_mask_]; i != kNobody; i = bundles_[i].next) {
    if (bundles_[i].path == path.data() && shares_[i].limit == limit.units) return i;
  }
  const std::uint32_t index = TakeBundle(static_cast<std::uint32_t>(path.size()));
  Bundle& bundle = bundles_[index];
  bundle.moved = 0;
  bundle.settled = now_;
  bundle.path = path.data();
  bundle.hash = static_cast<std::uint32_t>(hash);
  bundle.next = std::exchange(buckets_[hash & bucket_mask_], index);
  shares_[index] = {Cap::Limit(limit.units), limit.units};
  for (std::uint32_t i = 0; i < path.size(); ++i) {
    std::vector<Active>& active = resources_[path[i].resource].active;
    const Hop hop = {path[i].weight, path[i].resource, static_cast<std::uint32_t>(active.size())};
    hops_[bundle.first_hop + i] = hop;
    if (i + 1 < path.size()) hops_[bundle.first_hop + bundle.hop_count + i] = hop;
    active.push_back({0, index, bundle.first_hop + i});
  }
  return index;
}

inline std::uint32_t FlowNetwork::TakeBundle(std::uint32_t hop_count) {
  if (hop_count >= free_.size()) free_.resize(hop_count + 1);
  std::vector<std::uint32_t>& free = free_[hop_count];
  if (free.empty()) {
    free.push_back(static_cast<std::uint32_t>(bundles_.size()));
    Bundle bundle;
    bundle.first_hop = static_cast<std::uint32_t>(hops_.size());
    bundle.hop_count = hop_count;
    bundles_.push_back(std::move(bundle));
    shares_.push_back({Cap::Limit(0), 0});
    hops_.resize(hops_.size() + 2 * hop_count - 1);
    if (buckets_.size() <= bundles_.size()) Rehash();
  }
  const std::uint32_t index = free.back();
  free.pop_back();
  return index;
}

inline void FlowNetwork::FreeBundle(std::uint32_t index) {
  const Bundle& bundle = bundles_[index];
  std::uint32_t* link = &buckets_[bundle.hash & bucket_mask_];
  while (*link != index) link = &bundles_[*link].next;
  *link = bundle.next;
  for (const Hop& hop : hops(bundle)) {
    std::vector<Active>& active = resources_[hop.resource].active;
    const Active moved = active.back();
    active[hop.position] = moved;
    hops_[moved.hop].position = hop.position;
    active.pop_back();
  }
  free_[bundle.hop_count].push_back(index);
}

void FlowNetwork::Rehash() {
  buckets_.assign(std::bit_ceil(2 * bundles_.size() + 1), kNobody);
  bucket_mask_ = static_cast<std::uint32_t>(buckets_.size() - 1);
  for (std::uint32_t i = 0; i < bundles_.size(); ++i) {
    Bundle& bundle = bundles_[i];
    if (bundle.flows.empty()) continue;
    bundle.next = std::exchange(buckets_[bundle.hash & bucket_mask_], i);
  }
}

inline void FlowNetwork::MarkDirty(std::uint32_t resource) {
  if (resources_[resource].dirty) return;
  resources_[resource].dirty = true;
  dirty_.push_back(resource);
}

[[gnu::always_inline]] inline std::uint32_t FlowNetwork::Add(std::uint32_t owner,
                                                             std::span<const FlowHop> path,
                                                             FlowRate limit, Uint128 work,
                                                             Time now) {
  TL_CHECK(!path.empty(), "a flow of no hops", owner);
  now_ = now;
  const std::uint32_t index = BundleOf(path, limit);
  Settle(index);
  Bundle& bundle = bundles_[index];
  bundle.flows.push_back({bundle.moved + work, owner});
  if (bundle.flows.size() > 1) std::ranges::push_heap(bundle.flows, std::greater{});
  bool alone = true;
  const Share share = shares_[index];
  for (const Hop& hop : hops(bundle)) {
    Resource& resource = resources_[hop.resource];
    resource.active[hop.position].weight += hop.weight;
    const bool counted = resource.counts();
    resource.spare -= static_cast<Int128>(static_cast<Uint128>(hop.weight) * limit.units);
    resource.contended = resource.spare < 0;
    if (counted) {
      resource.Include(share, hop.weight);
    } else if (resource.contended) {
      Recount(resource, resource.mark);
    }
    if (resource.contended) {
      if (!resource.idle()) MarkDirty(hop.resource);
      alone = false;
    }
  }
  if (alone && !bundle.changed) {
    Schedule(index);
  } else {
    Reschedule(index);
  }
  return index;
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

[[gnu::always_inline]] inline FlowNetwork::Flow FlowNetwork::Drop(std::uint32_t index) {
  Bundle& bundle = bundles_[index];
  if (bundle.flows.size() > 1) std::ranges::pop_heap(bundle.flows, std::greater{});
  const Flow flow = bundle.flows.back();
  bundle.flows.pop_back();
  const Share share = shares_[index];
  for (const Hop& hop : hops(bundle)) {
    Resource& resource = resources_[hop.resource];
    if (resource.counts()) resource.Exclude(share.cap, hop.weight);
    if (resource.level != kNone) MarkDirty(hop.resource);
    resource.spare += static_cast<Int128>(static_cast<Uint128>(hop.weight) * share.limit);
    resource.contended = resource.spare < 0;
    resource.active[hop.position].weight -= hop.weight;
  }
  if (bundle.flows.empty()) FreeBundle(index);
  return flow;
}

FlowNetwork::Ended FlowNetwork::PopCompleted() {
  now_ = next_completion();
  const std::uint32_t index = completions_.next_id();
  Settle(index);
  const Flow flow = Drop(index);
  const Bundle& bundle = bundles_[index];
  if (bundle.flows.empty()) {
    completions_.Pop();
  } else if (bundle.flows.front().goal > bundle.moved) {
    completions_.Pop();
    Reschedule(index);
  }
  return {flow.owner, static_cast<std::uint64_t>(bundle.moved - flow.goal)};
}

std::vector<FlowNetwork::Rest> FlowNetwork::TakeAll(Time now) {
  now_ = now;
  std::vector<Rest> taken;
  while (!completions_.empty()) {
    const std::uint32_t index = completions_.Pop();
    Settle(index);
    const Bundle& bundle = bundles_[index];
    while (!bundle.flows.empty()) {
      const Flow flow = Drop(index);
      taken.push_back({flow.owner, flow.goal - bundle.moved});
    }
  }
  Solve(now);
  return taken;
}

// --- Ends ---------------------------------------------------------------------------------------

// A bundle that slows down keeps its earlier end in the queue, as a lower bound.
inline void FlowNetwork::Schedule(std::uint32_t index) {
  Bundle& bundle = bundles_[index];
  const Time queued = completions_.time_of(index);
  bundle.due = false;
  if (queued != Time::Max()) {
    if (queued <= now_) return;
    const auto before = static_cast<std::uint64_t>((queued - bundle.settled).ps() - 1);
    const Uint128 moved = static_cast<Uint128>(shares_[index].cap.rate()) * before;
    if (bundle.flows.front().goal > bundle.moved + moved) return;
  }
  bundle.due = true;
  completions_.Set(index, NextEnd(index));
}

void FlowNetwork::FindNextEnd() {
  while (!completions_.empty()) {
    const std::uint32_t index = completions_.next_id();
    if (bundles_[index].due) return;
    bundles_[index].due = true;
    completions_.Set(index, NextEnd(index));
  }
}

inline Time FlowNetwork::NextEnd(std::uint32_t index) const {
  const Bundle& bundle = bundles_[index];
  const Uint128 goal = std::max(bundle.flows.front().goal, bundle.moved);
  return EndOf(goal - bundle.moved, shares_[index].cap.rate(), bundle.settled);
}

// --- Solving ------------------------------------------------------------------------------------

// Follows what changes from resource to resource until each has the level that the rates of its
// flows give it. In whatever order, that ends with the rates of progressive filling: take the
// lowest right level m of those that are wrong. A resource that is looked at gets a level of m at
// least, since at worst all flows that are not right yet rise together in it; so rates below m
// that are out of date go, and the resource of level m, whose lower flows are right, gets m.
//
// A flow that is held lower takes less of its other resources, whose levels rise; one that rises is
// in the way of others from its old rate on. That bounds from below where a level is to be sought.
void FlowNetwork::Solve(Time now) {
  if (!needs_solve()) return;
  if (!dirty_.empty()) ++solves_;
  now_ = now;
  for (const std::uint32_t index : dirty_) {
    resources_[index].dirty = false;
    Await(index, 0);
  }
  dirty_.clear();
  for (std::size_t next = 0; next < pending_.size(); ++next) {
    const std::uint32_t index = pending_[next];
    Examine(index, std::exchange(resources_[index].queued, kNone));
  }
  pending_.clear();
  for (const std::uint32_t index : changed_) {
    Bundle& bundle = bundles_[index];
    bundle.changed = false;
    if (bundle.flows.empty()) continue;
    const std::uint64_t rate = shares_[index].cap.rate();
    if (rate > 0 && rate <= bundle.rate_before) {
      bundle.due = false;
    } else {
      Schedule(index);
    }
  }
  changed_.clear();
}

inline void FlowNetwork::Await(std::uint32_t index, std::uint64_t level) {
  Resource& resource = resources_[index];
  if (resource.queued == kNone && level != kNone) pending_.push_back(index);
  resource.queued = std::min(resource.queued, level);
}

// Brings the resource to its level, which is not below `at_least`, if nothing held the flows that
// it holds.
inline void FlowNetwork::Examine(std::uint32_t index, std::uint64_t at_least) {
  Resource& resource = resources_[index];
  if (!resource.contended) {
    if (resource.level != kNone) Release(index);
    return;
  }
  if (const auto likely = resource.LikelyLevel()) {
    if (*likely == kNone) {
      if (resource.level != kNone) Release(index);
    } else if (*likely != resource.level || resource.held != resource.weight) {
      Hold(index, *likely, true);
    }
    return;
  }
  const std::uint64_t level = FindLevel(resource, at_least);
  if (level != kNone) {
    Hold(index, level, false);
  } else if (resource.level != kNone) {
    resource.mark = kNone;
    Release(index);
  } else {
    Recount(resource, kNone);
  }
}

inline std::uint64_t FlowNetwork::FindLevel(const Resource& resource,
                                            std::uint64_t at_least) const {
  for (;;) {
    const Split split = SplitAt(resource, at_least);
    if (split.weight == 0) return kNone;
    at_least = SharedResource::LevelAt(resource.capacity - split.lower, split.weight);
    if (at_least < split.first_to_pass) return at_least;
  }
}

inline FlowNetwork::Split FlowNetwork::SplitAt(const Resource& resource,
                                               std::uint64_t level) const {
  const Cap own = Cap::Held(resource.level);
  Split split;
  for (const Active& active : resource.active) {
    const Share& share = shares_[active.bundle];
    const Cap cap = share.cap == own ? Cap::Limit(share.limit) : share.cap;
    const std::uint64_t passes = cap.passes();
    if (passes <= level) {
      split.lower += static_cast<Uint128>(active.weight) * cap.rate();
    } else {
      split.weight += active.weight;
      split.first_to_pass = std::min(split.first_to_pass, passes);
    }
  }
  return split;
}

// --- What a resource knows of its flows ---------------------------------------------------------

inline void FlowNetwork::Recount(Resource& resource, std::uint64_t mark) {
  resource.IncludeNone(mark);
  for (const Active& active : resource.active) {
    resource.Include(shares_[active.bundle], active.weight);
  }
}

// --- Changes ------------------------------------------------------------------------------------

// Flows whose rate changes settle what they have moved so far. The other resources are to be looked
// at again, from `await` or their level on.
[[gnu::always_inline]] inline void FlowNetwork::Change(const Active& active, Cap cap,
                                                       std::uint64_t await) {
  const std::uint32_t index = active.bundle;
  MarkChanged(index);
  Share& share = shares_[index];
  const Cap before = std::exchange(share.cap, cap);
  const std::uint64_t flows = bundles_[index].flows.size();
  const std::size_t others = bundles_[index].hop_count - 1;
  for (const Hop& hop : std::span(hops_).subspan(active.hop + 1, others)) {
    Resource& other = resources_[hop.resource];
    if (!other.counts()) continue;
    other.Move(before, share, hop.weight * flows);
    if (!other.idle()) Await(hop.resource, std::min(other.level, await));
  }
}

// Lets go of the flows that the resource holds: they rise until something else holds them.
inline void FlowNetwork::Release(std::uint32_t index) {
  Resource& resource = resources_[index];
  const std::uint64_t level = std::exchange(resource.level, kNone);
  resource.held = 0;
  for (const Active& active : resource.active) {
    const Share& share = shares_[active.bundle];
    if (share.cap == Cap::Held(level)) Change(active, Cap::Limit(share.limit), level);
  }
  // By the mark that Hold sets, they are among the others as before.
  if (resource.mark != level) Recount(resource, resource.mark);
}

// Holds the flows of the resource that would pass `level`, and takes those that it holds there.
// `as_before`: the lower flows stay the lower ones, and it holds all others, as it is most often.
void FlowNetwork::Hold(std::uint32_t index, std::uint64_t level, bool as_before) {
  Resource& resource = resources_[index];
  const std::uint64_t before = std::exchange(resource.level, level);
  const std::uint64_t await = level > before ? before : kNone;
  for (const Active& active : resource.active) {
    const Share& share = shares_[active.bundle];
    // With one branch: which flows change, nobody could predict.
    const bool own = share.cap == Cap::Held(before);
    const Cap free = own ? Cap::Limit(share.limit) : share.cap;
    const Cap cap = free.passes() > level ? Cap::Held(level) : free;
    if (cap != share.cap) Change(active, cap, own ? await : kNone);
  }
  if (as_before) {
    resource.mark = level;
    resource.held = resource.weight;
  } else {
    Recount(resource, level);
  }
}

}  // namespace trunkline
