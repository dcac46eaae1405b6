#include "fabric/analysis/tiers.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/disjoint_sets.h"

namespace trunkline {
namespace {

class Tiers {
 public:
  explicit Tiers(const Fabric& fabric)
      : fabric_(fabric), parts_(fabric.device_count()), seen_(fabric.device_count(), 0) {}

  bool Run() {
    if (!AreLayered()) return false;
    for (int tier = 2; tier <= highest_; ++tier) {
      if (!MeetAt(tier)) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] int tier(DeviceId id) const { return fabric_.device(id).tier; }
  [[nodiscard]] bool IsSwitch(DeviceId id) const {
    return fabric_.device(id).kind == DeviceKind::kSwitch;
  }

  // Cables join neighbouring tiers, or a leaf and what is no switch.
  bool AreLayered() {
    leaves_.assign(fabric_.device_count(), 0);
    for (std::size_t i = 0; i < fabric_.link_count(); ++i) {
      const Link& link = fabric_.link(LinkId(i));
      if (link.kind != LinkKind::kNetwork || !IsSwitch(link.from)) continue;
      const int from = tier(link.from);
      if (from == 0) return false;  // no ends are reached there, and what hangs on it is no tree
      if (IsSwitch(link.to)) {
        if (std::abs(from - tier(link.to)) != 1) return false;
      } else {
        if (from != 1) return false;
        leaves_[Index(link.from)] = 1;
      }
      highest_ = std::max(highest_, tier(link.from));
    }
    return true;
  }

  // Whether some switch of `tier` is above all leaves with ends of each part of the network that
  // hangs together at this tier and not below.
  bool MeetAt(int at) {
    std::vector<DeviceId> switches;
    for (std::size_t i = 0; i < fabric_.device_count(); ++i) {
      if (IsSwitch(DeviceId(i)) && tier(DeviceId(i)) == at) switches.push_back(DeviceId(i));
    }
    for (const DeviceId top : switches) {
      for (const DeviceId below : Below(top)) parts_.Unite(Number(top), Number(below));
    }
    // By root: the leaves of a part, and whether a switch has been found above all.
    std::vector<std::uint32_t> leaves(fabric_.device_count(), 0);
    std::vector<std::uint8_t> covered(fabric_.device_count(), 0);
    for (std::size_t i = 0; i < fabric_.device_count(); ++i) {
      leaves[parts_.Find(static_cast<std::uint32_t>(i))] += leaves_[i];
    }
    for (const DeviceId top : switches) {
      const std::uint32_t root = parts_.Find(Number(top));
      if (covered[root] == 0 && LeavesBelow(top) == leaves[root]) covered[root] = 1;
      // One that is above fewer may be followed by another that is above all, but trials cost.
      if (covered[root] == 0) return false;
    }
    return true;
  }

  // The switches that a switch's cables lead down to.
  [[nodiscard]] std::vector<DeviceId> Below(DeviceId at) const {
    std::vector<DeviceId> below;
    for (const LinkId id : fabric_.out(at)) {
      const Link& link = fabric_.link(id);
      if (link.kind != LinkKind::kNetwork || !IsSwitch(link.to)) continue;
      if (tier(link.to) < tier(at)) below.push_back(link.to);
    }
    return below;
  }

  // Leaves with ends that paths lead down to.
  std::uint32_t LeavesBelow(DeviceId top) {
    ++visit_;
    std::uint32_t leaves = 0;
    std::vector<DeviceId> next = {top};
    while (!next.empty()) {
      const DeviceId at = next.back();
      next.pop_back();
      leaves += leaves_[Index(at)];
      for (const DeviceId below : Below(at)) {
        if (std::exchange(seen_[Index(below)], visit_) != visit_) next.push_back(below);
      }
    }
    return leaves;
  }

  [[nodiscard]] static std::uint32_t Number(DeviceId id) {
    return static_cast<std::uint32_t>(Index(id));
  }

  const Fabric& fabric_;
  int highest_ = 0;
  std::vector<std::uint8_t> leaves_;  // by device: 1 for a switch with ends
  DisjointSets parts_;                // of devices that hang together so far
  std::vector<std::uint32_t> seen_;   // by device: the last visit
  std::uint32_t visit_ = 0;
};

}  // namespace

bool GoesUpThenDown(const Fabric& fabric) { return Tiers(fabric).Run(); }

}  // namespace trunkline
