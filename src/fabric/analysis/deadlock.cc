#include "trunkline/fabric/deadlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "fabric/analysis/dependency_graph.h"
#include "fabric/analysis/group_ways.h"
#include "fabric/analysis/tiers.h"
#include "fabric/router_tables.h"
#include "fabric/routing/escape_routes.h"
#include "fabric/routing/virtual_channels.h"

namespace trunkline {
namespace {

// Steps along paths that a proof may take: some seconds.
constexpr std::uint64_t kMostSteps = 50'000'000;

template <typename Tables>  // Router::Tables, which is private
class Prover {
 public:
  Prover(const Router& router, const Tables& tables, std::uint32_t lanes)
      : fabric_(router.fabric()), router_(router), tables_(tables), lanes_(lanes) {}

  DeadlockProof Run() {
    const RoutingPolicyTraits& policy = TraitsOf(router_.options().policy);
    switch (policy.paths) {
      case PathRule::kGroups: {
        // More than packets can do, and quick; in whole dragonflies it has no cycle.
        DeadlockProof all = Judge(ByGroups());
        return all.cycle.empty() ? all : ByWays();
      }
      case PathRule::kDimensionOrder:
        return OfSample();
      case PathRule::kFewestHops:
      case PathRule::kUpDown:
        break;
    }
    if (router_.options().policy == RoutingPolicy::kAdaptive && lanes_ > 1) {
      if (auto proof = ByEscape()) return *std::move(proof);
    }
    if (policy.paths == PathRule::kFewestHops && lanes_ == 1 && GoesUpThenDown(fabric_)) {
      return {.tiers = true, .channels = CountChannels(), .cycle = {}};
    }
    DeadlockProof all = ByPorts(NetworkPaths::From::kSwitches);
    // Where cables are missing, a switch has ports towards leaves whose packets never come to it.
    if (!all.cycle.empty()) all = ByPorts(NetworkPaths::From::kEnds);
    // A table names one of the ports: fewer paths, and perhaps no cycle.
    const bool one_port = policy.ports == PortRule::kTable || policy.ports == PortRule::kDigit;
    return all.cycle.empty() || !one_port ? all : OfSample();
  }

 private:
  DeadlockProof Judge(const DependencyGraph& graph) const {
    DeadlockProof proof{.lanes = lanes_,
                        .channels = graph.channels(),
                        .dependencies = graph.edges(),
                        .cycle = graph.FindCycle()};
    if (!proof.cycle.empty()) proof.verdict = DeadlockProof::Verdict::kCycle;
    return proof;
  }

  [[nodiscard]] std::uint64_t CountChannels() const {
    std::uint64_t channels = 0;
    const auto is_switch = [&](DeviceId id) {
      return fabric_.device(id).kind == DeviceKind::kSwitch;
    };
    for (std::size_t i = 0; i < fabric_.link_count(); ++i) {
      const Link& link = fabric_.link(LinkId(i));
      channels += is_switch(link.from) && is_switch(link.to) ? 1 : 0;
    }
    return channels;
  }

  // Whatever port of those on shortest paths is taken. A cycle is often one of the paths to the
  // first destinations already: looked for when these are 1, 2, 4, … tables.
  [[nodiscard]] DeadlockProof ByPorts(NetworkPaths::From from) const {
    DependencyGraph graph(fabric_, 1);
    std::uint32_t tables = 0;
    tables_.network().ForEachTurn(
        from, [&](LinkId before, LinkId after) { graph.Add({before}, {after}); },
        [&] { return std::has_single_bit(++tables) && graph.HasCycle(); });
    return Judge(graph);
  }

  // Whatever way a policy takes between groups: a packet's channel rises with every cable between
  // groups, at a router in between and where it turns off; and stays from one local cable to the
  // next and from a local one to one between groups.
  [[nodiscard]] DependencyGraph ByGroups() const {
    DependencyGraph graph(fabric_, lanes_);
    const RoutingPolicyTraits& policy = TraitsOf(router_.options().policy);
    const bool rises =
        router_.options().parameters.via_router || policy.detours == DetourRule::kInSourceGroup;
    const GroupRoutes& groups = *tables_.groups();
    for (std::size_t i = 0; i < fabric_.link_count(); ++i) {
      const auto from = LinkId(i);
      if (!graph.IsBetweenSwitches(from)) continue;
      const std::uint32_t at = groups.switch_of(fabric_.link(from).to);
      const bool crosses = Crosses(from);
      for (const LinkId to : fabric_.out(fabric_.link(from).to)) {
        if (!graph.IsBetweenSwitches(to) || to == fabric_.reverse(from)) continue;
        const bool stays =
            !crosses && (Crosses(to) || groups.Continues(at, fabric_.link(from), to));
        for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
          const auto add = [&](std::uint32_t next) {
            if (lanes_ == 1) next = 0;
            if (next >= lanes_) return;
            graph.Add({from, static_cast<std::uint8_t>(lane)},
                      {to, static_cast<std::uint8_t>(next)});
          };
          if (stays) add(lane);
          if (crosses || rises) add(lane + 1);
        }
      }
    }
    return graph;
  }

  [[nodiscard]] bool Crosses(LinkId link) const {
    return fabric_.device(fabric_.link(link).from).group !=
           fabric_.device(fabric_.link(link).to).group;
  }

  // The ways between groups of every packet to some ends, hop by hop as switches choose them.
  [[nodiscard]] DeadlockProof ByWays() const {
    const GroupRoutes& groups = *tables_.groups();
    DependencyGraph graph(fabric_, lanes_);
    GroupWays ways(fabric_, groups, router_.options(), lanes_, graph);
    std::vector<std::uint32_t> homes;
    for (std::uint32_t s = 0; s < groups.switch_count(); ++s) {
      if (ways.has_ends(s)) homes.push_back(s);
    }
    const std::uint64_t steps = std::uint64_t{homes.size()} * ways.states();
    const std::uint64_t stride = steps / (kMostSteps * 8) + 1;
    std::uint64_t looked_at = 0;
    for (std::size_t i = 0; i < homes.size(); i += stride, ++looked_at) ways.Add(homes[i]);
    return OfPart(Judge(graph), looked_at, homes.size());
  }

  // The escape ways from every switch to every end, or to some of them; nothing where one of them
  // leads nowhere, or they have a cycle. Channel 0 is the adaptive one.
  [[nodiscard]] std::optional<DeadlockProof> ByEscape() const {
    const EscapeRoutes escape(fabric_);
    DependencyGraph graph(fabric_, lanes_);
    std::map<std::uint32_t, DeviceId> ends;  // one on each set of switches
    std::vector<DeviceId> switches;
    for (std::size_t i = 0; i < fabric_.device_count(); ++i) {
      const auto device = DeviceId(i);
      if (fabric_.device(device).kind == DeviceKind::kSwitch) {
        switches.push_back(device);
      } else if (escape.paths().attached(device)) {
        ends.emplace(escape.paths().destination(device), device);
      }
    }
    const std::uint64_t stride = std::uint64_t{ends.size()} * switches.size() * 8 / kMostSteps + 1;
    std::uint64_t looked_at = 0;
    Walks walks(fabric_.link_count());
    for (std::uint64_t i = 0; const auto& [destination, end] : ends) {
      if (i++ % stride != 0) continue;
      ++looked_at;
      walks.to_this_end = walks.current + 1;
      for (const DeviceId at : switches) {
        const bool leads = tables_.network().Forwards(at, end);
        if (leads && !AddEscape(escape, at, end, walks, graph)) return std::nullopt;
      }
    }
    DeadlockProof proof = OfPart(Judge(graph), looked_at, ends.size());
    proof.escape = true;
    return proof.cycle.empty() ? std::optional(std::move(proof)) : std::nullopt;
  }

  // Ways from one switch after the other. A way to an end depends on nothing but the channel by
  // which a switch is reached, so that it is followed until it joins one that was walked before.
  struct Walks {
    explicit Walks(std::size_t links) : last(links) {}
    std::vector<std::array<std::uint64_t, 2>> last;  // that came by a link, by its escape channel
    std::uint64_t current = 0;                       // counted from 1
    std::uint64_t to_this_end = 0;                   // the first of them
  };

  // Whether the escape way from a switch ends at those of `end`.
  bool AddEscape(const EscapeRoutes& escape, DeviceId at, DeviceId end, Walks& walks,
                 DependencyGraph& graph) const {
    ++walks.current;
    std::optional<LinkId> before;
    std::uint8_t channel = 0;
    while (true) {
      const auto link = escape.Next(at, end);
      if (!link) return escape.paths().IsAt(at, end);
      const std::uint8_t next = escape.ChannelBehind(before, channel, *link);
      if (before) {
        graph.Add({*before, static_cast<std::uint8_t>(channel + 1)},
                  {*link, static_cast<std::uint8_t>(next + 1)});
      }
      std::uint64_t& last = walks.last[Index(*link)][next];
      if (last >= walks.to_this_end) return last != walks.current;  // or it walks in a circle
      last = walks.current;
      before = link;
      channel = next;
      at = fabric_.link(*link).to;
    }
  }

  [[nodiscard]] static DeadlockProof OfPart(DeadlockProof proof, std::uint64_t looked_at,
                                            std::uint64_t all) {
    if (proof.cycle.empty() && looked_at < all) {
      proof.verdict = DeadlockProof::Verdict::kSampled;
      proof.destinations = looked_at;
      proof.all_destinations = all;
    }
    return proof;
  }

  // Along the very paths from every switch to every NIC and host, or to some of them.
  [[nodiscard]] DeadlockProof OfSample() const {
    std::vector<DeviceId> ends;
    std::map<DeviceId, DeviceId> source_of_switch;
    for (std::size_t i = 0; i < fabric_.device_count(); ++i) {
      const auto end = DeviceId(i);
      const DeviceKind kind = fabric_.device(end).kind;
      if (!IsNetworkEnd(kind)) continue;
      if (!tables_.network().attached(end)) continue;
      ends.push_back(end);
      source_of_switch.emplace(tables_.SwitchOf(end), end);
    }
    DependencyGraph graph(fabric_, lanes_);
    const std::uint64_t steps = std::uint64_t{ends.size()} * source_of_switch.size() * 8;
    const std::uint64_t stride = steps / kMostSteps + 1;
    std::uint64_t looked_at = 0;
    std::vector<LinkId> path;
    std::vector<LinkId> scratch;
    for (std::size_t i = 0; i < ends.size(); i += stride) {
      ++looked_at;
      for (const auto& [at, source] : source_of_switch) {
        if (source == ends[i] || !tables_.Joins(source, ends[i])) continue;
        path.clear();
        tables_.AppendNetwork(source, ends[i], 0, path, scratch);
        AddPath(path, graph);
      }
    }
    return OfPart(Judge(graph), looked_at, ends.size());
  }

  void AddPath(std::span<const LinkId> path, DependencyGraph& graph) const {
    std::vector<std::uint8_t> lanes(path.size(), 0);
    if (lanes_ > 1) lanes = ChannelsOfPath(fabric_, path);
    for (std::size_t i = 1; i + 2 < path.size(); ++i) {
      graph.Add({path[i], lanes[i]}, {path[i + 1], lanes[i + 1]});
    }
  }

  const Fabric& fabric_;
  const Router& router_;
  const Tables& tables_;
  std::uint32_t lanes_;
};

}  // namespace

DeadlockProof ProveDeadlockFree(const Router& router, bool virtual_channels) {
  const RouterOptions& options = router.options();
  const std::uint32_t lanes =
      virtual_channels ? VirtualChannels(router.fabric(), options.policy, options.parameters) : 1;
  return Prover(router, *router.tables_, lanes).Run();
}

bool UsesVirtualChannels(const Router& router, bool credits) {
  const RouterOptions& options = router.options();
  // Only a sender that counts credits knows that there is room for a packet.
  if (options.policy == RoutingPolicy::kAdaptive && !credits) return false;
  return options.parameters.virtual_channels.value_or(credits) &&
         VirtualChannels(router.fabric(), options.policy, options.parameters) > 1;
}

std::string NameCycle(const Fabric& fabric, const DeadlockProof& proof) {
  constexpr std::size_t kMostNamed = 12;
  std::string names;
  for (std::size_t i = 0; i <= proof.cycle.size(); ++i) {
    if (i == kMostNamed && proof.cycle.size() > kMostNamed + 1) {
      names += fmt::format(" -> {} more", proof.cycle.size() - kMostNamed);
      i = proof.cycle.size();
    }
    const Channel& channel = proof.cycle[i % proof.cycle.size()];
    const Link& link = fabric.link(channel.link);
    names += fmt::format("{}{}/{}", names.empty() ? "" : " -> ", fabric.name(link.from),
                         fabric.name(link.to));
    if (proof.lanes > 1) names += fmt::format(" channel {}", channel.lane);
  }
  return names;
}

}  // namespace trunkline
