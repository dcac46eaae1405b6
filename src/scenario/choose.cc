#include "scenario/choose.h"

#include <algorithm>
#include <map>

#include "trunkline/fabric/accelerator.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {

GroupLayout LayoutOf(const Fabric& fabric, const Placement& placement,
                     const std::vector<RankId>& members) {
  GroupLayout layout;
  std::map<std::uint32_t, std::uint32_t> dense;  // node of the fabric -> in order of appearance
  for (const RankId rank : members) {
    const Device& device = fabric.device(placement.endpoint(rank));
    const auto next = static_cast<std::uint32_t>(dense.size());
    layout.node.push_back(dense.emplace(device.node, next).first->second);
    layout.local.push_back(device.local);
  }
  return layout;
}

namespace {

// The slowest kind of bus that a path inside a node crosses.
HopClass ClassOf(const Fabric& fabric, const std::vector<LinkId>& path) {
  const bool peripheral = std::ranges::any_of(path, [&](LinkId link) {
    const LinkKind kind = fabric.link(link).kind;
    return kind == LinkKind::kPcie || kind == LinkKind::kSocket;
  });
  return peripheral ? HopClass::kPcie : HopClass::kNvlink;
}

}  // namespace

Result<GroupNetwork> NetworkOf(const ChoiceInput& input, const GroupLayout& layout,
                               const std::vector<RankId>& members) {
  GroupNetwork network;
  const DeviceId first = input.placement.endpoint(members.front());
  bool inside = false;
  bool outside = false;
  std::uint32_t in_first_node = 1;
  for (std::uint32_t i = 1; i < layout.size(); ++i) {
    const bool same_node = layout.node[i] == layout.node[0];
    in_first_node += same_node ? 1 : 0;
    if (same_node ? inside : outside) continue;
    const DeviceId other = input.placement.endpoint(members[i]);
    const auto route = input.router.FindRoute(first, other, 0);
    if (!route) return std::unexpected(route.error());
    if (same_node) {
      const auto path = input.router.FindPath(first, other, 0);
      if (!path) return std::unexpected(path.error());
      inside = true;
      network.inside = route->limit;
      network.inside_latency = route->latency;
      network.inside_hop = ClassOf(input.router.fabric(), *path);
    } else {
      outside = true;
      network.outside = route->limit;
      network.outside_latency = route->latency;
    }
  }
  network.node_outside = network.outside * std::max(1U, std::min(in_first_node, input.node.nics));
  if (const auto gpu = FindAccelerator(input.node.accelerator))
    network.generation = gpu->generation;
  return network;
}

Result<Chosen> Choose(const ChoiceInput& input, const CollectiveChoice& choice,
                      const TunerLimits& limits, const std::vector<RankId>& members) {
  const GroupLayout layout = LayoutOf(input.router.fabric(), input.placement, members);
  const auto network = NetworkOf(input, layout, members);
  if (!network) return std::unexpected(network.error());
  auto candidates = RankCandidates(choice.spec, layout, *network, input.transport, limits);
  if (!candidates) return std::unexpected(candidates.error());
  const TunerCandidate& best = candidates->front();
  Chosen chosen{choice, {}};
  chosen.choice.algorithm = best.algorithm;
  chosen.choice.protocol = best.protocol;
  chosen.choice.spec.channels = best.channels;
  chosen.candidates = std::move(*candidates);
  return chosen;
}

Result<std::vector<Chosen>> ChooseAll(const ChoiceInput& input, const TaskGraph& graph) {
  std::vector<Chosen> all(graph.collectives().size());
  std::vector<char> done(all.size(), 0);
  std::vector<char> seen(graph.program_count(), 0);
  for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
    const std::uint32_t index = graph.program_of(RankId{r});
    if (seen[index] != 0) continue;
    seen[index] = 1;
    for (const Task& task : graph.program(index).tasks) {
      if (task.kind != TaskKind::kCollective || done[task.collective] != 0) continue;
      done[task.collective] = 1;
      const CollectiveChoice& open = graph.collectives()[task.collective];
      TunerLimits limits;
      if (open.algorithm != "auto") limits.algorithm = open.algorithm;
      auto chosen =
          Choose(input, open, limits, graph.members(graph.communicator(RankId{r}, task.role)));
      if (!chosen) return std::unexpected(chosen.error());
      all[task.collective] = std::move(*chosen);
    }
  }
  return all;
}

}  // namespace trunkline
