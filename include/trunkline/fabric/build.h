#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/units.h"
#include "trunkline/fabric/catalog.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/fabric/fault.h"
#include "trunkline/fabric/route.h"

// From a few words ("rail-optimized, 64 DGX H100, radix 64") to a Fabric.
namespace trunkline {

// One key of one kind of fabric, as documentation and readers see it.
struct FabricKey {
  enum class Type : std::uint8_t { kCount, kCounts, kRatios, kRate };

  std::string name;
  Type type = Type::kCount;
  double min = 1;  // of counts and ratios, each element of a list
  double max = 1;
  std::string fallback;  // what holds when the key is absent, in words
  std::string summary;
};

struct FabricKind {
  std::string name;  // "rail-optimized"
  std::string summary;
  std::vector<FabricKey> keys;
};

// Every builder with its keys, by name.
[[nodiscard]] std::vector<FabricKind> FabricKinds();

struct FabricValue {
  std::variant<std::int64_t, std::vector<std::int64_t>, std::vector<double>, Rate> value;
  SourcePosition where = {};
  std::string excerpt = {};
};

struct FabricSpec {
  std::string kind = "rail-optimized";
  std::string node;         // a node template; empty: plain hosts with one NIC
  std::uint32_t nodes = 0;  // 0: as many as the kind's keys imply
  // The file of another tool that describes the fabric, in place of a kind, and its format (empty:
  // told apart by content).
  std::string file = {};
  std::string format = {};
  std::map<std::string, FabricValue> values;  // the kind's own keys
  // What forwarding through a switch and flying along a network cable take. Absent: the figures of
  // docs/fabric.md.
  std::optional<Time> switch_latency;
  std::optional<Time> cable_latency;
  std::optional<RoutingPolicy> routing;
  RoutingParameters routing_parameters;
  std::vector<StaticFault> faults;
};

// `kind:key=value,…`, the form of the command line: `clos:node=dgx-h100,nodes=64,radix=64`,
// `fat-tree:children=[16,16],parents=[1,16]`. TL1401 (kind), TL11xx (values).
[[nodiscard]] Result<FabricSpec> ParseFabricSpec(std::string_view text);

// Whether `text` has that form rather than being a file name.
[[nodiscard]] bool LooksLikeFabricSpec(std::string_view text);

// Capacity between two halves of the endpoints, one direction, over the halvings that split no
// node. `lower` and `upper` bound the minimum; they are equal where it is known.
struct Bisection {
  Rate lower = {};
  Rate upper = {};
  std::string method;
};

struct BuiltFabric {
  Fabric fabric;
  std::string kind;
  std::string summary;  // one line: what was built, from which figures
  NodeTemplate node;
  // The rack, leaf or scale unit of each node.
  std::vector<std::uint32_t> unit_of_node;
  // In closed form, without faults; `upper` 0: the lower bound alone has one. Absent: neither has.
  std::optional<Bisection> bisection;
  // What was assumed, or set aside, of a file; a line each.
  std::vector<std::string> notes = {};
};

// TL1101, TL145x (of a file), TL1400 (node template), TL1401 (kind), TL1402 (a key that the kind
// does not read), TL1403 (radix too small: the hint has the smallest that works), TL1404 (too
// large), TL1405 (keys contradict each other), TL1406 (a fault's target or value).
[[nodiscard]] Result<BuiltFabric> BuildFabric(const FabricSpec& spec);

// The same fabric with some cables slower or absent. TL1406.
[[nodiscard]] Result<Fabric> ApplyFaults(const Fabric& fabric, std::span<const StaticFault> faults);

}  // namespace trunkline
