#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/plural.h"
#include "fabric/builders/xgft.h"

namespace trunkline {
namespace {

// Qian et al.: Alibaba HPN: A Data Center Network for Large Language Model Training (SIGCOMM 2024),
// section 3 and tables 2 and 4. A segment of hosts has two ToR switches a rail, one for each port
// of its NICs, and the ToRs of either port are a plane of their own up to the core. Aggregation
// switches serve all rails of a pod, or one rail each (rail-only), and have as many ports downwards
// either way.
constexpr std::uint32_t kHosts = 128;       // of a segment
constexpr std::uint32_t kPlanes = 2;        // ports of a NIC
constexpr std::uint32_t kAggregation = 60;  // switches that a ToR has a cable to
constexpr std::uint32_t kToRs = 120;        // below an aggregation switch
constexpr std::uint32_t kCoreUplinks = 8;   // of an aggregation switch (15:1)
constexpr Rate kUplink = Rate::GigabitsPerSecond(400);
constexpr std::uint32_t kRadix = 128;  // 51.2 Tb/s, ports as fast as uplinks

// Ports of one uplink's rate that `cables` of another take: slower ones share a port.
std::uint64_t PortsFor(std::uint64_t cables, Rate rate, Rate port) {
  const std::int64_t fit = port.bits_per_second() / rate.bits_per_second();
  if (fit > 0)
    return (cables + static_cast<std::uint64_t>(fit) - 1) / static_cast<std::uint64_t>(fit);
  const std::int64_t each = (rate.bits_per_second() - 1) / port.bits_per_second() + 1;
  return cables * static_cast<std::uint64_t>(each);
}

// Ports that switches take, as fast as uplinks, in pods joined by cores.
struct Ports {
  std::uint64_t tor = 0;
  std::uint64_t below = 0;  // of an aggregation switch
  std::uint64_t up = 0;     // of it to its core; 0: one pod
  std::uint64_t pods = 1;   // the core has `up` cables to each

  [[nodiscard]] std::uint64_t aggregation() const { return below + up; }
  [[nodiscard]] std::uint64_t core() const { return pods * up; }
};

// Whether every switch has ports for its cables.
Result<void> CheckRadix(const FabricParameters& parameters, const Ports& ports) {
  struct Need {
    std::uint64_t ports;
    const char* what;
    const char* key;
    std::string remedy;
  };
  const std::uint32_t radix = parameters.Count("radix", kRadix);
  // As many cables of an aggregation switch as a core has ports for, where that is all it takes.
  const std::uint64_t fewer = std::max(ports.tor, ports.below + 1) <= radix
                                  ? std::min(radix / ports.pods, radix - ports.below)
                                  : 0;
  const std::array needs = {
      Need{ports.tor, "a ToR", "hosts", "fewer hosts of a segment, or a faster uplink"},
      Need{ports.aggregation(), "an aggregation switch", "segments", "fewer segments"},
      Need{ports.core(), "a core switch", "nodes",
           fewer > 0 ? fmt::format("core_uplinks={}, or fewer nodes", fewer) : "fewer nodes"}};
  const Need& most = *std::ranges::max_element(needs, {}, &Need::ports);
  if (most.ports <= radix) return {};
  return parameters.Fail(
      parameters.Has("radix") ? "radix" : most.key, "TL1403",
      fmt::format("{} takes {} ports as fast as uplinks, and has {}", most.what, most.ports, radix),
      (most.ports <= std::uint64_t{kMaxRadix} ? fmt::format("radix={}, or ", most.ports) : "") +
          most.remedy);
}

// All, or where they are more than the ToRs below an aggregation switch, as many as divide.
std::uint32_t SharedRails(std::uint32_t rails) {
  std::uint32_t shared = std::min(rails, kToRs);
  while (rails % shared != 0) --shared;
  return shared;
}

Result<NetworkPlan> PlanHpn(const FabricParameters& parameters) {
  const std::uint32_t rails = parameters.nics();
  const std::uint32_t shared = parameters.Count("shared_rails", SharedRails(rails));
  if (rails % shared != 0) {
    return parameters.Fail(
        "shared_rails", "TL1405", fmt::format("{} rails do not divide by {}", rails, shared),
        fmt::format("write shared_rails={} (any to any) or 1 (rail-only)", rails));
  }
  const std::uint32_t hosts = parameters.Count("hosts", kHosts);
  const std::uint32_t segments = parameters.Count("segments", std::max(1U, kToRs / shared));
  const double pod = static_cast<double>(hosts) * segments;
  const double wanted = parameters.nodes() > 0 ? parameters.nodes() : pod;
  if (wanted * rails > kMaxEnds) return TooManyEnds(wanted * rails);
  const auto nodes = static_cast<std::uint32_t>(wanted);
  const std::uint32_t used = (nodes + hosts - 1) / hosts;
  const std::uint32_t pods = (used + segments - 1) / segments;
  const std::uint32_t ports = parameters.Count("ports", kPlanes);
  const std::uint32_t aggregation = parameters.Count("aggregation", kAggregation);
  const std::uint32_t core_uplinks = parameters.Count("core_uplinks", kCoreUplinks);
  const Rate link = parameters.link(ports);
  const Rate uplink = parameters.Has("uplink") ? parameters.uplink() : kUplink;

  const Ports taken{.tor = PortsFor(hosts, link, uplink) + aggregation,
                    .below = std::uint64_t{segments} * shared,
                    .up = pods > 1 ? core_uplinks : 0,
                    .pods = pods};
  if (auto enough = CheckRadix(parameters, taken); !enough) {
    return std::unexpected(std::move(enough.error()));
  }

  XgftPlan plan;
  plan.networks = rails / shared;
  plan.leaves = used * shared;
  plan.levels = {{.children = hosts, .parents = ports, .rate = link},
                 {.children = segments * shared, .parents = aggregation, .rate = uplink}};
  if (pods > 1) {
    // The paper does not say how many core switches there are: an aggregation switch has all its
    // cables to one.
    plan.levels.push_back({.children = pods, .cables = core_uplinks, .rate = uplink});
  }
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (std::uint32_t rail = 0; rail < rails; ++rail) {
      plan.seats.push_back({rail / shared, node / hosts * shared + rail % shared});
    }
  }
  plan.cable_latency = parameters.cable_latency();
  plan.switch_latency = parameters.switch_latency();
  NetworkPlan network =
      PlanXgft(std::move(plan), nodes, rails,
               fmt::format("{} of {} in {}; {} of {} for {} each", Plural(used, "segment"),
                           Plural(hosts, "host"), Plural(pods, "pod"),
                           Plural(ports * (rails / shared), "plane"),
                           Plural(aggregation, "aggregation switch"), Plural(shared, "rail")));
  for (std::uint32_t node = 0; node < nodes; ++node) network.unit_of_node[node] = node / hosts;
  return network;
}

}  // namespace

const Builder& HpnBuilder() {
  static const Builder builder = {
      {"hpn",
       "Alibaba's HPN: two ToR switches a rail and segment, one for each port of a NIC, two planes "
       "of aggregation switches, cores above 15 segments",
       {CountKey("hosts", "128", "nodes of a segment"),
        CountKey("segments", "15, or 120 / shared_rails", "segments of a pod"),
        CountKey("shared_rails", "all, up to 120",
                 "rails that share aggregation switches; 1: rail-only"),
        CountKey("aggregation", "60", "aggregation switches of a plane, one cable a ToR to each"),
        CountKey("core_uplinks", "8", "cables of an aggregation switch to its core"),
        CountKey("ports", "2", "ports of a NIC, planes", 8),
        CountKey("radix", "128", "ports of a switch, as fast as an uplink"), LinkKey(),
        UplinkKey()}},
      PlanHpn};
  return builder;
}

}  // namespace trunkline
