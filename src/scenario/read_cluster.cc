#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "fabric/fabric_reader.h"
#include "scenario/reader.h"

namespace trunkline {
namespace {

// `fabric` as a mapping, or in the one-line form of the command line; without it the switches that
// hide least: non-blocking, at the rate of the servers' NICs.
void ReadFabric(const YamlMap& cluster, FabricSpec& spec, std::vector<std::string>& assumptions) {
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
      value->Adopt(parsed.error());
      return;
    }
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
  RefuseReserved(*map, "file", "a fabric from a file");
  RefuseReserved(*map, "format", "a fabric from a file");
  ReadFabricSpec(*map, spec);
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
}

// Packets of RoCE keep to one path unless somebody says otherwise.
void ChooseRouting(const FabricSpec& fabric, Scenario& scenario) {
  ClusterSpec& spec = scenario.cluster;
  if (fabric.routing) {
    spec.routing = *fabric.routing;
  } else if (scenario.engine == EngineKind::kPacket &&
             spec.transport.kind == TransportKind::kRocev2) {
    spec.routing = RoutingPolicy::kEcmp;
    scenario.assumptions.emplace_back("routing: none is given; ECMP, as Ethernet switches do");
  }
}

// `50%` is a part of the cable's rate, anything else a rate.
void ReadFaultValue(const YamlValue& value, StaticFault& fault) {
  const std::string& text = value.text();
  if (!text.ends_with('%')) {
    Rate rate;
    if (value.Read(rate)) fault.rate = rate;
    return;
  }
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size() - 1, percent);
  if (error != std::errc() || end != text.data() + text.size() - 1 ||
      !(percent > 0 && percent < 100)) {
    value.Error("TL1204", fmt::format("'{}' is not a part of a rate", text),
                "write what is left of the cable, between 0 and 100 %, such as 50%");
    return;
  }
  fault.fraction = percent / 100;
}

std::optional<StaticFault> ReadFault(const YamlValue& element) {
  static const Words<StaticFault::Kind> kKinds = {{"degrade", StaticFault::Kind::kDegrade},
                                                  {"fail", StaticFault::Kind::kFail}};
  const auto map = element.AsMap();
  if (!map) return std::nullopt;
  StaticFault fault;
  fault.where = element.where();
  if (const auto target = map->Required("target")) {
    target->Read(fault.target);
    fault.where = target->where();
    fault.excerpt = target->excerpt();
  }
  map->Require("kind", fault.kind, kKinds);
  RefuseReserved(*map, "at", "a fault that begins during the run");
  RefuseReserved(*map, "until", "a fault that ends during the run");
  if (const auto value = map->Find("value")) {
    ReadFaultValue(*value, fault);
    if (fault.kind == StaticFault::Kind::kFail) {
      value->Error("TL1204", "a failed cable has no value", "remove it, or write kind: degrade");
    }
  } else if (fault.kind == StaticFault::Kind::kDegrade) {
    map->Error("TL1204", "a degraded cable needs a value", "add value: 50% or a rate");
  }
  return fault;
}

}  // namespace

void ReadFaults(const YamlMap& root, FabricSpec& spec, ClusterSpec& cluster) {
  const auto list = root.List("faults");
  if (!list) return;
  for (const YamlValue& element : *list) {
    if (auto fault = ReadFault(element)) spec.faults.push_back(std::move(*fault));
  }
  cluster.faults = spec.faults;
}

void ReadCluster(const std::string& file, const YamlMap& cluster, FabricSpec& fabric,
                 Scenario& scenario) {
  static const Words<PlacementKind> kPlacements = {{"packed", PlacementKind::kPacked},
                                                   {"random", PlacementKind::kRandom}};
  static const Words<GpuDirect> kGpuDirect = {{"true", GpuDirect::kOn}, {"false", GpuDirect::kOff}};
  ClusterSpec& spec = scenario.cluster;
  if (const auto node = cluster.Find("node"); node && node->Read(fabric.node)) {
    if (IsNodeFile(fabric.node)) fabric.node = PathBeside(file, *node);
  }
  cluster.Read("nodes", fabric.nodes, IntRange{.min = 1, .max = 1'000'000});
  ReadFabric(cluster, fabric, scenario.assumptions);
  ReadTransport(cluster, spec);
  ChooseRouting(fabric, scenario);
  cluster.Read("placement", spec.placement, kPlacements);
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
