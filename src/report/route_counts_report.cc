#include "report/route_counts_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "report/names.h"
#include "report/table.h"

namespace trunkline {
namespace {

constexpr std::size_t kShownPorts = 4;

double MeanOf(std::span<const PortRoutes> ports) {
  double sum = 0;
  for (const PortRoutes& port : ports) sum += static_cast<double>(port.destinations);
  return sum / static_cast<double>(ports.size());
}

}  // namespace

std::string RoutesText(const Fabric& fabric, const RoutingProof& routing) {
  if (!routing.routes || routing.routes->empty()) return "";
  const std::span<const PortRoutes> ports = *routing.routes;
  std::string text = fmt::format(
      "{:<18}{} destinations on the fullest port between switches, {:.4g} "
      "on average\n",
      "routes", Grouped(static_cast<double>(ports[0].destinations)), MeanOf(ports));
  std::string fullest;
  for (const PortRoutes& port : ports.first(std::min(ports.size(), kShownPorts))) {
    fullest += fmt::format("{}{}: {}", fullest.empty() ? "" : ", ", LinkName(fabric, port.link),
                           port.destinations);
  }
  const bool more = ports.size() > kShownPorts;
  return text + Wrap(fullest + (more ? ", …" : ""), std::string(18, ' '), 100);
}

void WriteRoutes(JsonWriter& json, const Fabric& fabric, const RoutingProof& routing) {
  json.Key("routes");
  if (!routing.routes) {
    json.Null();
    return;
  }
  const std::span<const PortRoutes> ports = *routing.routes;
  json.Object([&] {
    json.Field("most", ports.empty() ? 0 : ports[0].destinations);
    json.Field("mean", ports.empty() ? 0 : MeanOf(ports));
    json.Key("ports");
    json.Objects(ports, [&](const PortRoutes& port) {
      json.Field("from", fabric.name(fabric.link(port.link).from));
      json.Field("to", fabric.name(fabric.link(port.link).to));
      json.Field("destinations", port.destinations);
    });
  });
}

}  // namespace trunkline
