// The load of a step of everything with everything, and what it takes (group_model.h).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "engine/analytic/group_model.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {

std::uint32_t GroupModel::RelayOf(std::uint32_t from, std::uint32_t place) {
  const auto key = [](std::uint32_t node, std::uint32_t local) {
    return std::uint64_t{node} << 32U | local;
  };
  if (relays_.empty()) {
    for (std::uint32_t i = 0; i < ranks(); ++i) {
      relays_.emplace(key(layout_.node[i], layout_.local[i]), i);
    }
  }
  const auto next = static_cast<std::uint32_t>(inside_load_.in.size());
  const auto [known, added] = relays_.try_emplace(key(layout_.node[from], place), next);
  if (added) {
    inside_load_.Resize(next + 1);
    outside_load_.Resize(next + 1);
    // Nodes are of one make.
    inside_capacity_.Resize(next + 1);
    inside_capacity_.out.back() = inside_capacity_.out[from];
    inside_capacity_.in.back() = inside_capacity_.in[from];
  }
  return known->second;
}

std::uint32_t GroupModel::LoadSender(std::uint32_t from, const Way& way, double wire) {
  std::uint32_t sender = from;
  if (way.relay != Way::kNoRelay) {
    sender = RelayOf(from, way.relay);
    inside_load_.out[from] += wire;
    inside_load_.in[sender] += wire;
    loaded_relays_.push_back(sender);
  }
  outside_load_.out[sender] += wire;
  return sender;
}

double GroupModel::AllPairsSeconds(double bytes, std::uint32_t connections) {
  ClearLoad();
  const double wire = bytes * dilution_;
  const double members = ranks();
  const auto load = [wire](Loads& loads, std::size_t part, double puts) {
    loads.out[part] = loads.in[part] = puts * wire;
  };
  for (std::uint32_t i = 0; i < ranks(); ++i) {
    const double neighbours =
        blocks_.empty() ? members : blocks_.front().size[blocks_.front().part_of[i]];
    load(inside_load_, i, neighbours - 1);
    load(outside_load_, i, members - neighbours);
    loaded_.push_back(i);
  }
  for (std::size_t l = 0; l < blocks_.size(); ++l) {
    for (std::uint32_t part = 0; part < blocks_[l].parts(); ++part) {
      const double size = blocks_[l].size[part];
      load(block_load_[l], part, size * (members - size));
    }
  }
  LoadAllPairsOverRails(wire);
  // Every way from and to one member stands for all: nodes are alike.
  double slowest = each_pair_ ? AllPairsOverLinks(bytes) : AllPairsOverRelays(wire);
  for (std::uint32_t other = 1; other < ranks(); ++other) {
    slowest =
        std::max({slowest, BusySeconds(0, other, bytes, connections) + WayOf(0, other).latency,
                  BusySeconds(other, 0, bytes, connections) + WayOf(other, 0).latency});
  }
  return slowest;
}

void GroupModel::LoadAllPairsOverRails(double wire) {
  for (std::size_t l = 0; l < rails_.size(); ++l) {
    const Partition& rails = rails_[l];
    const std::vector<std::uint32_t>& node = blocks_.front().part_of;
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> together;  // by part and node
    for (std::uint32_t i = 0; i < ranks(); ++i) ++together[{rails.part_of[i], node[i]}];
    for (std::uint32_t part = 0; part < rails.parts(); ++part) {
      const double size = rails.size[part];
      rail_load_[l].out[part] = size * (ranks() - size) * wire;
    }
    // What stays in the node crosses no cut.
    for (const auto& [place, members] : together) {
      const double others = blocks_.front().size[place.second] - members;
      rail_load_[l].out[place.first] -= members * others * wire;
    }
    rail_load_[l].in = rail_load_[l].out;
  }
}

double GroupModel::AllPairsOverLinks(double bytes) {
  const std::size_t pairs = std::size_t{ranks()} * ranks() * (1 + siblings_.size());
  if (ranks() > kMostInAllPairs || pairs > kMostPairs) return 0;
  std::vector<double> load;
  double latency = 0;
  const auto add = [&](DeviceId from, DeviceId to) {
    const auto route = from == to ? std::nullopt : FindRoute(from, to);
    if (!route) return;
    latency = std::max(latency, WayOver(*route).latency);
    for (const Hop& hop : route->hops) {
      const std::uint32_t link = LinkOf(hop.resource);
      load.resize(link_rate_.size());
      load[link] += bytes * dilution_ * hop.weight;
    }
  };
  const auto add_all = [&](const std::vector<DeviceId>& members) {
    for (const DeviceId from : members) {
      for (const DeviceId to : members) add(from, to);
    }
  };
  add_all(members_);
  for (const std::vector<DeviceId>& sibling : siblings_) add_all(sibling);
  double busy = 0;
  for (std::size_t link = 0; link < load.size(); ++link) {
    busy = std::max(busy, load[link] / link_rate_[link]);
  }
  return transport_->message_overhead.seconds() + busy + latency;
}

// By the numbers of members at each place: what a member sends to all at a place that are as far
// away goes one way.
double GroupModel::AllPairsOverRelays(double wire) {
  if (blocks_.empty() || !relayed_) return 0;
  const std::vector<std::vector<std::uint32_t>> members_at = CountAtPlaces();
  const auto at = [&](std::size_t level, std::uint32_t member, std::uint32_t place) {
    const std::size_t part = level < blocks_.size() ? blocks_[level].part_of[member] : 0;
    return members_at[level][part * locals_ + place];
  };
  std::vector<double> per_sent_byte(ranks());  // of whoever sends
  double latency = 0;
  std::ranges::fill(outside_load_.out, 0.0);
  for (std::uint32_t from = 0; from < ranks(); ++from) {
    for (std::size_t level = 1; level <= blocks_.size(); ++level) {
      for (std::uint32_t place = 0; place < locals_; ++place) {
        const std::uint32_t puts = at(level, from, place) - at(level - 1, from, place);
        if (puts == 0) continue;
        const Way& way = WayAt(level, from, members_of_local_[place].front());
        const std::uint32_t sender = LoadSender(from, way, puts * wire);
        if (sender >= per_sent_byte.size()) per_sent_byte.resize(sender + 1);
        per_sent_byte[sender] = std::max(per_sent_byte[sender], way.per_sent_byte);
        latency = std::max(latency, way.latency);
      }
    }
  }
  double busy = 0;
  for (std::size_t sender = 0; sender < per_sent_byte.size(); ++sender) {
    busy = std::max({busy, outside_load_.out[sender] * per_sent_byte[sender],
                     inside_load_.in[sender] / inside_capacity_.in[sender],
                     inside_load_.out[sender] / inside_capacity_.out[sender]});
  }
  return transport_->message_overhead.seconds() + busy + latency;
}

std::vector<std::vector<std::uint32_t>> GroupModel::CountAtPlaces() const {
  std::vector<std::vector<std::uint32_t>> members_at(blocks_.size() + 1);
  for (std::size_t l = 0; l <= blocks_.size(); ++l) {
    const std::size_t parts = l < blocks_.size() ? blocks_[l].parts() : 1;
    members_at[l].resize(parts * locals_);
    for (std::uint32_t i = 0; i < ranks(); ++i) {
      const std::size_t part = l < blocks_.size() ? blocks_[l].part_of[i] : 0;
      ++members_at[l][part * locals_ + layout_.local[i]];
    }
  }
  return members_at;
}

}  // namespace trunkline
