#include "scenario/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

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

Result<CollectiveChoice> Choose(const CollectiveChoice& choice, const Wishes& wishes,
                                const Router& router, const TransportModel& transport,
                                const Placement& placement, const std::vector<RankId>& members) {
  (void)transport;
  CollectiveChoice chosen = choice;
  const GroupLayout layout = LayoutOf(router.fabric(), placement, members);
  if (chosen.algorithm == "auto") {
    const auto able = std::ranges::find_if(Algorithms(), [&](const Algorithm& algorithm) {
      return algorithm.supports(choice.spec.primitive);
    });
    if (able == Algorithms().end()) {
      return Error("TL1207", fmt::format("no algorithm does {}", ToString(choice.spec.primitive)),
                   "`trunkline catalog algorithms` lists what each does");
    }
    chosen.algorithm = able->name;
  }
  if (wishes.protocol) chosen.protocol = *wishes.protocol;
  if (wishes.channels > 0) {
    chosen.spec.channels = wishes.channels;
  } else if (layout.uniform() && layout.node_count() > 1) {
    // A ring a rail, so that every NIC of a node carries one.
    chosen.spec.channels = layout.size() / layout.node_count();
  }
  return chosen;
}

Result<std::vector<CollectiveChoice>> ChooseAll(const TaskGraph& graph, const Router& router,
                                                const TransportModel& transport,
                                                const Placement& placement) {
  std::vector<CollectiveChoice> choices(graph.collectives().begin(), graph.collectives().end());
  std::vector<char> done(choices.size(), 0);
  std::vector<char> seen(graph.program_count(), 0);
  for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
    const std::uint32_t index = graph.program_of(RankId{r});
    if (seen[index] != 0) continue;
    seen[index] = 1;
    for (const Task& task : graph.program(index).tasks) {
      if (task.kind != TaskKind::kCollective || done[task.collective] != 0) continue;
      done[task.collective] = 1;
      auto chosen = Choose(choices[task.collective], {}, router, transport, placement,
                           graph.members(graph.communicator(RankId{r}, task.role)));
      if (!chosen) return std::unexpected(chosen.error());
      choices[task.collective] = std::move(*chosen);
    }
  }
  return choices;
}

}  // namespace trunkline
