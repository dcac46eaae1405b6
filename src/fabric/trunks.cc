#include "fabric/trunks.h"

#include <map>
#include <utility>

namespace trunkline {

bool TrunksAreAlike(const Fabric& fabric) {
  std::map<std::pair<int, int>, std::size_t> size_between;
  for (std::uint32_t trunk = 0; trunk < fabric.trunk_count(); ++trunk) {
    const auto links = fabric.trunk_links(trunk);
    const Link& link = fabric.link(links.front());
    const std::pair tiers(fabric.device(link.from).tier, fabric.device(link.to).tier);
    const auto [known, added] = size_between.try_emplace(tiers, links.size());
    if (!added && known->second != links.size()) return false;
  }
  return true;
}

}  // namespace trunkline
