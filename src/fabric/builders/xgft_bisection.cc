#include "fabric/builders/xgft_bisection.h"

#include <algorithm>
#include <utility>

namespace trunkline {
namespace {

// One group of one level in the tree of groups of one network.
struct Subtree {
  std::int64_t ends = 0;
  // The least cut below when the group is on the first or the second side, in bits per second.
  double cut[2] = {0, 0};
};

struct Bounds {
  double least_per_end = 0;  // of any edge, among all networks
  double cut = 0;            // the first half of the nodes against the rest
};

// Moves the groups of one level below their parents: each edge is cut or not, whichever is less.
std::vector<Subtree> Merge(const std::vector<Subtree>& groups, std::uint32_t children,
                           double uplink, double& least_per_end) {
  std::vector<Subtree> parents((groups.size() + children - 1) / children);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Subtree& group = groups[i];
    Subtree& parent = parents[i / children];
    parent.ends += group.ends;
    if (group.ends == 0) continue;
    least_per_end = std::min(least_per_end, uplink / static_cast<double>(group.ends));
    for (int side = 0; side < 2; ++side) {
      parent.cut[side] += std::min(group.cut[side], group.cut[1 - side] + uplink);
    }
  }
  return parents;
}

Bounds BoundsOf(const XgftPlan& plan, std::uint32_t network, std::size_t half_ends) {
  const XgftLevel& first = plan.levels[0];
  const double injection = first.rate.bytes_per_second() * 8 * first.parents * first.cables;
  Bounds bounds{.least_per_end = injection};
  std::vector<Subtree> groups(plan.leaves);
  for (std::size_t end = 0; end < plan.seats.size(); ++end) {
    if (plan.seats[end].network != network) continue;
    Subtree& leaf = groups[plan.seats[end].leaf];
    ++leaf.ends;
    leaf.cut[end < half_ends ? 1 : 0] += injection;
  }
  double size = first.parents;
  for (std::size_t i = 1; i < plan.levels.size(); ++i) {
    const XgftLevel& level = plan.levels[i];
    const double uplink = level.rate.bytes_per_second() * 8 * size * level.parents * level.cables;
    groups = Merge(groups, level.children, uplink, bounds.least_per_end);
    size *= level.parents;
  }
  bounds.cut = std::min(groups.front().cut[0], groups.front().cut[1]);
  return bounds;
}

}  // namespace

Bisection BisectionOf(const XgftPlan& plan, std::uint32_t nodes, std::uint32_t nics) {
  const std::size_t half_ends = std::size_t{nodes / 2} * nics;
  const double half_of_network = static_cast<double>(half_ends) / plan.networks;
  double lower = 0;
  double upper = 0;
  for (std::uint32_t network = 0; network < plan.networks; ++network) {
    const Bounds bounds = BoundsOf(plan, network, half_ends);
    lower += half_of_network * bounds.least_per_end;
    upper += bounds.cut;
  }
  Bisection bisection;
  // What is beyond is refused next.
  const auto rate = [](double bits) {
    return Rate::BitsPerSecond(static_cast<std::int64_t>(std::min(bits, kMaxTotalRate)));
  };
  bisection.lower = rate(std::min(lower, upper));
  bisection.upper = rate(upper);
  bisection.method =
      bisection.lower == bisection.upper
          ? "formula: exact in a generalised fat tree"
          : "formula: lower, the least uplink rate per end; upper, the nodes halved in "
            "order";
  return bisection;
}

}  // namespace trunkline
