#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/builders/builder.h"

// Extended generalised fat trees (Öhring, Ibel, Das, Kumar: On Generalized Fat Trees, IPPS 1995):
// the common shape of single switches, tapered trees, Clos networks and rail-optimised fabrics.
namespace trunkline {

// Of switches: what trees and fat trees may be asked for.
inline constexpr std::size_t kMaxTreeLevels = 8;

// A level of switches, counted from the leaves (level 1). The switches below one parent group form
// a group themselves: they have the same children.
struct XgftLevel {
  std::uint32_t children = 1;  // of each switch, in groups of the level below (level 1: ends)
  std::uint32_t parents = 1;   // of each child, among the switches of its group's parent group
  std::uint32_t cables = 1;    // parallel, between a child and each parent
  Rate rate;                   // of each of these cables
};

// The leaf group that an end hangs on.
struct XgftSeat {
  std::uint32_t network = 0;
  std::uint32_t leaf = 0;
};

// Identical, separate networks (planes, rails) over the same nodes.
struct XgftPlan {
  std::vector<XgftLevel> levels;
  std::uint32_t networks = 1;
  std::uint32_t leaves = 1;     // leaf groups of each network that exist
  std::vector<XgftSeat> seats;  // of each end
  Time cable_latency;
  Time switch_latency;
};

// The ends of a node side by side on one leaf, leaf after leaf, NIC i in network i % networks.
// REQUIRES: networks divides nics.
[[nodiscard]] std::vector<XgftSeat> ConsecutiveSeats(std::uint32_t nodes, std::uint32_t nics,
                                                     std::uint32_t networks,
                                                     std::uint32_t ends_per_leaf);

// REQUIRES: the levels have room for all leaves, each leaf for its seats.
[[nodiscard]] NetworkPlan PlanXgft(XgftPlan plan, std::uint32_t nodes, std::uint32_t nics,
                                   std::string summary);

}  // namespace trunkline
