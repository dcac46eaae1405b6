#include "fabric/check/rails.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/none.h"

namespace trunkline {
namespace {

// How large a majority tells the plan of a fabric from its faults. Ours, published nowhere: on the
// real pod of the tests all leaves are of one rail to 92 % at least, so that any majority up to
// that gives the same findings.
constexpr double kOfOneRail = 0.75;  // NICs of a leaf that are of its rail
constexpr double kHasRails = 0.8;    // leaves of one rail, where there are rails at all
// A server with at most half of the usual NICs is of another kind; a number that fewer than one in
// eight of the NICs of its name have, of a port that is no rail's.
constexpr double kSmallServer = 0.5;
constexpr double kRareNumber = 0.125;

double Share(std::size_t part, std::size_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

struct Nic {
  DeviceId id{};
  DeviceId leaf{};
  std::uint32_t node = 0;
  std::uint32_t rail = kNone;
};

// "mlx5_" and 5 of "node-07/mlx5_5"; nothing for a name that no number ends.
std::optional<std::pair<std::string, std::uint32_t>> SplitLabel(std::string_view name) {
  const std::string_view label = name.substr(name.rfind('/') + 1);
  std::size_t begin = label.size();
  while (begin > 0 && label[begin - 1] >= '0' && label[begin - 1] <= '9') --begin;
  std::uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(label.data() + begin, label.data() + label.size(), number);
  if (error != std::errc() || begin == label.size()) return std::nullopt;
  return std::pair(std::string(label.substr(0, begin)), number);
}

class Rails {
 public:
  explicit Rails(const Fabric& fabric) : fabric_(fabric) {}

  RailCheck Check(std::vector<FabricFinding>& findings) {
    FindNics();
    NumberRails();
    FindRailsOfLeaves();
    // Leaves of one rail each, and more than one rail of them.
    std::set<std::uint32_t> rails;
    for (const auto& [leaf, rail] : rail_of_leaf_) rails.insert(rail);
    check_.rails = rails.size() > 1 && Share(rail_of_leaf_.size(), leaves_) >= kHasRails;
    if (!check_.rails) return check_;
    for (const Nic& nic : nics_) {
      nics_of_node_[nic.node].push_back(&nic);
      nics_of_leaf_[nic.leaf].push_back(&nic);
    }
    for (const Nic& nic : nics_) {
      if (nic.rail != kNone) Judge(nic, findings);
    }
    CountPairs();
    return check_;
  }

 private:
  // NICs with one cable, to a leaf.
  void FindNics() {
    std::map<std::uint32_t, std::uint32_t> per_node;
    for (std::size_t i = 0; i < fabric_.device_count(); ++i) {
      const Device& device = fabric_.device(DeviceId(i));
      if (!IsNetworkEnd(device.kind)) continue;
      std::vector<DeviceId> leaves;
      for (LinkId link : fabric_.out(DeviceId(i))) {
        if (fabric_.link(link).kind == LinkKind::kNetwork) leaves.push_back(fabric_.link(link).to);
      }
      if (leaves.size() != 1 || fabric_.device(leaves[0]).kind != DeviceKind::kSwitch) continue;
      nics_.push_back({.id = DeviceId(i), .leaf = leaves[0], .node = device.node});
      ++per_node[device.node];
    }
    std::uint32_t most = 0;
    std::map<std::uint32_t, std::size_t> sizes;
    for (const auto& [node, count] : per_node) sizes[count] += count;
    for (const auto& [count, nics] : sizes) {
      if (most == 0 || nics >= sizes[most]) most = count;
    }
    std::erase_if(nics_,
                  [&](const Nic& nic) { return Share(per_node[nic.node], most) <= kSmallServer; });
    if (most < 2) nics_.clear();
  }

  // The rail of a NIC is the place of its number among all that share the rest of its name: where
  // HCAs are called mlx5_0, mlx5_1, mlx5_4 and mlx5_5, mlx5_4 is of rail 2, also in a server that
  // lacks mlx5_1.
  void NumberRails() {
    std::map<std::string, std::map<std::uint32_t, std::size_t>> numbers;
    for (const Nic& nic : nics_) {
      if (const auto label = SplitLabel(fabric_.name(nic.id)))
        ++numbers[label->first][label->second];
    }
    for (Nic& nic : nics_) {
      const auto label = SplitLabel(fabric_.name(nic.id));
      if (!label) continue;
      const auto& known = numbers[label->first];
      std::size_t most = 0;
      for (const auto& [number, uses] : known) most = std::max(most, uses);
      if (Share(known.at(label->second), most) < kRareNumber) continue;
      nic.rail = 0;
      for (const auto& [number, uses] : known) {
        if (number < label->second && Share(uses, most) >= kRareNumber) ++nic.rail;
      }
    }
  }

  // That of most of its NICs.
  void FindRailsOfLeaves() {
    std::map<DeviceId, std::map<std::uint32_t, std::size_t>> uses;
    for (const Nic& nic : nics_) {
      if (nic.rail != kNone) ++uses[nic.leaf][nic.rail];
    }
    for (const auto& [leaf, of_rail] : uses) {
      std::size_t all = 0;
      for (const auto& [rail, count] : of_rail) all += count;
      if (all < 2) continue;
      ++leaves_;
      const auto most =
          std::ranges::max_element(of_rail, {}, [](const auto& u) { return u.second; });
      if (Share(most->second, all) >= kOfOneRail) rail_of_leaf_[leaf] = most->first;
    }
  }

  void Judge(const Nic& nic, std::vector<FabricFinding>& findings) {
    ++check_.nics;
    const auto rail = rail_of_leaf_.find(nic.leaf);
    DeviceId home = nic.leaf;
    if (rail != rail_of_leaf_.end() && rail->second != nic.rail) home = HomeOf(nic);
    nics_of_home_[home].push_back(nic.leaf);
    if (home == nic.leaf) return;
    ++check_.wrong;
    findings.push_back({.kind = FabricFinding::Kind::kWrongRail,
                        .from = fabric_.name(nic.id),
                        .to = fabric_.name(nic.leaf),
                        .instead = fabric_.name(home),
                        .found = rail->second,
                        .expected = nic.rail});
  }

  // The leaf of a NIC's rail that serves the servers which its own server's other NICs meet.
  [[nodiscard]] DeviceId HomeOf(const Nic& stray) const {
    std::set<DeviceId> leaves;
    for (const Nic* nic : nics_of_node_.at(stray.node)) leaves.insert(nic->leaf);
    std::map<std::uint32_t, std::size_t> companions;  // by the leaves that they share
    for (DeviceId leaf : leaves) {
      for (const Nic* nic : nics_of_leaf_.at(leaf)) ++companions[nic->node];
    }
    companions.erase(stray.node);
    std::map<DeviceId, std::size_t> votes;
    for (const auto& [node, shared] : companions) {
      for (const Nic* nic : nics_of_node_.at(node)) {
        const auto rail = rail_of_leaf_.find(nic->leaf);
        if (rail != rail_of_leaf_.end() && rail->second == stray.rail) votes[nic->leaf] += shared;
      }
    }
    if (votes.empty()) return stray.leaf;
    return std::ranges::max_element(votes, {}, [](const auto& v) { return v.second; })->first;
  }

  void CountPairs() {
    for (const auto& [home, leaves] : nics_of_home_) {
      std::map<DeviceId, std::uint64_t> at;
      for (DeviceId leaf : leaves) ++at[leaf];
      const auto pairs = [](std::uint64_t n) { return n * (n - 1) / 2; };
      std::uint64_t together = 0;
      for (const auto& [leaf, count] : at) together += pairs(count);
      check_.pairs += pairs(leaves.size());
      check_.pairs_over_spines += pairs(leaves.size()) - together;
    }
  }

  const Fabric& fabric_;
  std::vector<Nic> nics_;
  std::map<std::uint32_t, std::vector<const Nic*>> nics_of_node_;
  std::map<DeviceId, std::vector<const Nic*>> nics_of_leaf_;
  std::size_t leaves_ = 0;  // with NICs of known rails
  std::map<DeviceId, std::uint32_t> rail_of_leaf_;
  std::map<DeviceId, std::vector<DeviceId>> nics_of_home_;  // the leaves they are on
  RailCheck check_;
};

}  // namespace

RailCheck CheckRails(const Fabric& fabric, std::vector<FabricFinding>& findings) {
  return Rails(fabric).Check(findings);
}

}  // namespace trunkline
