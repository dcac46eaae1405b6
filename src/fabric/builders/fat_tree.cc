#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "fabric/builders/xgft.h"

namespace trunkline {
namespace {

struct Vectors {
  std::vector<std::uint32_t> children;
  std::vector<std::uint32_t> parents;
  std::vector<std::uint32_t> cables;
};

// A k-ary fat tree: all switches of radix k, half of it downwards but at the top (Al-Fares,
// Loukissas, Vahdat: A Scalable, Commodity Data Center Network Architecture, SIGCOMM 2008).
Result<Vectors> FromRadix(const FabricParameters& parameters) {
  const std::uint32_t k = parameters.Count("k", 0);
  for (const char* key : {"children", "parents", "cables"}) {
    if (parameters.Has(key)) {
      return parameters.Fail(key, "TL1405", fmt::format("{} and k both say the shape", key),
                             "give k, or children and parents");
    }
  }
  if (k % 2 != 0) {
    return parameters.Fail("k", "TL1405", fmt::format("k = {} is odd", k),
                           "half of the ports go up and half down: use an even k");
  }
  const std::uint32_t half = k / 2;
  if (parameters.Count("tiers", 3) == 2) return Vectors{{half, k}, {1, half}, {1, 1}};
  return Vectors{{half, half, k}, {1, half, half}, {1, 1, 1}};
}

Result<Vectors> FromVectors(const FabricParameters& parameters) {
  Vectors vectors{parameters.Counts("children"), parameters.Counts("parents"),
                  parameters.Counts("cables")};
  const std::size_t levels = vectors.children.size();
  if (levels == 0 || levels > kMaxTreeLevels) {
    return parameters.Fail("children", "TL1405", "a fat tree needs k, or children and parents",
                           "write k=16, or children=[16,16],parents=[1,16]");
  }
  if (parameters.Has("tiers")) {
    return parameters.Fail("tiers", "TL1405", "tiers and children both say the number of levels",
                           "leave tiers out");
  }
  if (vectors.cables.empty()) vectors.cables.assign(levels, 1);
  for (const auto& [key, list] :
       {std::pair("parents", &vectors.parents), std::pair("cables", &vectors.cables)}) {
    if (list->size() != levels) {
      return parameters.Fail(
          key, "TL1405", fmt::format("{} has {} levels, children {}", key, list->size(), levels),
          "one number for each level, from the leaves up");
    }
  }
  return vectors;
}

Result<NetworkPlan> PlanFatTree(const FabricParameters& parameters) {
  const auto vectors = parameters.Has("k") ? FromRadix(parameters) : FromVectors(parameters);
  if (!vectors) return std::unexpected(vectors.error());
  const std::uint32_t nics = parameters.nics();
  const auto planes = parameters.Planes();
  if (!planes) return std::unexpected(planes.error());
  const std::uint32_t networks = *planes;
  const std::uint32_t nics_per_network = nics / networks;
  const double room = std::accumulate(vectors->children.begin(), vectors->children.end(), 1.0,
                                      std::multiplies<>()) /
                      nics_per_network;
  if (parameters.nodes() > room || room < 1) {
    return parameters.Fail("nodes", "TL1405",
                           fmt::format("the fat tree has room for {:.0f} nodes of {} NICs each",
                                       std::floor(room), nics_per_network),
                           "change the number of nodes, or k");
  }
  const double wanted = parameters.nodes() > 0 ? parameters.nodes() : room;
  if (wanted * nics > kMaxEnds) return TooManyEnds(wanted * nics);
  const auto nodes = static_cast<std::uint32_t>(wanted);

  XgftPlan plan;
  plan.networks = networks;
  for (std::size_t i = 0; i < vectors->children.size(); ++i) {
    plan.levels.push_back({.children = vectors->children[i],
                           .parents = vectors->parents[i],
                           .cables = vectors->cables[i],
                           .rate = i == 0 ? parameters.link() : parameters.uplink()});
  }
  plan.seats = ConsecutiveSeats(nodes, nics, networks, vectors->children[0]);
  plan.leaves = plan.seats.back().leaf + 1;
  plan.cable_latency = parameters.cable_latency();
  plan.switch_latency = parameters.switch_latency();
  return PlanXgft(
      std::move(plan), nodes, nics,
      fmt::format("{} levels; children {}, parents {}, parallel cables {}{}",
                  vectors->children.size(), fmt::join(vectors->children, " x "),
                  fmt::join(vectors->parents, " x "), fmt::join(vectors->cables, " x "),
                  networks > 1 ? fmt::format(", in {} separate planes", networks) : ""));
}

}  // namespace

const Builder& FatTreeBuilder() {
  static const Builder builder = {
      {"fat-tree",
       "a k-ary fat tree, or a generalised one from children, parents and parallel cables per "
       "level (SimGrid's FAT_TREE)",
       {{"k", FabricKey::Type::kCount, 2, kMaxRadix, "none: children and parents are given",
         "radix of every switch"},
        {"tiers", FabricKey::Type::kCount, 2, 3, "3", "with k: tiers of switches"},
        {"children", FabricKey::Type::kCounts, 1, kMaxRadix, "from k",
         "children of a switch of each level, from the leaves up"},
        {"parents", FabricKey::Type::kCounts, 1, kMaxRadix, "from k",
         "parents of an end, of a leaf, and so on"},
        {"cables", FabricKey::Type::kCounts, 1, kMaxRadix, "1 at every level",
         "parallel cables between a child and each parent"},
        PlanesKey(),
        LinkKey(),
        UplinkKey()}},
      PlanFatTree};
  return builder;
}

}  // namespace trunkline
