#include "trunkline/report/fabric_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "report/cost_report.h"
#include "report/deadlock_report.h"
#include "report/empty_run.h"
#include "report/json_writer.h"
#include "report/names.h"
#include "report/route_counts_report.h"
#include "report/table.h"
#include "report/weak_points_report.h"

namespace trunkline {
namespace {

std::string Line(const char* name, const std::string& value) {
  return fmt::format("{:<18}{}\n", name, value);
}

// What is halved: nodes, which may have several NICs each, and not as many.
std::string HalvesText(const FabricAnalysis& analysis) {
  const auto count = [](std::uint64_t of) { return Grouped(static_cast<double>(of)); };
  const FabricCounts& counts = analysis.counts;
  if (counts.nodes < 2 || counts.nics == counts.nodes) return "";
  const std::uint64_t fewest = analysis.fewest_nics_of_half;
  if (counts.nics % counts.nodes == 0 &&
      fewest == counts.nics / counts.nodes * (counts.nodes / 2)) {
    return fmt::format("between halves of the {} nodes, {} each", count(counts.nodes),
                       Plural(counts.nics / counts.nodes, "NIC"));
  }
  return fmt::format(
      "between halves of the {} nodes and not of the NICs: nodes have unequal numbers of them, and "
      "half of the nodes {} to {} of {}",
      count(counts.nodes), count(fewest), count(counts.nics - fewest), count(counts.nics));
}

std::string BisectionText(const FabricAnalysis& analysis) {
  const Bisection& bisection = analysis.bisection;
  const std::string value =
      bisection.lower == bisection.upper ? fmt::format("{} (exact)", Humanize(bisection.upper))
      : bisection.lower == Rate()
          ? fmt::format("at most {}", Humanize(bisection.upper))
          : fmt::format("between {} and {}", Humanize(bisection.lower), Humanize(bisection.upper));
  const std::string halves = HalvesText(analysis);
  return Line("bisection", value) +
         Wrap(halves.empty() ? bisection.method : halves + "; " + bisection.method,
              std::string(18, ' '), 100);
}

std::string TierTable(const FabricCounts& counts) {
  Table table(
      {{"tier", Align::kLeft}, {"switches"}, {"ports used"}, {"cables up"}, {"oversubscription"}});
  for (const TierSummary& tier : counts.tiers) {
    table.Add({tier.name, Grouped(static_cast<double>(tier.switches)), fmt::to_string(tier.ports),
               Grouped(static_cast<double>(tier.cables_up)),
               tier.oversubscription > 0 ? fmt::format("{:.4g}:1", tier.oversubscription) : "top"});
  }
  return table.Text("  ");
}

bool SamePath(const PathReport& a, const PathReport& b) {
  return std::ranges::equal(a.hops, b.hops, [](const PathHop& x, const PathHop& y) {
    return x.from == y.from && x.to == y.to;
  });
}

std::string PathTable(const PathReport& path) {
  Table table({{"from", Align::kLeft},
               {"to", Align::kLeft},
               {"kind", Align::kLeft},
               {"bandwidth"},
               {"latency"},
               {"forwarding"},
               {"balanced over"}});
  for (const PathHop& hop : path.hops) {
    table.Add({hop.from, hop.to, ToString(hop.kind), LinkRate(hop.kind, hop.rate),
               Humanize(hop.latency), hop.forwarding > Time() ? Humanize(hop.forwarding) : "",
               hop.parallel > 1 ? fmt::format("{} links", hop.parallel) : ""});
  }
  return table.Text("  ") + fmt::format("  latency {}, a lone flow gets {}\n",
                                        Humanize(path.latency), Humanize(path.limit));
}

void WriteBisection(JsonWriter& json, const BuiltFabric& built, const FabricAnalysis& analysis,
                    const WeakPoints* weak) {
  const Bisection& bisection = analysis.bisection;
  json.Key("bisection");
  json.Object([&] {
    json.Key("value_Bps");
    if (bisection.lower == bisection.upper) {
      json.Value(bisection.upper.bytes_per_second());
    } else {
      json.Null();
    }
    json.Field("lower_Bps", bisection.lower.bytes_per_second());
    json.Field("upper_Bps", bisection.upper.bytes_per_second());
    json.Field("method", bisection.method);
    json.Field("fewest_nics_of_half", analysis.fewest_nics_of_half);
    json.Key("worst_half_by_unit_Bps");
    if (analysis.worst_half_by_unit) {
      json.Value(analysis.worst_half_by_unit->bytes_per_second());
    } else {
      json.Null();
    }
    if (weak != nullptr) WriteCut(json, built.fabric, weak->cut);
  });
}

// Whether 5M/n counts the switches, and if not, why. It is about trees of three tiers: of other
// fabrics it says nothing.
std::string EstimateText(const FabricCounts& counts, const SwitchEstimate& estimate) {
  const auto tier = [](const TierSummary& summary) { return summary.tier; };
  if (!std::ranges::equal(counts.tiers, std::array<std::uint8_t, 3>{1, 2, 3}, {}, tier)) return "";
  const std::string sum =
      fmt::format("5 x {} / {} = {} switches", Grouped(static_cast<double>(estimate.servers)),
                  estimate.ports, Decimal(estimate.estimate));
  if (estimate.why_not.empty()) {
    return Line("5M/n", sum + ", as there are: three full tiers, one NIC a server");
  }
  return Line("5M/n",
              fmt::format("{}, where {}", sum, Plural(estimate.switches, "stands", "stand"))) +
         Wrap(
             fmt::format("(M servers, n ports: it counts a full tree of three tiers with one NIC a "
                         "server; here: {})",
                         fmt::join(estimate.why_not, "; ")),
             std::string(18, ' '), 100);
}

std::string DistributionText(const HopStatistics& hops) {
  std::string text;
  for (const HopStatistics::Share& share : hops.distribution) {
    text +=
        fmt::format("{}{} at {}", text.empty() ? "" : ", ", Percent(share.pairs), share.switches);
  }
  return text;
}

void WritePath(JsonWriter& json, const PathReport& path) {
  json.Object([&] {
    json.Field("latency_s", path.latency);
    json.Field("limit_Bps", path.limit.bytes_per_second());
    json.Key("hops");
    json.Objects(path.hops, [&](const PathHop& hop) {
      json.Field("from", hop.from);
      json.Field("to", hop.to);
      json.Field("kind", ToString(hop.kind));
      json.Field("rate_Bps", hop.rate.bytes_per_second());
      json.Field("latency_s", hop.latency);
      json.Field("forwarding_s", hop.forwarding);
      json.Field("parallel", hop.parallel);
    });
  });
}

// The endpoints of a node, in order.
std::vector<DeviceId> EndpointsOf(const Fabric& fabric, std::uint32_t node) {
  std::vector<DeviceId> of_node;
  for (const DeviceId endpoint : fabric.endpoints()) {
    if (fabric.device(endpoint).node == node) of_node.push_back(endpoint);
  }
  return of_node;
}

// Of the links inside the two nodes alone: what the network leaves is a matter of all its flows.
std::optional<SharedPath> ShareOf(const Router& router, const std::string& from,
                                  const std::string& to) {
  const Fabric& fabric = router.fabric();
  const DeviceId src = fabric.Find(from).front();
  const DeviceId dst = fabric.Find(to).front();
  const std::vector<DeviceId> here = EndpointsOf(fabric, fabric.device(src).node);
  const std::vector<DeviceId> there = EndpointsOf(fabric, fabric.device(dst).node);
  if (here == there || here.size() != there.size() || here.size() < 2) return std::nullopt;
  std::map<LinkId, std::uint32_t> flows;
  for (std::size_t i = 0; i < here.size(); ++i) {
    for (const auto& [a, b] : {std::pair(here[i], there[i]), std::pair(there[i], here[i])}) {
      const auto path = router.FindPath(a, b, 0);
      if (!path) return std::nullopt;
      for (const LinkId link : *path) ++flows[link];
    }
  }
  const auto path = router.FindPath(src, dst, 0);
  if (!path) return std::nullopt;
  std::optional<SharedPath> shared;
  for (const LinkId id : *path) {
    const Link& link = fabric.link(id);
    const bool cable_of_nic = fabric.device(link.from).kind == DeviceKind::kNic ||
                              fabric.device(link.to).kind == DeviceKind::kNic;
    if (link.kind == LinkKind::kNetwork && !cable_of_nic) continue;
    const std::uint32_t sharing = std::max(1U, flows[id]);
    const Rate each = Rate::BitsPerSecond(link.rate.bits_per_second() / sharing);
    if (shared && shared->each <= each) continue;
    shared = SharedPath{each, sharing, fabric.name(link.from), fabric.name(link.to)};
  }
  return shared;
}

}  // namespace

Result<PathComparison> ComparePaths(const Fabric& fabric, RoutingPolicy routing,
                                    const std::string& from, const std::string& to,
                                    const RoutingParameters& parameters) {
  PathComparison paths{.from = from, .to = to, .routing = routing, .direct = {}, .staged = {}};
  const Router on(fabric, {.policy = routing, .parameters = parameters});
  auto direct = TracePath(on, from, to);
  if (!direct) return std::unexpected(std::move(direct.error()));
  const Router off(fabric,
                   {.policy = routing, .gpudirect = GpuDirect::kOff, .parameters = parameters});
  auto staged = TracePath(off, from, to);
  paths.direct = *std::move(direct);
  paths.through_cpu = staged && SamePath(paths.direct, *staged);
  if (!staged || paths.through_cpu) return paths;
  paths.staged = *std::move(staged);
  paths.direct_shared = ShareOf(on, from, to);
  paths.staged_shared = ShareOf(off, from, to);
  return paths;
}

std::string RenderFabricText(const BuiltFabric& built, const FabricAnalysis& analysis,
                             const WeakPoints* weak, const RoutingProof* routing,
                             std::uint32_t radix) {
  const FabricCounts& counts = analysis.counts;
  const HopStatistics& hops = analysis.hops;
  std::string text = fmt::format("{}: {}\n\n", built.kind, built.summary);
  text += Line("nodes", fmt::format("{} of {}", Grouped(static_cast<double>(counts.nodes)),
                                    Printable(built.node.name)));
  text +=
      Line("ends", fmt::format("{}, {}", Plural(counts.gpus, "GPU"), Plural(counts.nics, "NIC")));
  text += Line("cables", fmt::format("{} to NICs, {} between switches",
                                     Grouped(static_cast<double>(counts.host_cables)),
                                     Grouped(static_cast<double>(counts.switch_cables))));
  text += Line("", fmt::format("a full mesh of the NICs would take {}",
                               Grouped(static_cast<double>(counts.full_mesh_cables))));
  text += Line("oversubscription", fmt::format("{:.4g}:1", counts.oversubscription));
  text += BisectionText(analysis);
  if (analysis.worst_half_by_unit) {
    text += Line("worst half", fmt::format("{}, among all halves of the leaves or scale units",
                                           Humanize(*analysis.worst_half_by_unit)));
  }
  text += Line("hops", fmt::format("{:.4g} {} on average, {} at most ({})", hops.mean_switches,
                                   hops.mean_switches == 1 ? "switch" : "switches",
                                   hops.diameter_switches, Plural(hops.diameter_links, "cable")));
  if (hops.distribution.size() > 1) text += Line("", DistributionText(hops));
  if (hops.unreachable > 0) {
    text += Line("", fmt::format("{} of NIC pairs in different nodes have no path",
                                 Percent(hops.unreachable)));
  }
  if (!counts.tiers.empty()) text += EstimateText(counts, EstimateSwitches(counts, radix));
  for (std::size_t i = 0; i < built.notes.size(); ++i) {
    text += fmt::format("{:<18}{}\n", i == 0 ? "notes" : "", Printable(built.notes[i]));
  }
  if (routing != nullptr) {
    text += DeadlockText(built.fabric, *routing);
    text += RoutesText(built.fabric, *routing);
  }
  text += "\n" + TierTable(counts);
  return weak == nullptr ? text : text + "\n" + WeakPointsText(built.fabric, *weak);
}

std::string RenderFabricJson(const BuiltFabric& built, const FabricAnalysis& analysis,
                             const WeakPoints* weak, const FabricCost* cost,
                             const RoutingProof* routing) {
  const FabricCounts& counts = analysis.counts;
  JsonWriter json(1);
  json.BeginObject();
  WriteEmptyRun(json, built.notes);
  json.Field("kind", built.kind);
  json.Field("summary", built.summary);
  json.Field("node", built.node.name);
  json.Field("gpus", counts.gpus);
  json.Field("nodes", counts.nodes);
  json.Field("nics", counts.nics);
  json.Key("switches");
  json.Object([&] {
    for (const TierSummary& tier : counts.tiers) json.Field(tier.name, tier.switches);
  });
  json.Key("links");
  json.Object([&] {
    json.Field("host", counts.host_cables);
    json.Field("fabric", counts.switch_cables);
    json.Field("full_mesh", counts.full_mesh_cables);
  });
  json.Field("oversubscription", counts.oversubscription);
  json.Key("tiers");
  json.Objects(counts.tiers, [&](const TierSummary& tier) {
    json.Field("name", tier.name);
    json.Field("switches", tier.switches);
    json.Field("ports", tier.ports);
    json.Field("cables_up", tier.cables_up);
    json.Key("oversubscription");
    if (tier.oversubscription > 0) {
      json.Value(tier.oversubscription);
    } else {
      json.Null();
    }
  });
  WriteBisection(json, built, analysis, weak);
  json.Field("diameter_hops", analysis.hops.diameter_switches);
  json.Field("mean_hops", analysis.hops.mean_switches);
  json.Field("diameter_links", analysis.hops.diameter_links);
  json.Field("mean_links", analysis.hops.mean_links);
  json.Field("unreachable", analysis.hops.unreachable);
  json.Key("hops");
  json.Objects(analysis.hops.distribution, [&](const HopStatistics::Share& share) {
    json.Field("switches", share.switches);
    json.Field("share", share.pairs);
  });
  if (weak != nullptr) WriteWeakPoints(json, built.fabric, *weak);
  if (routing != nullptr) {
    WriteDeadlock(json, built.fabric, *routing);
    WriteRoutes(json, built.fabric, *routing);
  }
  json.Key("cost");
  if (cost != nullptr) {
    WriteCost(json, *cost);
  } else {
    json.Null();
  }
  json.EndObject();
  return std::move(json).Take() + "\n";
}

namespace {

std::string SharedText(const SharedPath& shared) {
  return fmt::format("{}, as {} share {} -> {}", Humanize(shared.each),
                     Plural(shared.flows, "flow"), Printable(shared.from), Printable(shared.to));
}

// Between GPUs of two nodes, by way of the NICs.
bool LeavesANode(const PathReport& path) {
  return path.hops.front().from.starts_with("gpu:") &&
         std::ranges::any_of(path.hops,
                             [](const PathHop& hop) { return hop.kind == LinkKind::kNetwork; });
}

}  // namespace

std::string RenderPathText(const PathComparison& paths) {
  std::string text = fmt::format("{} to {}, {} routing\n\n", Printable(paths.from),
                                 Printable(paths.to), ToString(paths.routing));
  if (!paths.staged) {
    text += PathTable(paths.direct);
    if (!LeavesANode(paths.direct) || !paths.through_cpu) return text;
    return text +
           "\nGPUDirect RDMA changes nothing here: from the GPU to its NIC all leads through the "
           "CPU.\n";
  }
  text += "With GPUDirect RDMA the NIC reads and writes GPU memory:\n";
  text += PathTable(paths.direct);
  text += "\nWithout it data is staged in host memory, through the CPU:\n";
  text += PathTable(*paths.staged);
  const Time added = paths.staged->latency - paths.direct.latency;
  text += fmt::format("\nGPUDirect RDMA saves {} hops and {} a message.\n",
                      paths.staged->hops.size() - paths.direct.hops.size(), Humanize(added));
  if (paths.direct_shared && paths.staged_shared) {
    text += Wrap(fmt::format("Where all GPUs of both nodes send and receive at once, each gets {} "
                             "with it, and without it {}.",
                             paths.direct_shared->flows == 1 ? Humanize(paths.direct_shared->each)
                                                             : SharedText(*paths.direct_shared),
                             SharedText(*paths.staged_shared)),
                 "", 100);
  }
  return text;
}

std::string RenderPathJson(const PathComparison& paths) {
  JsonWriter json(1);
  json.BeginObject();
  WriteEmptyRun(json);
  json.Field("from", paths.from);
  json.Field("to", paths.to);
  json.Field("routing", ToString(paths.routing));
  json.Key("gpudirect");
  WritePath(json, paths.direct);
  json.Key("host_memory");
  if (paths.staged) {
    WritePath(json, *paths.staged);
  } else {
    json.Null();
  }
  json.EndObject();
  return std::move(json).Take() + "\n";
}

}  // namespace trunkline
