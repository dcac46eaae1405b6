#include "fabric/builders/xgft.h"

#include <cmath>
#include <utility>

#include "fabric/builders/xgft_bisection.h"
#include "trunkline/base/check.h"

namespace trunkline {
namespace {

// Builds one plan; switches of all networks are numbered on, tier by tier.
class XgftWriter {
 public:
  XgftWriter(const XgftPlan& plan, FabricBuilder& builder, NetworkEnds ends)
      : plan_(plan), builder_(builder), ends_(ends) {}

  void Write() {
    for (std::uint32_t network = 0; network < plan_.networks; ++network) {
      std::vector<DeviceId> below = AddSwitches(0);
      CableEnds(network, below);
      for (std::size_t level = 1; level < plan_.levels.size(); ++level) {
        const std::vector<DeviceId> above = AddSwitches(level);
        CableSwitches(level, below, above);
        below = above;
      }
    }
  }

 private:
  // Switches of a group of `level`, counted from 0.
  [[nodiscard]] std::uint32_t GroupSize(std::size_t level) const {
    std::uint32_t size = 1;
    for (std::size_t i = 0; i <= level; ++i) size *= plan_.levels[i].parents;
    return size;
  }
  [[nodiscard]] std::uint32_t GroupCount(std::size_t level) const {
    std::uint32_t groups = plan_.leaves;
    for (std::size_t i = 1; i <= level; ++i) {
      groups = (groups + plan_.levels[i].children - 1) / plan_.levels[i].children;
    }
    return groups;
  }

  std::vector<DeviceId> AddSwitches(std::size_t level) {
    const auto tier = static_cast<std::uint8_t>(level + 1);
    const std::uint32_t per_network = GroupCount(level) * GroupSize(level);
    if (next_number_.size() <= level) next_number_.resize(level + 1, 0);
    std::vector<DeviceId> added;
    for (std::uint32_t i = 0; i < per_network; ++i) {
      added.push_back(builder_.AddDevice({.kind = DeviceKind::kSwitch,
                                          .tier = tier,
                                          .node = Device::kNoNode,
                                          .local = next_number_[level]++,
                                          .latency = plan_.switch_latency}));
    }
    return added;
  }

  // Every parallel cable of a child goes round all parents before the next, as the ports of a
  // switch are numbered.
  void Cable(DeviceId child, const std::vector<DeviceId>& parents, const XgftLevel& level) {
    for (std::uint32_t i = 0; i < level.cables; ++i) {
      for (DeviceId parent : parents) {
        up_.push_back(
            builder_.AddCable(child, parent, level.rate, plan_.cable_latency, LinkKind::kNetwork));
      }
    }
  }

  // What a group of devices has upwards is used evenly by balancing policies, and so is what leads
  // down to it.
  void MakeTrunks() {
    if (up_.size() > 1) {
      builder_.AddTrunk(up_);
      for (LinkId& link : up_) link = LinkId(Index(link) ^ 1U);
      builder_.AddTrunk(up_);
    }
    up_.clear();
  }

  void CableEnds(std::uint32_t network, const std::vector<DeviceId>& leaves) {
    const std::uint32_t size = GroupSize(0);
    std::vector<std::uint32_t> seated(plan_.leaves, 0);
    for (std::size_t end = 0; end < ends_.size(); ++end) {
      const XgftSeat& seat = plan_.seats[end];
      if (seat.network != network) continue;
      TL_CHECK(seat.leaf < plan_.leaves && ++seated[seat.leaf] <= plan_.levels[0].children,
               "a leaf has too many ends", seat.leaf);
      const auto first = leaves.begin() + static_cast<std::ptrdiff_t>(seat.leaf) * size;
      Cable(ends_[end], std::vector(first, first + size), plan_.levels[0]);
      MakeTrunks();
    }
  }

  void CableSwitches(std::size_t level, const std::vector<DeviceId>& below,
                     const std::vector<DeviceId>& above) {
    const std::uint32_t child_size = GroupSize(level - 1);
    const std::uint32_t parent_size = GroupSize(level);
    const XgftLevel& shape = plan_.levels[level];
    std::vector<DeviceId> parents(shape.parents);
    for (std::uint32_t group = 0; group < GroupCount(level - 1); ++group) {
      const std::uint32_t parent_group = group / shape.children * parent_size;
      for (std::uint32_t member = 0; member < child_size; ++member) {
        for (std::uint32_t p = 0; p < shape.parents; ++p) {
          parents[p] = above[parent_group + member + p * child_size];
        }
        Cable(below[group * child_size + member], parents, shape);
      }
      MakeTrunks();
    }
  }

  const XgftPlan& plan_;
  FabricBuilder& builder_;
  NetworkEnds ends_;
  std::vector<std::uint32_t> next_number_;
  std::vector<LinkId> up_;
};

void CountParts(const XgftPlan& plan, NetworkPlan& network) {
  double groups = plan.leaves;
  double group_size = 1;
  double children = static_cast<double>(plan.seats.size());
  for (std::size_t i = 0; i < plan.levels.size(); ++i) {
    const XgftLevel& level = plan.levels[i];
    if (i > 0) groups = std::ceil(groups / level.children);
    const double cables = children * level.parents * level.cables;
    network.cables += cables;
    network.rate += 2 * cables * static_cast<double>(level.rate.bits_per_second());
    group_size *= level.parents;
    children = groups * group_size * plan.networks;
    network.switches += children;
  }
  network.destinations = static_cast<double>(plan.leaves) * plan.networks;
}

}  // namespace

std::vector<XgftSeat> ConsecutiveSeats(std::uint32_t nodes, std::uint32_t nics,
                                       std::uint32_t networks, std::uint32_t ends_per_leaf) {
  const std::uint32_t per_network = nics / networks;
  std::vector<XgftSeat> seats;
  seats.reserve(std::size_t{nodes} * nics);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (std::uint32_t nic = 0; nic < nics; ++nic) {
      seats.push_back({nic % networks, (node * per_network + nic / networks) / ends_per_leaf});
    }
  }
  return seats;
}

NetworkPlan PlanXgft(XgftPlan plan, std::uint32_t nodes, std::uint32_t nics, std::string summary) {
  NetworkPlan network;
  network.summary = std::move(summary);
  network.nodes = nodes;
  CountParts(plan, network);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    network.unit_of_node.push_back(plan.seats[std::size_t{node} * nics].leaf);
  }
  network.bisection = BisectionOf(plan, nodes, nics);
  network.build = [plan = std::move(plan)](FabricBuilder& builder, NetworkEnds ends) {
    XgftWriter(plan, builder, ends).Write();
  };
  return network;
}

}  // namespace trunkline
