#include "engine/packet/traffic_plant.h"

#include <algorithm>

#include "engine/packet/ends_ahead.h"
#include "engine/packet/fault_plan.h"
#include "engine/packet/triggers.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

// How many moments there are at which flows start by themselves, counted up to `most`.
std::size_t CountStarts(const TrafficWorkload& traffic, std::size_t most) {
  std::vector<Time> starts;
  for (const TrafficFlow& flow : traffic.flows) {
    if (starts.size() == most) break;
    if (flow.trigger != TrafficFlow::kNoTrigger) continue;
    if (std::ranges::find(starts, flow.start) == starts.end()) starts.push_back(flow.start);
  }
  return starts.size();
}

}  // namespace

// Each flow is looked for among the starts found, so that few are counted.
Plant BuildTrafficPlant(const PacketInput& input, const NetworkPaths& paths,
                        const TrafficWorkload& traffic, const Placement& placement,
                        std::vector<CableChange> faults, bool may_run_ahead) {
  constexpr std::size_t kManyStarts = 64;
  const Fabric& fabric = input.router.fabric();
  Plant plant = BuildFaultyPlant(input, paths, std::move(faults));
  if (CountStarts(traffic, kManyStarts) == kManyStarts) return plant;
  const Time delay = Triggers::LeastDelay(traffic);
  if (delay != Time::Max()) {  // there are triggers
    const bool attached = std::ranges::count(FindPostingLinks(fabric, placement), kNoIndex) == 0;
    if (!attached || !Triggers::AreInAnyOrder(traffic)) return plant;
  }
  Zones zones = FindZones(plant, fabric);
  if (zones.window <= delay && AreWorthwhile(zones, plant)) {
    plant.zones = std::move(zones);
  } else if (may_run_ahead && LeastNotice(plant) <= delay) {
    // Requests of reads have timers.
    const bool reads = std::ranges::any_of(traffic.flows, &TrafficFlow::read);
    if (!reads) plant.host_of_link = FindHosts(plant, fabric);
  }
  return plant;
}

std::vector<std::uint32_t> FindPostingLinks(const Fabric& fabric, const Placement& placement) {
  std::vector<std::uint32_t> links;
  for (std::size_t rank = 0; rank < placement.rank_count(); ++rank) {
    std::uint32_t& first = links.emplace_back(kNoIndex);
    for (const LinkId link : fabric.out(placement.endpoint(RankId(rank)))) {
      if (fabric.link(link).kind != LinkKind::kNetwork) continue;
      first = static_cast<std::uint32_t>(Index(link));
      break;
    }
  }
  return links;
}

// Each hop of a packet takes as long as another, and to send or receive it about as long again. Of
// many flows a share is looked at.
std::vector<std::uint64_t> WorkOf(const Router& router, const TrafficWorkload& traffic,
                                  const Placement& placement, std::uint32_t parts) {
  constexpr std::size_t kMostFlows = 8192;
  std::vector<std::uint64_t> work;
  if (parts == 1) return work;
  const Fabric& fabric = router.fabric();
  work.resize(fabric.device_count(), 0);
  const std::size_t flows = traffic.flows.size();
  for (std::size_t i = 0; i < std::min(flows, kMostFlows); ++i) {
    // At random: flows that follow one another at a distance may be of few ranks.
    const TrafficFlow& flow = traffic.flows[flows <= kMostFlows ? i : Mix64(i) % flows];
    const DeviceId destination = placement.endpoint(flow.destination);
    const auto path = router.FindPath(placement.endpoint(flow.source), destination, i);
    if (!path) continue;  // the run will say so
    const auto amount = static_cast<std::uint64_t>(flow.bytes.count()) + 1;
    for (const LinkId link : *path) work[Index(fabric.link(link).from)] += amount;
    work[Index(placement.endpoint(flow.source))] += amount;
    work[Index(destination)] += 2 * amount;
  }
  return work;
}

}  // namespace trunkline
