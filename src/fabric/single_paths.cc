// Paths to one destination, where few are asked for (NetworkPaths::SearchFewSingly).
#include "fabric/network_paths.h"
#include "trunkline/base/check.h"

namespace trunkline {

// Cables carry both directions, so the way out is the way back.
NetworkPaths::Distances NetworkPaths::DistancesTo(std::uint32_t destination) const {
  Distances distances(switches_.size(), kUnreachable);
  std::vector<std::uint32_t> queue;
  queue.reserve(switches_.size());
  for (const std::uint32_t home : destinations_[destination]) {
    distances[home] = 0;
    queue.push_back(home);
  }
  // Until all are found: the farthest, who lead to none, are many.
  for (std::size_t head = 0; head < queue.size() && queue.size() < distances.size(); ++head) {
    const auto farther = static_cast<std::uint16_t>(distances[queue[head]] + 1);
    TL_CHECK(farther < kUnreachable, "a network of more than 65,534 hops");
    for (const std::uint32_t other : neighbours(queue[head])) {
      if (distances[other] != kUnreachable) continue;
      distances[other] = farther;
      queue.push_back(other);
    }
  }
  return distances;
}

NetworkPaths::Ports NetworkPaths::NearerBy(const Distances& distances, std::uint32_t switch_index,
                                           std::vector<LinkId>& links) const {
  links.clear();
  for (std::uint32_t i = adjacency_begin_[switch_index]; i < adjacency_begin_[switch_index + 1];
       ++i) {
    if (distances[neighbour_[i]] + 1 == distances[switch_index]) links.push_back(adjacency_[i]);
  }
  return {links, CommonTrunk(links)};
}

}  // namespace trunkline
