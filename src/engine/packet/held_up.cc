#include "engine/packet/held_up.h"

#include <fmt/format.h>

#include "engine/packet/deadlock.h"

namespace trunkline {

std::vector<std::uint32_t> LinksOf(const Plant& plant, std::uint32_t queue_pair) {
  const Sender& sender = plant.senders[queue_pair];
  if (plant.forwarding != Forwarding::kSource) {
    return {sender.link, plant.destinations[queue_pair].receiver().last_link};
  }
  const auto first = plant.path_links.begin() + sender.path;
  return {first, first + plant.paths[queue_pair].hops};
}

std::string WhatHoldsUp(const Fabric& fabric, const Plant& plant, std::uint32_t queue_pair) {
  const std::vector<std::uint32_t> links = LinksOf(plant, queue_pair);
  for (const std::uint32_t link : links) {
    if (!plant.IsDown(plant.ports[link])) continue;
    return fmt::format(": {} -> {} is down", fabric.name(fabric.link(LinkId(link)).from),
                       fabric.name(fabric.link(LinkId(link)).to));
  }
  for (const std::uint32_t link : links) {
    const std::size_t queue = plant.QueueOf(link, plant.senders[queue_pair].traffic_class);
    if (IsBlocked(plant, queue)) {
      return fmt::format(": {} waits for room", NameOfQueue(fabric, plant, queue));
    }
  }
  return {};
}

}  // namespace trunkline
