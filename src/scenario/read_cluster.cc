#include <fmt/format.h>

#include <utility>

#include "fabric/fabric_reader.h"
#include "scenario/reader.h"

namespace trunkline {
namespace {

// Places in the one-line form are places in the scenario.
void MoveInto(const YamlValue& value, SourcePosition& where, std::string& excerpt) {
  if (where.file != value.text()) return;
  const SourcePosition begin = value.where();
  excerpt = value.excerpt();
  const auto before = static_cast<std::size_t>(begin.column - 1);
  const bool quoted =
      before < excerpt.size() && (excerpt[before] == '"' || excerpt[before] == '\'');
  where = {begin.file, begin.line, begin.column + (quoted ? 1 : 0) + where.column - 1};
}

// `fabric` as a mapping, or in the one-line form of the command line; without it the switches that
// hide least: non-blocking, at the rate of the servers' NICs.
void ReadFabric(const std::string& file, const YamlMap& cluster, FabricSpec& spec,
                std::vector<std::string>& assumptions) {
  const auto value = cluster.Find("fabric");
  if (!value) {
    spec.kind = spec.node.empty() ? "single-switch" : "rail-optimized";
    assumptions.push_back(
        fmt::format("fabric: none is given; a non-blocking {} one of the {} is used", spec.kind,
                    spec.node.empty() ? "hosts" : "servers' NICs"));
    return;
  }
  if (value->is_scalar()) {
    auto parsed = ParseFabricSpec(value->text());
    if (!parsed) {
      for (Diagnostic& problem : parsed.error()) MoveInto(*value, problem.where, problem.excerpt);
      value->Adopt(parsed.error());
      return;
    }
    for (auto& [key, given] : parsed->values) MoveInto(*value, given.where, given.excerpt);
    for (const auto& [key, twice] : {std::pair("node", !parsed->node.empty() && !spec.node.empty()),
                                     std::pair("nodes", parsed->nodes > 0 && spec.nodes > 0)}) {
      if (!twice) continue;
      value->Error("TL1105", fmt::format("'{}' is given beside the fabric and in it", key),
                   "keep one of them");
    }
    if (parsed->node.empty()) parsed->node = spec.node;
    if (parsed->nodes == 0) parsed->nodes = spec.nodes;
    spec = std::move(*parsed);
    return;
  }
  const auto map = value->AsMap();
  if (!map) return;
  ReadFabricSpec(*map, spec);
  if (spec.file.empty()) return;
  if (const auto path = FindFile(file, *map->Find("file"))) spec.file = *path;
}

// A time that software takes for one thing.
void ReadShort(const YamlValue& value, Time& time) {
  constexpr Time kMost = Time::Microseconds(1'000'000);
  if (!value.Read(time) || time <= kMost) return;
  value.Error("TL1108", fmt::format("{} for one message", ToString(time)), "write at most 1 s");
}

void ReadCost(const YamlMap& sockets, const char* key, SocketCost& cost) {
  const auto map = sockets.Map(key);
  if (!map) return;
  if (const auto unit = map->Find("unit")) ReadShort(*unit, cost.unit);
  map->Read("copy", cost.copy);
}

// `sockets`: what sockets cost, where it differs from a measured server.
void ReadSockets(const YamlMap& transport, ClusterSpec& spec) {
  if (!spec.transport.sockets) {
    transport.Refuse("sockets", "TL1207", "'sockets' is of tcp, and RDMA goes past the kernel",
                     "remove the key; nothing would read it");
    return;
  }
  const auto map = transport.Map("sockets");
  if (!map) return;
  SocketModel& sockets = *spec.transport.sockets;
  constexpr Bytes kMost{std::int64_t{1} << 30};
  for (const auto& [key, bytes] :
       {std::pair("unit", &sockets.unit), std::pair("window", &sockets.window)}) {
    const auto value = map->Find(key);
    if (!value || !value->Read(*bytes)) continue;
    if (*bytes > kMost || *bytes < spec.transport.mtu) {
      value->Error(
          "TL1108", fmt::format("a {} of {}", key, ToString(*bytes)),
          fmt::format("at least the MTU, {}, and at most 1 GiB", ToString(spec.transport.mtu)));
    }
  }
  map->Read("cores", sockets.cores, IntRange{.min = 1, .max = 1024});
  ReadCost(*map, "send", sockets.send);
  ReadCost(*map, "receive", sockets.receive);
}

void ReadTransport(const YamlMap& cluster, ClusterSpec& spec) {
  const auto transport = cluster.Map("transport");
  std::string name = "infiniband";
  if (transport) {
    static const Words<std::string> kKinds = {
        {"infiniband", "infiniband"}, {"rocev2", "rocev2"}, {"tcp", "tcp"}, {"ideal", "ideal"}};
    transport->Read("kind", name, kKinds);
  }
  const auto kind = ParseTransportKind(name);
  spec.transport = kind ? DefaultTransport(*kind) : IdealTransport();
  spec.transport_name = name;
  if (!transport) return;
  if (const auto mtu = transport->Find("mtu"); mtu && mtu->Read(spec.transport.mtu)) {
    if (spec.transport.mtu > Bytes(65'536)) {
      mtu->Error("TL1108", "an MTU above 64 KiB", "write 4096 B, say");
    } else if (!kind) {
      mtu->Error("TL1207", "the ideal transport has no packets, hence no MTU",
                 "remove the key; nothing would read it");
    }
  }
  if (const auto overhead = transport->Find("message_overhead")) {
    ReadShort(*overhead, spec.transport.message_overhead);
  }
  ReadSockets(*transport, spec);
}

void AssumeSockets(Scenario& scenario) {
  const auto& sockets = scenario.cluster.transport.sockets;
  if (!sockets) return;
  const Bytes unit = UnitOf(*sockets, scenario.cluster.transport.mtu);
  scenario.assumptions.push_back(fmt::format(
      "sockets: a core sends {} in {} and receives them in {}; {} of a connection may be under way",
      ToString(unit), Humanize(sockets->send.Of(unit)), Humanize(sockets->receive.Of(unit)),
      ToString(sockets->window)));
}

// Packets on Ethernet keep to one path unless somebody says otherwise.
void ChooseRouting(const FabricSpec& fabric, Scenario& scenario) {
  ClusterSpec& spec = scenario.cluster;
  if (fabric.routing) {
    spec.routing = *fabric.routing;
    spec.routing_parameters = fabric.routing_parameters;
  } else if (scenario.has_packets() && spec.transport.kind != TransportKind::kInfiniband) {
    spec.routing = RoutingPolicy::kEcmp;
    scenario.assumptions.emplace_back("routing: none is given; ECMP, as Ethernet switches do");
  } else {
    scenario.assumptions.emplace_back("routing: none is given; adaptive over the minimal paths");
  }
}

}  // namespace

void ReadCluster(const std::string& file, const YamlMap& cluster, FabricSpec& fabric,
                 Scenario& scenario) {
  static const Words<GpuDirect> kGpuDirect = {{"true", GpuDirect::kOn}, {"false", GpuDirect::kOff}};
  ClusterSpec& spec = scenario.cluster;
  if (const auto node = cluster.Find("node"); node && node->Read(fabric.node)) {
    const auto path = IsNodeFile(fabric.node) ? FindFile(file, *node) : fabric.node;
    if (path) fabric.node = *path;
  }
  cluster.Read("nodes", fabric.nodes, IntRange{.min = 1, .max = 1'000'000});
  ReadFabric(file, cluster, fabric, scenario.assumptions);
  for (const auto& [key, given] : fabric.values) {
    const Rate* rate = std::get_if<Rate>(&given.value);
    if (rate != nullptr) NoteRate({given.where, given.excerpt}, *rate, scenario);
  }
  ReadTransport(cluster, spec);
  AssumeSockets(scenario);
  ChooseRouting(fabric, scenario);
  const bool sockets = spec.transport.kind == TransportKind::kTcp;
  if (sockets) spec.gpudirect = GpuDirect::kOff;  // the kernel copies from and to host memory
  cluster.Read("gpudirect", spec.gpudirect, kGpuDirect);
  if (sockets && spec.gpudirect == GpuDirect::kOn) {
    cluster.Find("gpudirect")
        ->Error("TL1209", "gpudirect with tcp, which has no RDMA",
                "remove it, or choose transport kind infiniband or rocev2");
  }
}

}  // namespace trunkline
