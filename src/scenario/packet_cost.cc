#include "scenario/packet_cost.h"

#include <fmt/format.h>

#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

std::string Count(double count) {
  if (count >= 1e9) return fmt::format("{:.3g} billion", count * 1e-9);
  if (count >= 1e6) return fmt::format("{:.3g} million", count * 1e-6);
  return count >= 1e3 ? fmt::format("{:.3g} thousand", count * 1e-3) : fmt::format("{:.0f}", count);
}

std::string Seconds(double seconds) {
  if (seconds < 120) return fmt::format("{:.2g} s", seconds);
  return seconds < 7200 ? fmt::format("{:.0f} min", seconds / 60)
                        : fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

std::string PacketCost(double hops, std::uint32_t runs) {
  return fmt::format("about {} packet-hops{}: {} at {} a second", Count(hops),
                     runs > 1 ? fmt::format(" x {} seeds", runs) : "",
                     Seconds(hops * runs / kPacketHopsPerSecond), Count(kPacketHopsPerSecond));
}

double HopsOf(std::span<const LinkUse> links, const Fabric& fabric,
              const PacketTransport& transport) {
  double bytes = 0;
  for (const LinkUse& use : links) {
    const bool network = fabric.link(use.link).kind == LinkKind::kNetwork;
    if (network) bytes += static_cast<double>(use.wire_bytes);
  }
  return bytes / static_cast<double>((transport.mtu + transport.packet_overhead).count());
}

double ExpectedHops(const EngineInput& input, const PacketTransport& transport,
                    const StopToken* stop) {
  EngineOptions options;
  options.stop = stop;
  const auto timeline = RunFlow(input, options);
  return timeline ? HopsOf(timeline->links, input.router.fabric(), transport) : 0;
}

}  // namespace trunkline
