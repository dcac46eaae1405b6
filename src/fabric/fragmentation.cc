#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "trunkline/fabric/fabric.h"
#include "trunkline/fabric/placement.h"
#include "trunkline/fabric/route.h"

namespace trunkline {
namespace {

using Leaves = std::vector<DeviceId>;  // ascending

// The switches that endpoints' NICs hang on. Endpoints with the same ones are of one class.
class LeafClasses {
 public:
  explicit LeafClasses(const Router& router)
      : router_(router), of_leaf_(router.fabric().device_count(), kUnknown) {}

  std::uint32_t Of(DeviceId endpoint) {
    Leaves& leaves = asked_;
    leaves.clear();
    const Fabric& fabric = router_.fabric();
    if (const auto nic = router_.nic(endpoint)) {
      for (LinkId link : fabric.out(*nic)) {
        const DeviceId to = fabric.link(link).to;
        if (fabric.device(to).kind == DeviceKind::kSwitch) leaves.push_back(to);
      }
    }
    const auto next = static_cast<std::uint32_t>(leaves_.size());
    if (leaves.size() != 1) {
      std::ranges::sort(leaves);
      const auto [known, fresh] = number_.try_emplace(leaves, next);
      if (fresh) leaves_.push_back(leaves);
      return known->second;
    }
    // Nearly all have one, which a table finds faster than the map.
    std::uint32_t& number = of_leaf_[Index(leaves.front())];
    if (number == kUnknown) {
      number = next;
      leaves_.push_back(leaves);
    }
    return number;
  }

  [[nodiscard]] bool ShareSwitch(std::uint32_t a, std::uint32_t b) const {
    return std::ranges::find_first_of(leaves_[a], leaves_[b]) != leaves_[a].end();
  }
  [[nodiscard]] std::size_t count() const { return leaves_.size(); }

 private:
  static constexpr std::uint32_t kUnknown = UINT32_MAX;

  const Router& router_;
  std::map<Leaves, std::uint32_t> number_;
  std::vector<Leaves> leaves_;
  Leaves asked_;                        // kept for its memory
  std::vector<std::uint32_t> of_leaf_;  // by device: the class that has it alone
};

double Pairs(double n) { return n * (n - 1) / 2; }

// The fewest units that hold as many ranks: the largest first.
std::uint32_t UnitsNeeded(std::vector<std::uint64_t> sizes, std::uint64_t ranks) {
  std::ranges::sort(sizes, std::ranges::greater());
  std::uint32_t units = 0;
  for (std::uint64_t held = 0; held < ranks && units < sizes.size(); ++units) held += sizes[units];
  return units;
}

}  // namespace

Fragmentation MeasureFragmentation(const Router& router,
                                   std::span<const std::uint32_t> unit_of_node,
                                   const Placement& placement) {
  const Fabric& fabric = router.fabric();
  const auto unit_of = [&](std::uint32_t node) {
    return node < unit_of_node.size() ? unit_of_node[node] : node;
  };
  std::vector<std::uint64_t> endpoints_of(fabric.node_count());
  for (DeviceId id : fabric.endpoints()) ++endpoints_of[fabric.device(id).node];
  std::map<std::uint32_t, std::uint64_t> sizes;
  for (std::uint32_t node = 0; node < endpoints_of.size(); ++node) {
    if (endpoints_of[node] > 0) sizes[unit_of(node)] += endpoints_of[node];
  }
  std::vector<std::uint64_t> capacities;
  for (const auto& [unit, size] : sizes) capacities.push_back(size);

  const auto n = static_cast<std::uint32_t>(placement.rank_count());
  LeafClasses classes(router);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places;  // node, class of leaves
  std::set<std::uint32_t> units;
  for (std::uint32_t r = 0; r < n; ++r) {
    const DeviceId endpoint = placement.endpoint(RankId{r});
    const std::uint32_t node = fabric.device(endpoint).node;
    places.emplace_back(node, classes.Of(endpoint));
    units.insert(unit_of(node));
  }
  Fragmentation lies{.units = static_cast<std::uint32_t>(units.size()),
                     .units_needed = UnitsNeeded(capacities, n),
                     .units_total = static_cast<std::uint32_t>(sizes.size())};

  std::uint32_t ring = 0;
  for (std::uint32_t r = 0; r < n; ++r) {
    const auto& [node, leaf] = places[r];
    const auto& [next_node, next_leaf] = places[(r + 1) % n];
    ring += node != next_node && !classes.ShareSwitch(leaf, next_leaf);
  }

  // Pairs that stay low: within a node, or on the same leaves in two.
  std::vector<double> of_node(fabric.node_count(), 0);
  std::vector<double> of_class(classes.count(), 0);
  double low = 0;
  if (!std::ranges::is_sorted(places)) std::ranges::sort(places);
  double alike = 0;  // of the same node and leaves so far: counted by both
  for (std::size_t i = 0; i < places.size(); ++i) {
    alike = i > 0 && places[i - 1] == places[i] ? alike + 1 : 0;
    low -= alike;
    of_node[places[i].first] += 1;
    of_class[places[i].second] += 1;
  }
  for (const double ranks : of_node) {
    low += Pairs(ranks);
    lies.nodes += ranks > 0;
  }
  for (const double ranks : of_class) low += Pairs(ranks);
  if (n > 1) {
    lies.ring_over_spines = static_cast<double>(ring) / n;
    lies.pairs_over_spines = 1 - low / Pairs(n);
  }
  return lies;
}

}  // namespace trunkline
