#include "engine/packet/fault_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/packet/packet_network.h"
#include "fabric/faults.h"
#include "trunkline/base/check.h"

namespace trunkline {

Fabric Detour::Rebuild(const Fabric& whole) {
  std::vector<Rate> rates;
  for (std::size_t i = 0; i < whole.link_count(); ++i) rates.push_back(whole.link(LinkId(i)).rate);
  return RebuildFabric(whole, down_, rates, original_);
}

Detour::Detour(const Router& whole, std::vector<bool> down, const Plant& plant)
    : down_(std::move(down)),
      fabric_(Rebuild(whole.fabric())),
      router_(fabric_, whole.options()),
      paths_(fabric_) {
  if (plant.forwarding == Forwarding::kGroups) {
    groups_ = std::make_unique<GroupRoutes>(fabric_, original_);
  } else if (plant.forwarding != Forwarding::kSource) {
    ports_ = std::make_unique<PortTable>(fabric_, paths_, IndexSwitches(fabric_), original_);
  }
  if (plant.escape != nullptr) {
    escape_ = std::make_unique<EscapeTable>(fabric_, paths_, IndexSwitches(fabric_), original_);
  }
}

std::vector<std::uint32_t> Detour::FindPath(DeviceId source, DeviceId destination,
                                            std::uint64_t flow) const {
  std::vector<std::uint32_t> links;
  const auto path = router_.FindPath(source, destination, flow);
  if (!path) return links;
  for (const LinkId link : *path) {
    if (fabric_.link(link).kind != LinkKind::kNetwork) continue;
    links.push_back(static_cast<std::uint32_t>(Index(original_[Index(link)])));
  }
  return links;
}

Time FaultPlan::last() const {
  Time last;
  for (const CableChange& change : changes) last = std::max(last, change.at);
  for (const Epoch& epoch : epochs) last = std::max(last, epoch.at);
  return last;
}

const FaultPlan::Move& FaultPlan::MoveBy(std::uint32_t queue_pair, std::uint32_t epoch) const {
  const auto after = std::ranges::upper_bound(moves[queue_pair], epoch, {}, &Move::epoch);
  return *std::prev(after);
}

namespace {

// The moments when routing moves; cables that are down together make one detour.
void PlanEpochs(FaultPlan& plan, const Router& router, Time rerouting, const Plant& plant) {
  std::map<std::vector<bool>, std::uint32_t> known;
  known.emplace(std::vector<bool>(router.fabric().link_count(), false), kNoIndex);
  ForEachOutage(router.fabric(), plan.changes, [&](Time at, const std::vector<bool>& down) {
    const auto [entry, is_new] =
        known.try_emplace(down, static_cast<std::uint32_t>(plan.detours.size()));
    if (is_new) plan.detours.push_back(std::make_unique<Detour>(router, down, plant));
    plan.epochs.push_back({at + rerouting, entry->second});
  });
}

}  // namespace

void PlanFaults(Plant& plant, const Router& router, std::vector<CableChange> changes,
                std::optional<Time> rerouting) {
  if (changes.empty()) return;
  plant.can_lose = plant.can_lose || std::ranges::any_of(changes, [](const CableChange& change) {
                     return change.down || change.frame_loss > 0 || change.bit_errors > 0;
                   });
  plant.health.resize(plant.ports.size());
  for (std::size_t i = 0; i < plant.health.size(); ++i) {
    plant.health[i].frame_loss = plant.switches_model.frame_loss;
    plant.health[i].rate = plant.details[i].wire.rate();
  }
  auto plan = std::make_shared<FaultPlan>();
  plan->fabric = &router.fabric();
  plan->changes = std::move(changes);
  if (rerouting) PlanEpochs(*plan, router, *rerouting, plant);
  plant.faults = std::move(plan);
}

Plant BuildFaultyPlant(const PacketInput& input, const NetworkPaths& paths,
                       std::vector<CableChange> changes) {
  Plant plant = BuildPlant(input.router, paths, input.switches, input.transport, !changes.empty());
  PlanFaults(plant, input.router, std::move(changes), input.rerouting);
  return plant;
}

void PlanMoves(Plant& plant, std::uint32_t index, std::span<const std::uint32_t> links,
               DeviceId source, DeviceId destination) {
  FaultPlan& plan = *plant.faults;
  const Sender& sender = plant.senders[index];
  auto& moves = plan.moves[index];
  moves = {{.epoch = 0,
            .path = sender.path,
            .link = sender.link,
            .hops = plant.paths[index].hops,
            .base_rtt = plant.paths[index].base_rtt}};
  const bool source_routed = plant.forwarding == Forwarding::kSource;
  for (std::uint32_t epoch = 1; epoch <= plan.epochs.size(); ++epoch) {
    FaultPlan::Move move = moves.front();
    if (const std::uint32_t detour = plan.epochs[epoch - 1].detour; detour != kNoIndex) {
      Detour& over = *plan.detours[detour];
      const bool whole =
          std::ranges::none_of(links, [&](std::uint32_t link) { return over.down(link); });
      if (!source_routed || !whole) {
        const auto path = over.FindPath(source, destination, index);
        if (!source_routed) over.destinations[index] = plant.destinations[index];
        if (path.empty()) {
          // What is still on its way to either end has none.
          if (!source_routed) {
            Destination& to = over.destinations[index];
            to.receiver().group = to.sender().group = kNoIndex;
          }
          continue;
        }
        move = {.path = static_cast<std::uint32_t>(plant.path_links.size()),
                .link = path.front(),
                .hops = static_cast<std::uint32_t>(path.size()),
                .base_rtt = plant.transport.base_rtt.value_or(RoundTripOf(plant, path))};
        if (source_routed) {
          AppendPath(plant, *plan.fabric, path);
        } else {
          Destination& to = over.destinations[index];
          to.receiver().group = over.paths().destination(destination);
          to.receiver().last_link = path.back();
          to.sender().group = over.paths().destination(source);
          to.sender().last_link = path.front() ^ 1U;
        }
      }
    }
    move.epoch = epoch;
    moves.push_back(move);
  }
}

}  // namespace trunkline
