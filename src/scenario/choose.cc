#include "scenario/choose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "engine/alike.h"
#include "trunkline/collective/algorithm.h"
#include "trunkline/fabric/accelerator.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {

GroupLayout LayoutOf(const Fabric& fabric, const Placement& placement,
                     const std::vector<RankId>& members) {
  GroupLayout layout;
  layout.node.reserve(members.size());
  layout.local.reserve(members.size());
  layout.meshed = IsMeshed(fabric, placement.endpoint(members.front()));
  std::map<std::uint32_t, std::uint32_t> dense;  // node of the fabric -> in order of appearance
  std::uint32_t latest = Device::kNoNode;        // mostly that of the next member, too
  for (const RankId rank : members) {
    const Device& device = fabric.device(placement.endpoint(rank));
    if (layout.node.empty() || device.node != latest) {
      const auto next = static_cast<std::uint32_t>(dense.size());
      layout.node.push_back(dense.try_emplace(device.node, next).first->second);
    } else {
      layout.node.push_back(layout.node.back());
    }
    latest = device.node;
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

Result<void> AddInside(const ChoiceInput& input, DeviceId from, DeviceId to,
                       GroupNetwork& network) {
  const auto route = input.router.FindRoute(from, to, 0);
  if (!route) return std::unexpected(route.error());
  if (network.inside > Rate{} && network.inside <= route->limit) return {};
  const auto path = input.router.FindPath(from, to, 0);
  if (!path) return std::unexpected(path.error());
  network.inside = route->limit;
  network.inside_latency = route->latency;
  network.inside_hop = ClassOf(input.router.fabric(), *path);
  return {};
}

// A name that the scenario gives is of one algorithm for all that goes by it.
Result<void> CheckNamed(const TaskGraph& graph) {
  for (const CollectiveChoice& choice : graph.collectives()) {
    const Algorithm* named = FindAlgorithm(choice.algorithm);
    if (named == nullptr || named->supports(choice.spec.primitive)) continue;
    std::vector<std::string_view> able;
    for (const Algorithm& algorithm : Algorithms()) {
      const bool does_all =
          std::ranges::all_of(graph.collectives(), [&](const CollectiveChoice& other) {
            return other.algorithm != choice.algorithm || algorithm.supports(other.spec.primitive);
          });
      if (does_all) able.emplace_back(algorithm.name);
    }
    return Error("TL1501",
                 fmt::format("{} is not an algorithm for {}", choice.algorithm,
                             ToString(choice.spec.primitive)),
                 fmt::format("use auto{}{}", able.empty() ? "" : ", or for all that goes by it ",
                             fmt::join(able, ", ")));
  }
  return {};
}

}  // namespace

Result<GroupNetwork> NetworkOf(const ChoiceInput& input, const GroupLayout& layout,
                               const std::vector<RankId>& members) {
  GroupNetwork network;
  constexpr std::uint32_t kNobody = UINT32_MAX;
  std::vector<std::uint32_t> latest(layout.node_count(), kNobody);  // member, by node
  std::vector<std::uint32_t> ranks(layout.node_count());
  std::unordered_set<std::uint64_t> seen;  // pairs of local indices: nodes are alike
  const auto endpoint = [&](std::uint32_t member) {
    return input.placement.endpoint(members[member]);
  };
  for (std::uint32_t i = 0; i < layout.size(); ++i) {
    const std::uint32_t node = layout.node[i];
    ++ranks[node];
    const std::uint32_t neighbour = std::exchange(latest[node], i);
    if (neighbour == kNobody) continue;
    const std::uint64_t pair = std::uint64_t{layout.local[neighbour]} << 32U | layout.local[i];
    if (!seen.insert(pair).second) continue;
    if (auto added = AddInside(input, endpoint(neighbour), endpoint(i), network); !added) {
      return std::unexpected(added.error());
    }
  }
  const auto other = std::ranges::find_if(
      layout.node, [&](std::uint32_t node) { return node != layout.node.front(); });
  if (other != layout.node.end()) {
    const auto member = static_cast<std::uint32_t>(other - layout.node.begin());
    const auto route = input.router.FindRoute(endpoint(0), endpoint(member), 0);
    if (!route) return std::unexpected(route.error());
    network.outside = route->limit;
    network.outside_latency = route->latency;
  }
  // The node with the fewest ranks uses the fewest NICs, and holds up the others.
  network.node_outside =
      network.outside * std::max(1U, std::min(std::ranges::min(ranks), input.node.nics));
  if (const auto gpu = FindAccelerator(input.node.accelerator)) {
    network.generation = gpu->generation;
  }
  return network;
}

Result<Chooser::Group*> Chooser::GroupOf(const std::vector<RankId>& members) {
  auto known = groups_.find(members);
  if (known == groups_.end()) {
    GroupLayout layout = LayoutOf(input_.router.fabric(), input_.placement, members);
    const auto network = NetworkOf(input_, layout, members);
    if (!network) return std::unexpected(network.error());
    known = groups_.emplace(members, Group{std::move(layout), *network, {}}).first;
  }
  return &known->second;
}

Result<Chosen> Chooser::Choose(const CollectiveChoice& choice, const TunerLimits& limits,
                               const std::vector<RankId>& members) {
  const std::scoped_lock lock(mutex_);
  const auto group = GroupOf(members);
  if (!group) return std::unexpected(group.error());
  std::vector<Answer>& answers = (*group)->answers;
  const auto known = std::ranges::find_if(answers, [&](const Answer& answer) {
    return answer.choice == choice && answer.limits == limits;
  });
  if (known != answers.end()) return known->chosen;
  auto candidates =
      RankCandidates(choice.spec, (*group)->layout, (*group)->network, input_.transport, limits);
  if (!candidates) return std::unexpected(candidates.error());
  const TunerCandidate& best = candidates->front();
  Chosen chosen{choice, {}};
  chosen.choice.algorithm = best.algorithm;
  chosen.choice.protocol = best.protocol;
  chosen.choice.spec.channels = best.channels;
  chosen.choice.spec.step = PipelineStep(best.protocol);
  chosen.candidates = std::move(*candidates);
  answers.push_back({choice, limits, chosen});
  return chosen;
}

Result<std::vector<Chosen>> Chooser::ChooseAll(const TaskGraph& graph) {
  if (auto able = CheckNamed(graph); !able) return std::unexpected(able.error());
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
      auto chosen = Choose(open, limits, graph.members(graph.communicator(RankId{r}, task.role)));
      if (!chosen) return std::unexpected(chosen.error());
      all[task.collective] = std::move(*chosen);
    }
  }
  return all;
}

}  // namespace trunkline
