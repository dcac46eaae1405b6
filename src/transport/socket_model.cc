#include "trunkline/transport/socket_model.h"

#include <algorithm>

#include "base/embedded_yaml.h"
#include "trunkline/base/check.h"

namespace trunkline {

// Generated from data/protocols.
extern const EmbeddedTable k_trunkline_transport_data_protocols;

namespace {

void ReadCost(const YamlMap& map, const char* key, SocketCost& cost) {
  const auto found = map.Map(key);
  TL_CHECK(found.has_value(), "the costs of sockets lack", key);
  found->Require("unit", cost.unit);
  found->Require("copy", cost.copy);
}

}  // namespace

SocketModel DefaultSockets() {
  SocketModel sockets;
  YamlDocument file = OpenEmbedded(k_trunkline_transport_data_protocols, "protocols/sockets.yaml");
  file.root().Require("unit", sockets.unit);
  ReadCost(file.root(), "send", sockets.send);
  ReadCost(file.root(), "receive", sockets.receive);
  file.root().Require("window", sockets.window);
  file.root().Require("cores", sockets.cores, {.min = 1, .max = 1024});
  CloseEmbedded(file);
  return sockets;
}

Bytes UnitOf(const SocketModel& sockets, Bytes mtu) {
  return mtu * std::max<std::int64_t>(1, sockets.unit.count() / mtu.count());
}

Rate RateOf(const SocketModel& sockets, Bytes mtu) {
  const Bytes unit = UnitOf(sockets, mtu);
  const Time slower = std::max(sockets.send.Of(unit), sockets.receive.Of(unit));
  const double bits = static_cast<double>(unit.count()) * 8 / slower.seconds();
  return Rate::BitsPerSecond(static_cast<std::int64_t>(bits));
}

Time LatencyOf(const SocketModel& sockets) { return sockets.send.unit + sockets.receive.unit; }

}  // namespace trunkline
