#include "trunkline/transport/transport.h"

#include <string>
#include <utility>

#include "base/embedded_yaml.h"
#include "trunkline/base/check.h"

namespace trunkline {

// Generated from data/protocols.
extern const EmbeddedTable k_trunkline_transport_data_protocols;

namespace {

constexpr std::array<std::pair<TransportKind, const char*>, 3> kKinds = {{
    {TransportKind::kInfiniband, "infiniband"},
    {TransportKind::kRocev2, "rocev2"},
    {TransportKind::kTcp, "tcp"},
}};
constexpr std::array<std::pair<Protocol, const char*>, kProtocolCount> kProtocols = {{
    {Protocol::kSimple, "simple"},
    {Protocol::kLl, "ll"},
    {Protocol::kLl128, "ll128"},
}};
constexpr std::array<std::pair<HopClass, const char*>, kHopClassCount> kHops = {{
    {HopClass::kNvlink, "nvlink"},
    {HopClass::kPcie, "pcie"},
    {HopClass::kNetwork, "network"},
}};

template <typename Names, typename Enum>
const char* NameOf(const Names& names, Enum value) {
  for (const auto& [each, name] : names) {
    if (each == value) {
      return name;
    }
  }
  TL_CHECK(false, "unnamed enumerator", static_cast<int>(value));
  return "";
}

template <typename Enum, std::size_t count>
std::optional<Enum> ValueOf(const std::array<std::pair<Enum, const char*>, count>& names,
                            std::string_view text) {
  for (const auto& [value, name] : names) {
    if (text == name) {
      return value;
    }
  }
  return std::nullopt;
}

YamlMap RequireMap(const YamlMap& map, const char* key) {
  auto found = map.Map(key);
  TL_CHECK(found.has_value(), "embedded protocol file lacks", key);
  return *found;
}

void ReadBaseLatency(const YamlMap& map, std::array<Time, kProtocolCount>& out) {
  for (const auto& [protocol, name] : kProtocols) {
    map.Require(name, out[static_cast<std::size_t>(protocol)]);
  }
}

void ReadStepLatency(const YamlMap& map, StepLatency& out) {
  for (const auto& [protocol, name] : kProtocols) {
    const YamlMap row = RequireMap(map, name);
    for (const auto& [hop, hop_name] : kHops) {
      row.Require(hop_name, out[static_cast<std::size_t>(protocol)][static_cast<std::size_t>(hop)]);
    }
  }
}

}  // namespace

const char* ToString(TransportKind kind) { return NameOf(kKinds, kind); }
const char* ToString(Protocol protocol) { return NameOf(kProtocols, protocol); }

std::optional<TransportKind> ParseTransportKind(std::string_view text) {
  return ValueOf(kKinds, text);
}
std::optional<Protocol> ParseProtocol(std::string_view text) { return ValueOf(kProtocols, text); }

std::int64_t PayloadPer128(Protocol protocol) {
  switch (protocol) {
    case Protocol::kSimple:
      return 128;
    case Protocol::kLl:
      return 64;
    case Protocol::kLl128:
      return 120;
  }
  TL_CHECK(false, "unknown protocol");
  return 128;
}

TransportModel DefaultTransport(TransportKind kind) {
  TransportModel model = IdealTransport();
  model.kind = kind;

  YamlDocument nccl =
      OpenEmbedded(k_trunkline_transport_data_protocols, "protocols/nccl-2.30.yaml");
  const YamlMap steps = RequireMap(nccl.root(), "step_latency");
  ReadStepLatency(RequireMap(steps, "ring"), model.step_latency);
  ReadStepLatency(RequireMap(steps, "tree"), model.tree_step_latency);
  const YamlMap base = RequireMap(nccl.root(), "base_latency");
  ReadBaseLatency(RequireMap(base, "ring"), model.ring_base_latency);
  ReadBaseLatency(RequireMap(base, "tree"), model.tree_base_latency);
  nccl.root().Require("message_overhead", model.message_overhead);
  CloseEmbedded(nccl);

  YamlDocument packets =
      OpenEmbedded(k_trunkline_transport_data_protocols, "protocols/packets.yaml");
  for (const auto& [each, name] : kKinds) {
    Bytes mtu;
    Bytes overhead;
    const YamlMap packet = RequireMap(packets.root(), name);
    packet.Require("mtu", mtu);
    packet.Require("overhead", overhead);
    if (each == kind) {
      model.mtu = mtu;
      model.packet_overhead = overhead;
    }
  }
  CloseEmbedded(packets);
  if (kind == TransportKind::kTcp) model.sockets = DefaultSockets();
  return model;
}

TransportModel IdealTransport() { return {}; }

}  // namespace trunkline
