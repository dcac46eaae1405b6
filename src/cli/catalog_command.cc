#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/console.h"
#include "trunkline/base/check.h"
#include "trunkline/collective/algorithm.h"
#include "trunkline/fabric/build.h"
#include "trunkline/fabric/catalog.h"
#include "trunkline/fabric/cost.h"
#include "trunkline/fabric/import.h"
#include "trunkline/transport/congestion_control.h"
#include "trunkline/transport/transport.h"
#include "trunkline/workload/flow_sizes.h"
#include "trunkline/workload/traffic.h"

namespace trunkline {
namespace {

std::string Nodes() {
  std::string out;
  for (const std::string& name : NodeTemplateNames()) {
    const auto node = FindNodeTemplate(name);
    TL_CHECK(node.has_value(), "a built-in node template cannot be read", name);
    // A plain host is its own NIC.
    const std::string ends =
        node->nics == 0 ? "1 NIC" : fmt::format("{} GPUs, {} NICs", node->gpus, node->nics);
    out += fmt::format("  {:<14} {} of {}: {}\n", name, ends, ToString(node->nic_rate),
                       node->description);
  }
  return out;
}

std::string Accelerators() {
  std::string out;
  for (const std::string& name : AcceleratorNames()) {
    const auto accelerator = FindAccelerator(name);
    TL_CHECK(accelerator.has_value(), "a built-in accelerator cannot be read", name);
    out += fmt::format("  {:<18} {} bf16, {} at {}\n", name, Humanize(accelerator->bf16),
                       ToString(accelerator->memory), Humanize(accelerator->memory_bandwidth));
  }
  return out;
}

std::string Fabrics() {
  std::string out;
  for (const FabricKind& kind : FabricKinds()) {
    out += fmt::format("  {}: {}\n", kind.name, kind.summary);
    for (const FabricKey& key : kind.keys) {
      out += fmt::format("      {:<18} {} (default: {})\n", key.name, key.summary, key.fallback);
    }
  }
  return out;
}

std::string Formats() {
  std::string out;
  for (const FabricFormat& format : FabricFormats()) {
    out += fmt::format("  {:<16} {:<7} {}\n", format.name,
                       format.reads && format.writes ? "in, out"
                       : format.reads                ? "in"
                                                     : "out",
                       format.summary);
  }
  return out;
}

std::string Routing() {
  std::string out;
  for (const RoutingPolicyInfo& policy : RoutingPolicies()) {
    out += fmt::format("  {:<15} {}\n", policy.name, policy.summary);
    if (!policy.keys.empty()) out += fmt::format("      reads {}\n", fmt::join(policy.keys, ", "));
  }
  return out;
}

std::string AlgorithmList() {
  std::string out;
  for (const Algorithm& algorithm : Algorithms()) {
    std::vector<std::string> primitives;
    for (int i = 0; i <= static_cast<int>(Primitive::kBarrier); ++i) {
      const auto primitive = static_cast<Primitive>(i);
      if (algorithm.supports(primitive)) primitives.emplace_back(ToString(primitive));
    }
    out += fmt::format("  {}: {}\n      {}\n      does {}\n", algorithm.name, algorithm.summary,
                       algorithm.cost, fmt::join(primitives, ", "));
  }
  return out;
}

std::string Transports() {
  std::string out;
  for (const TransportKind kind :
       {TransportKind::kInfiniband, TransportKind::kRocev2, TransportKind::kTcp}) {
    const TransportModel model = DefaultTransport(kind);
    out += fmt::format("  {:<12} MTU {}, {} of headers a packet\n", ToString(kind),
                       ToString(model.mtu), ToString(model.packet_overhead));
  }
  return out + "  ideal        no headers and no latency of its own\n";
}

std::string Congestion() {
  std::string out;
  for (const CongestionPolicyInfo& policy : CongestionPolicies()) {
    out += fmt::format("  {}: {}\n", policy.name, policy.summary);
    for (const CongestionPreset& preset : policy.presets) {
      out += fmt::format("      preset {:<20} {}\n", preset.name, preset.source);
    }
    for (const CongestionParameter& parameter : policy.parameters) {
      out += fmt::format("      {:<18} {} (default at 100 Gb/s: {:g}{})\n", parameter.name,
                         parameter.meaning, parameter.value,
                         parameter.unit == "1" ? "" : " " + parameter.unit);
    }
  }
  return out;
}

std::string Patterns() {
  std::string out;
  for (const TrafficPattern& pattern : TrafficPatterns()) {
    out += fmt::format("  {}: {}\n", pattern.name, pattern.summary);
    for (const TrafficKey& key : pattern.keys) {
      const std::string fallback =
          key.fallback.empty() ? "required" : fmt::format("default: {}", key.fallback);
      out += fmt::format("      {:<18} {} ({})\n", key.name, key.summary, fallback);
    }
  }
  return out;
}

std::string Sizes() {
  std::string out;
  for (const FlowSizesInfo& info : FlowSizeCatalog()) {
    out += fmt::format("  {:<12} {}\n", info.name, info.summary);
  }
  return out;
}

std::string Prices() {
  std::string out;
  for (const std::string& name : PriceListNames()) {
    const auto list = FindPriceList(name);
    TL_CHECK(list.has_value(), "a built-in price list cannot be read", name);
    out += fmt::format("  {:<14} {}: {} switches, {} cables\n", name, list->currency,
                       list->switches.size(), list->cables.size());
  }
  return out;
}

struct Section {
  const char* kind;
  const char* title;
  std::string (*list)();
};
constexpr std::array kSections = {
    Section{"nodes", "Servers", Nodes},
    Section{"accelerators", "Accelerators", Accelerators},
    Section{"fabrics", "Fabrics and their keys", Fabrics},
    Section{"formats", "Formats of fabric files", Formats},
    Section{"routing", "Routing policies", Routing},
    Section{"algorithms", "Collective algorithms", AlgorithmList},
    Section{"transports", "Transports", Transports},
    Section{"congestion", "Congestion controls, their presets and parameters", Congestion},
    Section{"patterns", "Traffic patterns and their keys", Patterns},
    Section{"sizes", "Sizes of messages as measured", Sizes},
    Section{"prices", "Price lists", Prices},
};

}  // namespace

int Execute(const CatalogCommand& command) {
  std::string out;
  std::vector<std::string> kinds;
  for (const Section& section : kSections) {
    kinds.emplace_back(section.kind);
    if (!command.kind.empty() && command.kind != section.kind) continue;
    out += fmt::format("{}{} ({}):\n{}", out.empty() ? "" : "\n", section.title, section.kind,
                       section.list());
  }
  if (!out.empty()) {
    PrintResult(out);
    return kExitDone;
  }
  const std::string match = ClosestMatch(command.kind, kinds);
  return Refuse(Error("TL1005", fmt::format("the catalogue has no '{}'", command.kind),
                      match.empty() ? fmt::format("choose one of: {}", fmt::join(kinds, ", "))
                                    : fmt::format("did you mean '{}'?", match))
                    .error());
}

}  // namespace trunkline
