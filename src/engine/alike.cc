#include "engine/alike.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "engine/cuts.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

// A link inside a node, for sums over those of a node.
std::uint64_t HashOf(const Link& link, const Device& from, const Device& to) {
  const auto place = [](const Device& device) {
    return std::uint64_t{device.local} << 4U | static_cast<std::uint64_t>(device.kind);
  };
  const std::uint64_t ends = place(from) << 32U | place(to) << 4U;
  const auto rate = static_cast<std::uint64_t>(link.rate.bits_per_second());
  const auto latency = static_cast<std::uint64_t>(link.latency.ps());
  return HashCombine(ends | static_cast<std::uint64_t>(link.kind), rate ^ latency << 48U);
}

using Rung = std::pair<DeviceKind, std::uint8_t>;  // kind and tier

// The cables of a fabric, looked at one by one.
class Cables {
 public:
  explicit Cables(const Fabric& fabric) : fabric_(fabric), up_(fabric.device_count()) {}

  // False: it differs from those before.
  bool Add(const Link& link) {
    const Device& from = fabric_.device(link.from);
    const Device& to = fabric_.device(link.to);
    const Rung low(from.kind, from.tier);
    const Rung high(to.kind, to.tier);
    if (low == high) return false;
    if (from.tier < to.tier) ++up_[Index(link.from)];
    auto first = std::ranges::find(firsts_, std::pair(low, high), &First::ends);
    if (first == firsts_.end()) first = firsts_.insert(first, {{low, high}, &link});
    return first->link->rate == link.rate && first->link->latency == link.latency;
  }

  // Whether all of a rung have as many cables up.
  [[nodiscard]] bool AreEven() const {
    std::map<Rung, std::uint32_t> count;
    for (std::size_t d = 0; d < up_.size(); ++d) {
      const Device& device = fabric_.device(DeviceId(d));
      if (device.kind != DeviceKind::kSwitch && device.kind != DeviceKind::kNic &&
          device.kind != DeviceKind::kHost) {
        continue;
      }
      const auto [known, added] = count.try_emplace({device.kind, device.tier}, up_[d]);
      if (known->second != up_[d]) return false;
    }
    return true;
  }

 private:
  struct First {  // cable between two rungs
    std::pair<Rung, Rung> ends;
    const Link* link = nullptr;
  };

  const Fabric& fabric_;
  std::vector<std::uint32_t> up_;  // by device
  std::vector<First> firsts_;      // few: searched one by one
};

// Whether a node has fewer NICs on the network than GPUs: what its GPUs share on the way to them is
// not the same for all.
bool SharesNics(const Fabric& fabric) {
  std::vector<std::int64_t> spare(fabric.node_count());
  for (std::size_t d = 0; d < fabric.device_count(); ++d) {
    const Device& device = fabric.device(DeviceId(d));
    if (device.node == Device::kNoNode) continue;
    if (device.kind == DeviceKind::kGpu) --spare[device.node];
    if (device.kind != DeviceKind::kNic) continue;
    const auto links = fabric.out(DeviceId(d));
    spare[device.node] += std::ranges::any_of(
        links, [&](LinkId id) { return fabric.link(id).kind == LinkKind::kNetwork; });
  }
  return std::ranges::any_of(spare, [](std::int64_t nics) { return nics < 0; });
}

}  // namespace

bool IsMeshed(const Fabric& fabric, DeviceId gpu) {
  return std::ranges::any_of(fabric.out(gpu), [&](LinkId id) {
    const Link& link = fabric.link(id);
    return IsScaleUp(link.kind) && fabric.device(link.to).kind == DeviceKind::kGpu;
  });
}

bool PairsAreAlike(const Fabric& fabric) {
  if (fabric.node_count() > 1 && SharesNics(fabric)) return false;
  Cables cables(fabric);
  std::vector<std::uint64_t> make(fabric.node_count());  // of a node: its links, in any order
  std::vector<char> meets(fabric.device_count());        // GPUs that have an NVSwitch
  for (std::size_t l = 0; l < fabric.link_count(); ++l) {
    const Link& link = fabric.link(LinkId(l));
    if (link.kind == LinkKind::kNetwork) {
      if (!cables.Add(link)) return false;
      continue;
    }
    const Device& from = fabric.device(link.from);
    const Device& to = fabric.device(link.to);
    if (IsScaleUp(link.kind) && from.kind == DeviceKind::kGpu) {
      if (to.kind != DeviceKind::kNvSwitch) return false;
      meets[Index(link.from)] = 1;
    }
    if (from.node == Device::kNoNode) continue;
    make[from.node] += HashOf(link, from, to);
  }
  for (const DeviceId endpoint : fabric.endpoints()) {
    if (fabric.device(endpoint).kind == DeviceKind::kGpu && meets[Index(endpoint)] == 0) {
      return false;
    }
  }
  const bool one_make = std::ranges::adjacent_find(make, std::ranges::not_equal_to()) == make.end();
  return one_make && cables.AreEven();
}

}  // namespace trunkline
