#include "trunkline/fabric/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/plural.h"
#include "fabric/builders/builder.h"
#include "fabric/builders/remedy.h"
#include "fabric/node_nics.h"
#include "trunkline/base/check.h"
#include "trunkline/fabric/import.h"

namespace trunkline {
namespace {

// The value is of the type and range of its key, as readers ensure; checked here because a spec can
// also be filled by hand.
bool IsValid(const FabricKey& key, const FabricValue& value) {
  const auto in_range = [&](auto number) {
    return static_cast<double>(number) >= key.min && static_cast<double>(number) <= key.max;
  };
  switch (key.type) {
    case FabricKey::Type::kCount: {
      const auto* count = std::get_if<std::int64_t>(&value.value);
      return count != nullptr && in_range(*count);
    }
    case FabricKey::Type::kCounts: {
      const auto* counts = std::get_if<std::vector<std::int64_t>>(&value.value);
      return counts != nullptr && !counts->empty() && std::ranges::all_of(*counts, in_range);
    }
    case FabricKey::Type::kRatios: {
      const auto* ratios = std::get_if<std::vector<double>>(&value.value);
      return ratios != nullptr && !ratios->empty() && std::ranges::all_of(*ratios, in_range);
    }
    case FabricKey::Type::kRate: {
      const auto* rate = std::get_if<Rate>(&value.value);
      return rate != nullptr && in_range(rate->bits_per_second());
    }
  }
  return false;
}

Diagnostics CheckValues(const FabricSpec& spec, const Builder& builder) {
  Diagnostics problems;
  std::vector<FabricKey> keys = builder.kind.keys;
  keys.push_back(NicsKey());
  for (const auto& [name, value] : spec.values) {
    const auto key = std::ranges::find(keys, name, &FabricKey::name);
    if (key != keys.end() && IsValid(*key, value)) continue;
    Diagnostic problem{.code = "TL1402",
                       .where = value.where,
                       .message = {},
                       .hint = {},
                       .excerpt = value.excerpt};
    if (key == keys.end()) {
      problem.message = fmt::format("a {} fabric does not read '{}'", spec.kind, name);
      problem.hint = "remove it, or choose another kind";
    } else {
      problem.message = fmt::format("'{}' is of the wrong type or out of range", name);
      problem.hint = key->summary;
    }
    problems.push_back(std::move(problem));
  }
  return problems;
}

// Refuses what would not fit in memory, before any of it is allocated.
std::optional<std::string> TooLarge(const NetworkPlan& plan, const NodeTemplate& node,
                                    double ends) {
  const auto over = [](const char* what, double count, double limit) {
    return fmt::format("{:.7g} {}, at most {:.7g} are supported", count, what, limit);
  };
  if (ends > kMaxEnds) return over("NICs", ends, kMaxEnds);
  const double devices = static_cast<double>(plan.nodes) * static_cast<double>(node.devices.size());
  const double buses = static_cast<double>(plan.nodes) * static_cast<double>(node.buses.size());
  if (devices > kMaxDevices) return over("devices in nodes", devices, kMaxDevices);
  if (buses > kMaxCables) return over("buses in nodes", buses, kMaxCables);
  if (plan.switches > kMaxSwitches) return over("switches", plan.switches, kMaxSwitches);
  if (plan.cables > kMaxCables) return over("cables", plan.cables, kMaxCables);
  // What any switch, trunk or cut has must fit in a Rate.
  if (plan.rate > kMaxTotalRate) {
    return fmt::format("its cables carry {:.3g} PB/s together, at most {:.3g} are supported",
                       plan.rate / 8e15, kMaxTotalRate / 8e15);
  }
  const double records = plan.destinations * plan.switches;
  if (records > kMaxRoutingRecords) return over("routing records", records, kMaxRoutingRecords);
  return std::nullopt;
}

// The devices and buses of all nodes; returns the NICs (or hosts), node by node.
std::vector<DeviceId> AddNodes(FabricBuilder& builder, const NodeTemplate& node,
                               std::uint32_t nodes) {
  std::vector<DeviceId> ends;
  std::vector<DeviceId> devices;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    devices.clear();
    for (Device device : node.devices) {
      device.node = n;
      devices.push_back(builder.AddDevice(device));
      if (IsNetworkEnd(device.kind)) {
        ends.push_back(devices.back());
        // Hosts of several NICs are ranks of one server.
        if (device.kind == DeviceKind::kHost && node.nics > 1) {
          builder.SetName(devices.back(), fmt::format("host-{}/{}", n, device.local));
        }
      }
    }
    for (const NodeTemplate::Bus& bus : node.buses) {
      builder.AddCable(devices[bus.from], devices[bus.to], bus.rate, bus.latency, bus.kind);
    }
  }
  return ends;
}

Result<NetworkPlan> PlanKind(const FabricSpec& spec, const Builder& builder,
                             const NodeTemplate& node) {
  const FabricParameters parameters(spec, node);
  if (spec.nodes > kMaxNodes || parameters.ends(spec.nodes) > kMaxEnds) {
    return TooManyEnds(parameters.ends(spec.nodes));
  }
  auto plan = builder.plan(parameters);
  if (!plan) return plan;
  if (const auto why = TooLarge(*plan, node, parameters.ends(plan->nodes))) {
    return Error("TL1404", "the fabric is too large: " + *why, "use fewer nodes or a larger radix");
  }
  return plan;
}

// Adds the numbers that would work to the hint.
Diagnostics WithRemedies(Diagnostics problems, const FabricSpec& spec, const Builder& builder,
                         const NodeTemplate& node) {
  const std::string remedies =
      FindRemedies(spec, builder, [&](const FabricSpec& other) -> std::optional<double> {
        const auto plan = PlanKind(other, builder, node);
        if (!plan) return std::nullopt;
        return static_cast<double>(plan->nodes) * std::max(1U, node.nics);
      });
  if (!remedies.empty()) {
    problems.front().hint += fmt::format("; any of these would work: {}", remedies);
  }
  return problems;
}

// A builder makes what it planned.
void CheckParts(const Fabric& fabric, const NetworkPlan& plan, const NodeTemplate& node) {
  const double devices = static_cast<double>(plan.nodes) * static_cast<double>(node.devices.size());
  const double buses = static_cast<double>(plan.nodes) * static_cast<double>(node.buses.size());
  TL_CHECK(static_cast<double>(fabric.device_count()) == devices + plan.switches,
           fabric.device_count(), devices, plan.switches);
  TL_CHECK(static_cast<double>(fabric.link_count()) == 2 * (buses + plan.cables),
           fabric.link_count(), buses, plan.cables);
}

// A fabric of one of the kinds, without its faults.
Result<BuiltFabric> BuildKind(const FabricSpec& spec) {
  const Builder* builder = FindBuilder(spec.kind);
  if (builder == nullptr) return UnknownKind(spec.kind);
  auto node = FindNodeTemplate(spec.node.empty() ? "host" : spec.node);
  if (!node) return std::unexpected(std::move(node.error()));
  if (Diagnostics problems = CheckValues(spec, *builder); !problems.empty()) {
    return std::unexpected(std::move(problems));
  }
  if (const auto nics = spec.values.find(NicsKey().name); nics != spec.values.end()) {
    const auto count = static_cast<std::uint32_t>(std::get<std::int64_t>(nics->second.value));
    node = WithSoManyNics(*std::move(node), count);
    if (!node) {
      node.error().front().where = nics->second.where;
      node.error().front().excerpt = nics->second.excerpt;
      return std::unexpected(std::move(node.error()));
    }
  }
  auto plan = PlanKind(spec, *builder, *node);
  if (!plan) {
    return std::unexpected(WithRemedies(std::move(plan.error()), spec, *builder, *node));
  }

  FabricBuilder fabric_builder;
  fabric_builder.Reserve(
      plan->nodes * node->devices.size() + static_cast<std::size_t>(plan->switches),
      plan->nodes * node->buses.size() + static_cast<std::size_t>(plan->cables));
  const std::vector<DeviceId> ends = AddNodes(fabric_builder, *node, plan->nodes);
  plan->build(fabric_builder, ends);
  BuiltFabric built{.fabric = std::move(fabric_builder).Build(),
                    .kind = spec.kind,
                    .summary = std::move(plan->summary),
                    .node = *node,
                    .unit_of_node = std::move(plan->unit_of_node),
                    .bisection = std::move(plan->bisection)};
  CheckParts(built.fabric, *plan, *node);
  return built;
}

// A fabric from a file, without its faults.
Result<BuiltFabric> ReadFabric(const FabricSpec& spec) {
  auto imported = ImportFabricFile(spec.file, OptionsOf(spec));
  if (!imported) return std::unexpected(std::move(imported.error()));
  const std::uint32_t nodes = imported->built.fabric.node_count();
  if (spec.nodes != 0 && spec.nodes != nodes) {
    return Error(
        "TL1405",
        fmt::format("{} describes {}, not {}", spec.file, Plural(nodes, "server"), spec.nodes),
        "leave the number of nodes out");
  }
  return std::move(imported->built);
}

}  // namespace

Result<BuiltFabric> BuildFabric(const FabricSpec& spec) {
  auto built = spec.file.empty() ? BuildKind(spec) : ReadFabric(spec);
  if (!built || spec.faults.empty()) return built;
  auto faulty = ApplyFaults(built->fabric, spec.faults);
  if (!faulty) return std::unexpected(std::move(faulty.error()));
  built->fabric = *std::move(faulty);
  built->bisection.reset();
  return built;
}

}  // namespace trunkline
