#include "report/explain_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "report/names.h"
#include "report/table.h"
#include "trunkline/fabric/analysis.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/training/training.h"

namespace trunkline {
namespace {

constexpr const char* kIdealTransport = "ideal";

struct Pair {
  DeviceId source{};
  DeviceId destination{};
};

// The first neighbours of `ranks` that sit in different servers.
std::optional<Pair> FirstAcrossNodes(const RunResult& result, const std::vector<RankId>& ranks) {
  for (std::size_t i = 0; i + 1 < ranks.size(); ++i) {
    const Pair pair{result.placement.endpoint(ranks[i]), result.placement.endpoint(ranks[i + 1])};
    const Device& source = result.fabric->device(pair.source);
    const Device& destination = result.fabric->device(pair.destination);
    if (source.node != destination.node || source.node == Device::kNoNode) return pair;
  }
  return std::nullopt;
}

// Two ranks whose traffic crosses the network: of the most exposed collective that does, else the
// first such ranks of the placement.
std::optional<Pair> NetworkPair(const RunResult& result) {
  if (!result.fabric || !result.router) return std::nullopt;
  if (result.training && result.iteration) {
    const TaskGraph& graph = *result.training->graph;
    std::vector<CollectiveSummary> order = result.timeline.collectives;
    std::ranges::sort(order, {}, [](const CollectiveSummary& summary) {
      return std::tuple(-summary.exposed.ps(), summary.collective, summary.role);
    });
    for (const CollectiveSummary& summary : order) {
      const CommunicatorId group =
          graph.communicator(result.iteration->critical_rank, summary.role);
      if (const auto pair = FirstAcrossNodes(result, graph.members(group))) return pair;
    }
  }
  std::vector<RankId> all;
  for (std::size_t i = 0; i < result.placement.rank_count(); ++i) all.push_back(RankId(i));
  return FirstAcrossNodes(result, all);
}

std::vector<LinkId> PathOf(const RunResult& result, const Pair& pair) {
  return result.router->FindPath(pair.source, pair.destination, 0).value_or(std::vector<LinkId>{});
}

// "gpu:0/0 -> pcie-switch:0/0 -> nic:0/0 -> leaf-0".
std::string PathNames(const Fabric& fabric, const std::vector<LinkId>& path) {
  std::string out = fabric.name(fabric.link(path.front()).from);
  for (const LinkId link : path) out += " -> " + fabric.name(fabric.link(link).to);
  return out;
}

Figure PathLatency(const Fabric& fabric, const std::vector<LinkId>& path) {
  Time sum;
  std::string numbers;
  const auto add = [&](Time latency) {
    if (latency == Time()) return;
    sum += latency;
    numbers += (numbers.empty() ? "" : " + ") + ToString(latency);
  };
  for (const LinkId link : path) {
    add(fabric.link(link).latency);
    if (link != path.back()) add(fabric.device(fabric.link(link).to).latency);
  }
  return {"latency of that path", "sum over its links and the devices between them",
          numbers.empty() ? "none of them has any" : numbers, ToString(sum)};
}

Figure NarrowestOnPath(const Fabric& fabric, const std::vector<LinkId>& path) {
  std::string numbers;
  LinkId narrowest = path.front();
  for (const LinkId link : path) {
    numbers +=
        (numbers.empty() ? "" : ", ") + LinkRate(fabric.link(link).kind, fabric.link(link).rate);
    if (fabric.link(link).rate < fabric.link(narrowest).rate) narrowest = link;
  }
  return {"rate of that path", "min over its links", numbers,
          LinkRate(fabric.link(narrowest).kind, fabric.link(narrowest).rate)};
}

std::string PolicyMeaning(RoutingPolicy policy) {
  switch (policy) {
    case RoutingPolicy::kEcmp:
      return "ECMP sends each flow down the one minimal path that a hash picks.";
    case RoutingPolicy::kStatic:
      return "Static routing picks one of the minimal paths by the destination alone.";
    case RoutingPolicy::kSpray:
      return "Packet spraying splits every flow evenly over all minimal paths.";
    case RoutingPolicy::kAdaptive:
      return "Adaptive routing is taken at its fluid optimum over the minimal paths of trees, "
             "which "
             "real switches approach from below; in other networks each switch splits every flow "
             "by the rates of its ports.";
    default:
      break;
  }
  const auto known = RoutingPolicies();
  const auto info = std::ranges::find(known, policy, &RoutingPolicyInfo::policy);
  return fmt::format("Routing is {}: {}.", info->name, info->summary);
}

Protocol UsedProtocol(const RunResult& result) {
  if (!result.rows.empty()) return result.rows.back().protocol;
  if (!result.step_collectives.empty()) return result.step_collectives.front().row.protocol;
  return Protocol::kSimple;
}

Figure BusiestLink(const RunResult& result) {
  const LinkRow& row = result.links.front();
  const Link& link = result.fabric->link(row.link);
  return {fmt::format("use of the narrowest link, {}", LinkName(*result.fabric, row.link)),
          "bytes / (rate × time)",
          fmt::format("{} / ({} × {})", Humanize(Bytes(row.bytes), kFigureDigits),
                      LinkRate(link.kind, link.rate), Humanize(result.time, kFigureDigits)),
          Percent(row.utilisation)};
}

}  // namespace

Question ExplainDataPath(const RunResult& result) {
  Question q{
      "Data transport", "How do bytes move without the CPU and without extra copies?", "", {}};
  if (result.traffic && result.transport.kind == TransportKind::kTcp) {
    q.answer =
        "They do not: each message takes a connection of the kernel's TCP. A core at either end "
        "copies every byte between the application and the socket and processes its headers; these "
        "figures include what that costs.";
    return q;
  }
  if (result.traffic) {
    q.answer =
        "Each message has a queue pair: the NIC cuts it into packets and hears from the receiver's "
        "what arrived. No CPU touches the bytes; what software adds at either end is not in these "
        "figures.";
    return q;
  }
  if (result.transport_name == kIdealTransport) {
    q.answer = "How is not modelled: the ideal transport's messages cost nothing but their bytes. ";
  }
  const bool direct = !result.router || result.router->options().gpudirect == GpuDirect::kOn;
  q.answer += direct ? "GPUDirect RDMA is on: the NIC reads and writes GPU memory over PCIe."
                     : "GPUDirect RDMA is off: every message is staged in host memory, once at "
                       "each end.";
  const Protocol protocol = UsedProtocol(result);
  const TransportModel& transport = result.transport;
  const auto p = static_cast<std::size_t>(protocol);
  const Time software = transport.step_latency[p][static_cast<std::size_t>(HopClass::kNetwork)];
  q.figures = {
      {fmt::format("a step's start-up over the network, protocol {}", ToString(protocol)),
       "message overhead + software latency",
       fmt::format("{} + {}", ToString(transport.message_overhead), ToString(software)),
       ToString(transport.message_overhead + software)},
      {fmt::format("payload share of protocol {}", ToString(protocol)), "payload / 128 B",
       fmt::format("{} / 128", PayloadPer128(protocol)),
       Percent(static_cast<double>(PayloadPer128(protocol)) / 128)},
  };
  return q;
}

Question ExplainStack(const RunResult& result) {
  const TransportModel& transport = result.transport;
  Question q{"Network stack", "Which protocol stack carries the bytes between servers?", "", {}};
  if (result.transport_name == kIdealTransport) {
    q.answer =
        "None is modelled: the ideal transport moves bytes as fast as links carry them, without "
        "packets, headers or software.";
    return q;
  }
  q.answer = fmt::format("{}, with packets of up to {} payload and {} of headers and framing.",
                         ToString(transport.kind), Humanize(transport.mtu),
                         Humanize(transport.packet_overhead));
  const Bytes wire = transport.mtu + transport.packet_overhead;
  if (wire == Bytes()) return q;
  const double efficiency =
      static_cast<double>(transport.mtu.count()) / static_cast<double>(wire.count());
  q.figures.push_back({"payload share of a full packet", "mtu / (mtu + overhead)",
                       fmt::format("{} / ({} + {})", transport.mtu.count(), transport.mtu.count(),
                                   transport.packet_overhead.count()),
                       fmt::format("{:.2f} %", 100 * efficiency)});
  const auto pair = NetworkPair(result);
  if (!pair) return q;
  for (const LinkId id : PathOf(result, *pair)) {
    const Link& link = result.fabric->link(id);
    if (link.kind != LinkKind::kNetwork) continue;
    q.figures.push_back({"payload that one network link carries", "rate × payload share",
                         fmt::format("{} × {:.6f}", ToString(link.rate), efficiency),
                         Bandwidth(link.rate.bytes_per_second() * efficiency)});
    break;
  }
  return q;
}

Question ExplainTopology(const RunResult& result) {
  Question q{"Topology and routing",
             "How are servers and switches connected, and which path do packets take?",
             "",
             {}};
  q.answer = result.cluster_summary + ".";
  if (result.router) {
    q.answer += fmt::format(" {}", PolicyMeaning(result.router->options().policy));
  }
  if (const auto pair = NetworkPair(result)) {
    const std::vector<LinkId> path = PathOf(result, *pair);
    if (!path.empty()) {
      q.answer +=
          fmt::format(" A path that crosses the network: {}.", PathNames(*result.fabric, path));
      q.figures.push_back(PathLatency(*result.fabric, path));
      q.figures.push_back(NarrowestOnPath(*result.fabric, path));
    }
  }
  if (!result.fabric) return q;
  for (const TierSummary& tier : CountParts(*result.fabric).tiers) {
    if (tier.up == Rate()) continue;
    q.figures.push_back({fmt::format("oversubscription of the {} tier", tier.name),
                         "rate down / rate up",
                         fmt::format("{} / {}", ToString(tier.down), ToString(tier.up)),
                         fmt::format("{:.4g}", tier.oversubscription)});
  }
  if (!result.links.empty() && result.time > Time()) q.figures.push_back(BusiestLink(result));
  return q;
}

}  // namespace trunkline
