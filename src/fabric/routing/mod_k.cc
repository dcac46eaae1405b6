#include "fabric/routing/mod_k.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trunkline {
namespace {

// More than there are labels: what is divided by it leaves nothing.
constexpr std::uint64_t kMostParents = std::uint64_t{1} << 32;

}  // namespace

ModK::ModK(const Fabric& fabric) : fabric_(fabric), rank_(fabric.link_count(), 0) {
  for (std::size_t i = 0; i < fabric.device_count(); ++i) RankPorts(DeviceId(i));
  FindParents();
}

void ModK::RankPorts(DeviceId at) {
  struct Port {
    std::size_t round = 0;  // cables to the same neighbour before it
    DeviceId to{};
    LinkId link{};
  };
  std::vector<Port> ports;
  for (const LinkId link : fabric_.out(at)) ports.push_back({0, fabric_.link(link).to, link});
  std::ranges::stable_sort(ports, {}, &Port::to);
  for (std::size_t i = 1; i < ports.size(); ++i) {
    if (ports[i].to == ports[i - 1].to) ports[i].round = ports[i - 1].round + 1;
  }
  std::ranges::stable_sort(ports, {}, &Port::round);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    rank_[Index(ports[i].link)] = static_cast<std::uint32_t>(i);
  }
}

// How many parents a device of a tier has: as many as most that have any.
void ModK::FindParents() {
  std::map<std::uint8_t, std::map<std::size_t, std::size_t>> devices;  // by tier and parents
  std::vector<DeviceId> parents;
  for (std::size_t i = 0; i < fabric_.device_count(); ++i) {
    const std::uint8_t tier = fabric_.device(DeviceId(i)).tier;
    parents.clear();
    for (const LinkId id : fabric_.out(DeviceId(i))) {
      const Link& link = fabric_.link(id);
      if (link.kind != LinkKind::kNetwork || fabric_.device(link.to).tier <= tier) continue;
      parents.push_back(link.to);
    }
    std::ranges::sort(parents);
    parents.erase(std::ranges::unique(parents).begin(), parents.end());
    if (!parents.empty()) ++devices[tier][parents.size()];
  }
  std::uint64_t product = 1;
  for (std::size_t tier = 0; tier < parents_below_.size(); ++tier) {
    parents_below_[tier] = product;
    const auto found = devices.find(static_cast<std::uint8_t>(tier));
    if (found == devices.end()) continue;
    const auto usual = std::ranges::max_element(
        found->second, {}, [](const auto& entry) { return std::tuple(entry.second, entry.first); });
    product = std::min(product * usual->first, kMostParents);
  }
}

std::uint32_t ModK::Entry(DeviceId at, std::uint32_t label, std::span<const LinkId> ports) const {
  const auto turn =
      static_cast<std::uint32_t>(label / parents_below_[fabric_.device(at).tier] % ports.size());
  const auto rank = [&](LinkId link) { return rank_[Index(link)]; };
  if (std::ranges::is_sorted(ports, {}, rank)) return turn;
  std::vector<LinkId> in_turn(ports.begin(), ports.end());
  std::ranges::nth_element(in_turn, in_turn.begin() + turn, {}, rank);
  return static_cast<std::uint32_t>(std::ranges::find(ports, in_turn[turn]) - ports.begin());
}

}  // namespace trunkline
