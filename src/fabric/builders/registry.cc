#include <fmt/format.h>

#include <array>

#include "fabric/builders/builder.h"

namespace trunkline {
namespace {

constexpr std::array kBuilders = {
    &SingleSwitchBuilder, &TreeBuilder,  &ClosBuilder,     &FatTreeBuilder,   &RailOptimizedBuilder,
    &RailOnlyBuilder,     &HpnBuilder,   &MetaRoceBuilder, &DragonflyBuilder, &DragonflyPlusBuilder,
    &SlimFlyBuilder,      &TorusBuilder, &FullMeshBuilder,
};

}  // namespace

std::span<const Builder* const> Builders() {
  static const auto builders = [] {
    std::array<const Builder*, kBuilders.size()> made{};
    for (std::size_t i = 0; i < kBuilders.size(); ++i) made[i] = &kBuilders[i]();
    return made;
  }();
  return builders;
}

const Builder* FindBuilder(std::string_view kind) {
  for (const Builder* builder : Builders()) {
    if (builder->kind.name == kind) return builder;
  }
  return nullptr;
}

std::vector<FabricKind> FabricKinds() {
  std::vector<FabricKind> kinds;
  for (const Builder* builder : Builders()) kinds.push_back(builder->kind);
  return kinds;
}

std::unexpected<Diagnostics> UnknownKind(const std::string& kind) {
  std::vector<std::string> names;
  for (const Builder* builder : Builders()) names.push_back(builder->kind.name);
  const std::string close = ClosestMatch(kind, names);
  return Error("TL1401", fmt::format("unknown kind of fabric '{}'", kind),
               close.empty() ? fmt::format("known: {}", fmt::join(names, ", "))
                             : fmt::format("did you mean '{}'?", close));
}

FabricKey CountKey(const char* name, const char* fallback, const char* summary, double most) {
  return {name, FabricKey::Type::kCount, 1, most, fallback, summary};
}

FabricKey NicsKey() {
  return CountKey("nics", "all of the node's", "NICs of a node that are cabled", 64);
}

FabricKey LinkKey() {
  return {"link",
          FabricKey::Type::kRate,
          1,
          kMaxRate,
          "the NIC's rate, shared by its ports",
          "rate of the cables of NICs"};
}

FabricKey UplinkKey() {
  return {"uplink", FabricKey::Type::kRate, 1,
          kMaxRate, "that of link",         "rate of the cables between switches"};
}

FabricKey RadixKey() {
  return {"radix", FabricKey::Type::kCounts,
          2,       static_cast<double>(kMaxRadix),
          "64",    "ports of a switch; a list for leaf, spine, core"};
}

FabricKey OversubscriptionKey() {
  return {"oversubscription",
          FabricKey::Type::kRatios,
          0.1,
          1000,
          "1",
          "downward over upward rate of a leaf; a list for leaf, spine"};
}

FabricKey PlanesKey() {
  // Up to one for each NIC of a rack of 576 GPUs.
  return {"planes", FabricKey::Type::kCount,
          1,        1024,
          "1",      "separate networks: NIC i of a node is in plane i modulo planes"};
}

FabricKey PortsKey() {
  return CountKey("ports", "1",
                  "ports of a NIC, each to a leaf of its own plane (dual-ToR, dual-plane: 2)", 8);
}

FabricKey BreakoutKey() {
  return {"breakout", FabricKey::Type::kCounts,
          1,          8,
          "1",        "cables that share a port: a list for those of ends, spines, cores"};
}

FabricKey TiersKey() { return CountKey("tiers", "as few as suffice", "tiers of switches", 3); }

}  // namespace trunkline
