#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "base/none.h"
#include "engine/flow/detour_split.h"
#include "engine/flow/link_use.h"
#include "engine/flow/network.h"
#include "engine/hop_class.h"
#include "trunkline/engine/traffic.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

std::vector<Rate> CapacitiesOf(const Router& router) {
  std::vector<Rate> capacities;
  const std::size_t count = router.fabric().resource_count();
  capacities.reserve(count);
  for (std::size_t i = 0; i < count; ++i) capacities.push_back(router.capacity(ResourceId(i)));
  return capacities;
}

std::vector<FlowHop> FlowHops(std::span<const Hop> hops) {
  std::vector<FlowHop> made;
  for (const Hop& hop : hops) {
    made.push_back({static_cast<std::uint32_t>(Index(hop.resource)),
                    static_cast<std::uint64_t>(hop.weight * static_cast<double>(FlowHop::kOne))});
  }
  return made;
}

// The resources that flows have crossed so far, numbered as they came: of a fabric of thousands,
// some hundreds.
class CrossedResources {
 public:
  // Takes hops to these numbers, and back.
  void Number(std::span<FlowHop> hops, std::span<const Rate> capacities) {
    for (FlowHop& hop : hops) {
      if (hop.resource >= numbers_.size()) numbers_.resize(capacities.size(), kNone);
      std::uint32_t& number = numbers_[hop.resource];
      if (number == kNone) {
        number = static_cast<std::uint32_t>(resources_.size());
        resources_.push_back(hop.resource);
        capacities_.push_back(capacities[hop.resource]);
      }
      hop.resource = number;
    }
  }
  void Restore(std::span<FlowHop> hops) const {
    for (FlowHop& hop : hops) hop.resource = resources_[hop.resource];
  }
  [[nodiscard]] std::span<const Rate> capacities() const { return capacities_; }

 private:
  std::vector<std::uint32_t> numbers_;    // by resource; kNone: not crossed
  std::vector<std::uint32_t> resources_;  // by number
  std::vector<Rate> capacities_;          // by number
};

class FlowTrafficRun {
 public:
  FlowTrafficRun(const Router& router, const TrafficWorkload& traffic, const Placement& placement,
                 const FlowTrafficOptions& options)
      : router_(router),
        traffic_(traffic),
        placement_(placement),
        options_(options),
        capacities_(CapacitiesOf(router)),
        network_(capacities_),
        carried_(capacities_.size(), 0),
        hops_(traffic.flows.size()),
        latencies_(traffic.flows.size()),
        activations_(traffic.triggers.size(), 0),
        divides_(JudgesByQueues(router.options().policy)) {
    report_.flows.resize(traffic.flows.size());
    if (divides_) parts_.resize(traffic.flows.size());
  }

  Result<FlowTrafficReport> Run();

 private:
  struct Event {
    enum class Kind : std::uint8_t { kPost, kDeliver, kAcknowledge };
    Time time;
    Kind kind = Kind::kPost;
    std::uint32_t flow = 0;
    bool operator>(const Event& other) const {
      return std::tie(time, kind, flow) > std::tie(other.time, other.kind, other.flow);
    }
  };

  void Await(Time now, Time delay, Event::Kind kind, std::uint32_t flow);
  void Handle(const Event& event);
  void Post(std::uint32_t flow, Time now);
  void MeetParts(std::span<const Hop> hops);
  void Activate(std::uint32_t trigger, Time now);
  // The next thing that happens.
  [[nodiscard]] Time NextTime() {
    const Time next = network_.next_completion();
    return events_.empty() ? next : std::min(next, events_.top().time);
  }
  void Advance(Time now);
  void Divide(Time now);
  void Carry(std::uint32_t flow, Bytes moved);
  [[nodiscard]] bool MustStop();

  const Router& router_;
  const TrafficWorkload& traffic_;
  const Placement& placement_;
  const FlowTrafficOptions& options_;
  std::vector<Rate> capacities_;  // by ResourceId, as those of network_ and carried_
  FlowNetwork network_;
  std::vector<Uint128> carried_;            // by ResourceId, in units of FlowHop's weight
  std::vector<std::vector<FlowHop>> hops_;  // by flow, while it moves: as it does now
  std::vector<Time> latencies_;             // by flow: of its route
  std::vector<std::uint32_t> activations_;  // by trigger
  // Of a flow that may leave its minimal path in part, by the numbers of crossed_.
  struct Parts {
    std::vector<FlowHop> minimal;
    Ways detours;
    FlowRate limit;
    Bytes moved{0};  // whole bytes that carried_ has
  };
  bool divides_;
  bool changed_ = false;  // flows have come or gone since they were divided
  CrossedResources crossed_;
  FlowNetwork room_{{}};              // for Divide
  std::vector<Parts> parts_;          // by flow, while it moves; empty unless divides_
  std::vector<std::uint32_t> fresh_;  // posted now, and not divided yet
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::size_t acknowledged_ = 0;
  std::uint64_t next_look_ = 0;  // in events
  Diagnostics problems_;
  FlowTrafficReport report_;
};

// What comes later than any run lasts never comes.
void FlowTrafficRun::Await(Time now, Time delay, Event::Kind kind, std::uint32_t flow) {
  if (delay > Time::Horizon() - now) return;
  events_.push({now + delay, kind, flow});
}

// Parts of trunks that a route is the first to cross.
void FlowTrafficRun::MeetParts(std::span<const Hop> hops) {
  for (const Hop& hop : hops) {
    while (Index(hop.resource) >= capacities_.size()) {
      capacities_.push_back(router_.capacity(ResourceId(capacities_.size())));
      network_.AddResource(capacities_.back());
      carried_.push_back(0);
    }
  }
}

void FlowTrafficRun::Post(std::uint32_t index, Time now) {
  const TrafficFlow& flow = traffic_.flows[index];
  const auto route = router_.FindRoute(placement_.endpoint(flow.source),
                                       placement_.endpoint(flow.destination), index);
  if (!route) {
    problems_.insert(problems_.end(), route.error().begin(), route.error().end());
    return;
  }
  MeetParts(route->hops);
  std::vector<FlowHop> hops = FlowHops(route->hops);
  RouteCost cost{route->limit, route->latency};
  if (options_.transport != nullptr) {
    cost = CostOf(*route, HopClassOf(router_.fabric(), *route), *options_.transport);
    cost.latency += options_.transport->message_overhead;
  }
  if (flow.read) cost.latency += route->latency;  // the request's way
  const FlowRate limit = LoneRate(hops, capacities_, cost.limit);
  std::uint64_t surplus = 0;
  const Time alone = FluidTime(flow.bytes, limit, surplus);
  latencies_[index] = cost.latency;
  FlowRecord& record = report_.flows[index];
  record.posted = now;
  record.alone = alone == Time::Max() ? alone : alone + cost.latency;
  if (!divides_) {
    network_.Start(index, hops, limit, flow.bytes, now);
    hops_[index] = std::move(hops);
    return;
  }
  crossed_.Number(hops, capacities_);
  parts_[index] = {.minimal = std::move(hops), .detours = {}, .limit = limit};
  for (const std::vector<Hop>& way : router_.FindDetours(
           placement_.endpoint(flow.source), placement_.endpoint(flow.destination), index)) {
    std::vector<FlowHop> detour = FlowHops(way);
    crossed_.Number(detour, capacities_);
    parts_[index].detours.Add(detour);
  }
  fresh_.push_back(index);
  changed_ = true;
}

// What has moved since the last call, of a flow that has moved so much in all.
void FlowTrafficRun::Carry(std::uint32_t flow, Bytes moved) {
  Bytes before;
  if (divides_) before = std::exchange(parts_[flow].moved, moved);
  const auto bytes = static_cast<Uint128>((moved - before).count());
  for (const FlowHop& hop : hops_[flow]) carried_[hop.resource] += bytes * hop.weight;
}

// Divides all flows between their minimal paths and detours anew.
void FlowTrafficRun::Divide(Time now) {
  changed_ = false;
  network_.Solve(now);
  std::vector<FlowNetwork::Rest> flows = network_.TakeAll(now);
  for (const FlowNetwork::Rest& rest : flows) {
    Carry(rest.owner, traffic_.flows[rest.owner].bytes - rest.bytes());
  }
  for (const std::uint32_t flow : fresh_) flows.push_back({.owner = flow});
  fresh_.clear();
  std::ranges::sort(flows, {}, &FlowNetwork::Rest::owner);
  std::vector<DividedFlow> divided;
  for (const FlowNetwork::Rest& rest : flows) {
    const Parts& parts = parts_[rest.owner];
    divided.push_back({parts.minimal, &parts.detours, parts.limit});
  }
  const std::vector<DividedRate> rates = DivideFlows(divided, crossed_.capacities(), room_);
  HopSum sum;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const std::uint32_t flow = flows[i].owner;
    const FlowRate both = rates[i].sum();
    hops_[flow] = HopsOf(divided[i], rates[i], sum);
    crossed_.Restore(hops_[flow]);
    if (flows[i].work == 0) {  // posted now
      network_.Start(flow, hops_[flow], both, traffic_.flows[flow].bytes, now);
    } else {
      network_.Resume(flows[i], hops_[flow], both, now);
    }
  }
}

void FlowTrafficRun::Activate(std::uint32_t trigger, Time now) {
  const auto start = [&](std::uint32_t flow) {
    Await(now, traffic_.flows[flow].start, Event::Kind::kPost, flow);
  };
  while (trigger != TrafficFlow::kNoTrigger) {
    const TrafficTrigger& what = traffic_.triggers[trigger];
    const std::uint32_t nth = ++activations_[trigger];
    if (what.kind == TrafficTrigger::Kind::kMultiShot) {
      if (nth <= what.flows.size()) start(what.flows[nth - 1]);
      return;
    }
    if (nth != (what.kind == TrafficTrigger::Kind::kBarrier ? what.count : 1)) return;
    std::ranges::for_each(what.flows, start);
    trigger = what.then;
  }
}

void FlowTrafficRun::Handle(const Event& event) {
  FlowRecord& record = report_.flows[event.flow];
  switch (event.kind) {
    case Event::Kind::kPost:
      Post(event.flow, event.time);
      break;
    case Event::Kind::kDeliver:
      record.delivered = event.time;
      report_.end = event.time;
      Activate(traffic_.flows[event.flow].when_received, event.time);
      Await(event.time, latencies_[event.flow], Event::Kind::kAcknowledge, event.flow);
      break;
    case Event::Kind::kAcknowledge:
      record.acknowledged = event.time;
      ++acknowledged_;
      Activate(traffic_.flows[event.flow].when_sent, event.time);
      break;
  }
}

// Everything that happens at `now`; rates are solved once it has.
void FlowTrafficRun::Advance(Time now) {
  while (network_.next_completion() == now) {
    const std::uint32_t flow = network_.PopCompleted().owner;
    Carry(flow, traffic_.flows[flow].bytes);
    std::vector<FlowHop>().swap(hops_[flow]);
    if (divides_) parts_[flow] = {};
    changed_ = divides_;
    Await(now, latencies_[flow], Event::Kind::kDeliver, flow);
    ++report_.events;
  }
  while (!events_.empty() && events_.top().time == now) {
    const Event event = events_.top();
    events_.pop();
    Handle(event);
    ++report_.events;
  }
  if (changed_) Divide(now);
  network_.Solve(now);
}

bool FlowTrafficRun::MustStop() {
  constexpr std::uint64_t kEventsBetweenLooks = 1 << 10;
  if (report_.events < next_look_) return false;
  next_look_ = report_.events + kEventsBetweenLooks;
  if (options_.progress != nullptr) {
    options_.progress->Update(
        static_cast<double>(acknowledged_) / static_cast<double>(traffic_.flows.size()),
        "sharing links");
  }
  return options_.stop != nullptr && options_.stop->stop_requested();
}

Result<FlowTrafficReport> FlowTrafficRun::Run() {
  if (traffic_.ranks > placement_.rank_count()) {
    return Error("TL1600",
                 fmt::format("the traffic has {} ranks and the placement {}", traffic_.ranks,
                             placement_.rank_count()),
                 "place every rank");
  }
  for (std::uint32_t i = 0; i < traffic_.flows.size(); ++i) {
    if (traffic_.flows[i].trigger == TrafficFlow::kNoTrigger) {
      Await(Time(), traffic_.flows[i].start, Event::Kind::kPost, i);
    }
  }
  Time next = NextTime();
  while (problems_.empty() && next < options_.until) {
    Advance(next);
    next = NextTime();
    if (MustStop()) {
      report_.status = RunStatus::kInterrupted;
      break;
    }
  }
  if (!problems_.empty()) return std::unexpected(std::move(problems_));
  if (acknowledged_ < traffic_.flows.size() && report_.status == RunStatus::kFinished) {
    if (options_.until >= Time::Horizon()) {
      return Error("TL1602", "simulated time passes 100 days",
                   "look for a rate or a size that is off by orders of magnitude");
    }
    report_.status = RunStatus::kUnfinished;
    report_.end = options_.until;
  }
  report_.solves = network_.solves();
  report_.links = LinkUses(router_, carried_);
  return std::move(report_);
}

}  // namespace

Result<FlowTrafficReport> RunFlowTraffic(const Router& router, const TrafficWorkload& traffic,
                                         const Placement& placement,
                                         const FlowTrafficOptions& options) {
  return FlowTrafficRun(router, traffic, placement, options).Run();
}

}  // namespace trunkline
