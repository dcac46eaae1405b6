#include "fabric/analysis/connectivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/none.h"
#include "fabric/tier_name.h"

namespace trunkline {
namespace {

bool IsCable(const Fabric& fabric, LinkId link) {
  return fabric.link(link).kind == LinkKind::kNetwork;
}

bool HasCable(const Fabric& fabric, DeviceId device) {
  return std::ranges::any_of(fabric.out(device), [&](LinkId l) { return IsCable(fabric, l); });
}

// What cables join: the part of each device (kNone: it has no cable) and the ends of each part.
struct Parts {
  std::vector<std::uint32_t> of;
  std::vector<std::uint64_t> ends;
};

Parts FindParts(const Fabric& fabric, const std::vector<bool>& failed) {
  Parts parts{.of = std::vector<std::uint32_t>(fabric.device_count(), kNone), .ends = {}};
  std::vector<DeviceId> queue;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    if (parts.of[i] != kNone || !HasCable(fabric, DeviceId(i))) continue;
    const auto number = static_cast<std::uint32_t>(parts.ends.size());
    parts.ends.push_back(0);
    parts.of[i] = number;
    queue.assign(1, DeviceId(i));
    while (!queue.empty()) {
      const DeviceId at = queue.back();
      queue.pop_back();
      parts.ends[number] += IsNetworkEnd(fabric.device(at).kind) ? 1U : 0U;
      for (LinkId link : fabric.out(at)) {
        const std::size_t to = Index(fabric.link(link).to);
        if (!IsCable(fabric, link) || failed[Index(link)] || parts.of[to] != kNone) continue;
        parts.of[to] = number;
        queue.push_back(DeviceId(to));
      }
    }
  }
  return parts;
}

// By kind, NICs and nodes lost.
using Points = std::map<std::tuple<std::string, std::uint64_t, std::uint64_t>, SinglePoint>;

// A depth-first search of the network: discovery order and how far back each subtree reaches.
class Search {
 public:
  explicit Search(const Fabric& fabric)
      : fabric_(fabric),
        order_of_(fabric.device_count(), kNone),
        ends_of_node_(fabric.node_count()) {
    for (std::size_t i = 0; i < fabric.device_count(); ++i) {
      if (order_of_[i] == kNone && HasCable(fabric, DeviceId(i))) Explore(DeviceId(i));
    }
    CountEnds();
    Climb();
    CountNodes();
  }

  [[nodiscard]] Points FindAll() const {
    Points points;
    for (std::uint32_t v = 0; v < visits_.size(); ++v) {
      const DeviceId device = visits_[v].device;
      Subtrees split;
      for (const std::uint32_t child : children_[v]) {
        if (visits_[child].low >= v) split.push_back(child);
        if (visits_[child].low > v) NoteBridge(child, points);
      }
      if (split.empty()) continue;
      const LostEnds lost = LostWithout(v, split);
      if (lost.nics > 0) {
        Note(DeviceClass(fabric_.device(device)), fabric_.name(device), lost, points);
      }
    }
    return points;
  }

 private:
  struct Visit {
    DeviceId device{};
    std::uint32_t parent = kNone;
    LinkId into{};           // the link it was reached by
    std::uint32_t low = 0;   // the earliest visit that its subtree has a cable to
    std::uint32_t last = 0;  // one past the last visit of its subtree
    std::uint32_t root = 0;
  };
  using Subtrees = std::vector<std::uint32_t>;
  using Range = std::pair<std::uint32_t, std::uint32_t>;  // of visits

  [[nodiscard]] Range Subtree(std::uint32_t v) const { return {v, visits_[v].last}; }

  void Explore(DeviceId start) {
    const auto root = static_cast<std::uint32_t>(visits_.size());
    std::vector<std::pair<std::uint32_t, std::size_t>> stack;  // visit, next link to look at
    stack.emplace_back(Enter(start, kNone, LinkId{}, root), 0);
    while (!stack.empty()) {
      auto& [v, next] = stack.back();
      const auto links = fabric_.out(visits_[v].device);
      if (next == links.size()) {
        Visit& done = visits_[v];
        done.last = static_cast<std::uint32_t>(visits_.size());
        if (done.parent != kNone) {
          visits_[done.parent].low = std::min(visits_[done.parent].low, done.low);
        }
        stack.pop_back();
        continue;
      }
      const LinkId link = links[next++];
      if (!IsCable(fabric_, link)) continue;
      const bool back = visits_[v].parent != kNone && link == fabric_.reverse(visits_[v].into);
      const DeviceId to = fabric_.link(link).to;
      if (order_of_[Index(to)] == kNone) {
        const std::uint32_t parent = v;
        const std::uint32_t child = Enter(to, parent, link, root);
        children_[parent].push_back(child);
        stack.emplace_back(child, 0);
      } else if (!back) {
        visits_[v].low = std::min(visits_[v].low, order_of_[Index(to)]);
      }
    }
  }

  std::uint32_t Enter(DeviceId device, std::uint32_t parent, LinkId into, std::uint32_t root) {
    const auto v = static_cast<std::uint32_t>(visits_.size());
    order_of_[Index(device)] = v;
    visits_.push_back({.device = device, .parent = parent, .into = into, .low = v, .root = root});
    children_.emplace_back();
    return v;
  }

  void CountEnds() {
    ends_before_.assign(visits_.size() + 1, 0);
    for (std::uint32_t v = 0; v < visits_.size(); ++v) {
      const Device& device = fabric_.device(visits_[v].device);
      ends_before_[v + 1] = ends_before_[v] + (IsNetworkEnd(device.kind) ? 1U : 0U);
      if (IsNetworkEnd(device.kind)) ends_of_node_[device.node].push_back(v);
    }
  }

  // The ancestors 1, 2, 4, … above each visit; a root is its own.
  void Climb() {
    const auto several = [](const auto& ends) { return ends.size() > 1; };
    if (std::ranges::none_of(ends_of_node_, several)) return;
    above_.emplace_back();
    for (std::uint32_t v = 0; v < visits_.size(); ++v) {
      above_[0].push_back(visits_[v].parent == kNone ? v : visits_[v].parent);
    }
    for (std::size_t step = 1; step < visits_.size(); step *= 2) {
      const std::vector<std::uint32_t>& half = above_.back();
      std::vector<std::uint32_t> whole;
      for (const std::uint32_t v : half) whole.push_back(half[v]);
      above_.push_back(std::move(whole));
    }
  }

  // The last visit whose subtree holds both. REQUIRES: one root, and a < b.
  [[nodiscard]] std::uint32_t Fork(std::uint32_t a, std::uint32_t b) const {
    if (visits_[a].last > b) return a;
    for (std::size_t k = above_.size(); k-- > 0;) {
      if (visits_[above_[k][a]].last <= b) a = above_[k][a];
    }
    return visits_[a].parent;
  }

  // By visit: the nodes that fork there, and how many more ends than forks between neighbouring
  // ends of a node there are. Summed over a subtree these are the nodes that it holds whole, and
  // those that have an end in it. Nodes whose ends nothing joins are left out: no failure here
  // takes all of theirs.
  void CountNodes() {
    forks_at_.resize(visits_.size());
    std::vector<std::int64_t> touches(visits_.size(), 0);
    for (std::uint32_t node = 0; node < ends_of_node_.size(); ++node) {
      const std::vector<std::uint32_t>& ends = ends_of_node_[node];
      if (ends.empty() || visits_[ends.front()].root != visits_[ends.back()].root) continue;
      std::uint32_t fork = ends.front();
      for (std::size_t i = 0; i < ends.size(); ++i) {
        ++touches[ends[i]];
        if (i > 0) --touches[Fork(ends[i - 1], ends[i])];
      }
      if (ends.size() > 1) fork = Fork(ends.front(), ends.back());
      forks_at_[fork].push_back(node);
    }
    whole_before_.assign(visits_.size() + 1, 0);
    touching_before_.assign(visits_.size() + 1, 0);
    for (std::size_t v = 0; v < visits_.size(); ++v) {
      whole_before_[v + 1] = whole_before_[v] + forks_at_[v].size();
      touching_before_[v + 1] = touching_before_[v] + touches[v];
    }
  }

  [[nodiscard]] std::uint64_t EndsIn(Range range) const {
    return ends_before_[range.second] - ends_before_[range.first];
  }
  // Of a subtree: the nodes all of whose ends are in it, and those of which one is.
  [[nodiscard]] std::uint64_t NodesWithin(Range subtree) const {
    return whole_before_[subtree.second] - whole_before_[subtree.first];
  }
  [[nodiscard]] std::uint64_t NodesTouching(Range subtree) const {
    return static_cast<std::uint64_t>(touching_before_[subtree.second] -
                                      touching_before_[subtree.first]);
  }
  // What a subtree's root holds beyond it.
  [[nodiscard]] LostEnds Beyond(std::uint32_t v) const {
    const Range all = Subtree(visits_[v].root);
    return {.nics = EndsIn(all) - EndsIn(Subtree(v)),
            .nodes = NodesWithin(all) - NodesTouching(Subtree(v))};
  }

  // Whether a visit is in one of some subtrees, which are in order.
  [[nodiscard]] bool InSplit(std::uint32_t visit, const Subtrees& split) const {
    const auto after = std::ranges::upper_bound(split, visit);
    return after != split.begin() && visit < visits_[*std::prev(after)].last;
  }

  // What the parts other than the largest hold, when `v` is gone and the subtrees `split` are on
  // their own. An end that goes is no loss of its own, nor is its node.
  [[nodiscard]] LostEnds LostWithout(std::uint32_t v, const Subtrees& split) const {
    const std::uint32_t own = IsNetworkEnd(fabric_.device(visits_[v].device).kind)
                                  ? fabric_.device(visits_[v].device).node
                                  : kNone;
    std::uint64_t rest = EndsIn(Subtree(visits_[v].root)) - EndsIn({v, v + 1});
    std::uint32_t largest = split.front();
    LostEnds apart;
    for (const std::uint32_t child : split) {
      rest -= EndsIn(Subtree(child));
      apart.nics += EndsIn(Subtree(child));
      apart.nodes += NodesWithin(Subtree(child));
      if (EndsIn(Subtree(child)) > EndsIn(Subtree(largest))) largest = child;
    }
    if (EndsIn(Subtree(largest)) > rest) {
      LostEnds lost = Beyond(largest);
      if (own == kNone) return lost;
      --lost.nics;
      const bool counted =
          visits_[ends_of_node_[own].front()].root == visits_[ends_of_node_[own].back()].root &&
          std::ranges::none_of(ends_of_node_[own],
                               [&](std::uint32_t end) { return InSplit(end, {largest}); });
      if (counted) --lost.nodes;
      return lost;
    }
    const auto apart_all = [&](std::uint32_t node) {
      return node != own && std::ranges::all_of(ends_of_node_[node], [&](std::uint32_t end) {
               return InSplit(end, split);
             });
    };
    apart.nodes += static_cast<std::uint64_t>(std::ranges::count_if(forks_at_[v], apart_all));
    return apart;
  }

  // The cable that led to `child` is all that joins its subtree with the rest.
  void NoteBridge(std::uint32_t child, Points& points) const {
    const Visit& visit = visits_[child];
    const Range all = Subtree(visit.root);
    const Range below = Subtree(child);
    const std::uint64_t ends = EndsIn(below);
    const std::uint64_t others = EndsIn(all) - ends;
    if (ends == 0 || others == 0) return;
    const LostEnds lost =
        ends <= others ? LostEnds{.nics = ends, .nodes = NodesWithin(below)} : Beyond(child);
    const auto& [what, name] = NameOfCable(fabric_, visit.into);
    Note(what, name, lost, points);
  }

  static void Note(const std::string& what, const std::string& example, const LostEnds& lost,
                   Points& points) {
    SinglePoint& point = points[{what, lost.nics, lost.nodes}];
    if (point.count++ > 0) return;
    point = {.what = what,
             .example = example,
             .count = 1,
             .nics_lost = lost.nics,
             .nodes_lost = lost.nodes};
  }

  const Fabric& fabric_;
  std::vector<std::uint32_t> order_of_;
  std::vector<std::vector<std::uint32_t>> ends_of_node_;  // visits, in order
  std::vector<Visit> visits_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::vector<std::vector<std::uint32_t>> above_;
  std::vector<std::vector<std::uint32_t>> forks_at_;
  std::vector<std::uint64_t> ends_before_;
  std::vector<std::uint64_t> whole_before_;
  std::vector<std::int64_t> touching_before_;
};

}  // namespace

CableName NameOfCable(const Fabric& fabric, LinkId cable) {
  DeviceId lower = fabric.link(cable).from;
  DeviceId upper = fabric.link(cable).to;
  const auto height = [&](DeviceId id) {
    return std::pair(fabric.device(id).tier, fabric.device(id).local);
  };
  if (height(upper) < height(lower)) std::swap(lower, upper);
  return {.kind = fmt::format("{} to {} cable", DeviceClass(fabric.device(lower)),
                              DeviceClass(fabric.device(upper))),
          .name = fmt::format("{}/{}", fabric.name(lower), fabric.name(upper))};
}

LostEnds FindLostEnds(const Fabric& fabric, const std::vector<bool>& failed) {
  const Parts before = FindParts(fabric, std::vector<bool>(fabric.link_count(), false));
  const Parts after = FindParts(fabric, failed);
  // Of each part that there was, the part with the most ends that is left of it.
  std::vector<std::uint32_t> largest(before.ends.size(), kNone);
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    if (after.of[i] == kNone) continue;
    std::uint32_t& best = largest[before.of[i]];
    if (best == kNone || after.ends[after.of[i]] > after.ends[best]) best = after.of[i];
  }
  LostEnds lost;
  std::vector<bool> attached(fabric.node_count(), false);
  std::vector<bool> kept(fabric.node_count(), false);
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (!IsNetworkEnd(device.kind) || after.of[i] == kNone) continue;
    attached[device.node] = true;
    if (after.of[i] == largest[before.of[i]]) {
      kept[device.node] = true;
    } else {
      ++lost.nics;
    }
  }
  for (std::size_t n = 0; n < kept.size(); ++n) lost.nodes += attached[n] && !kept[n] ? 1U : 0U;
  return lost;
}

std::vector<SinglePoint> FindSinglePoints(const Fabric& fabric) {
  std::vector<SinglePoint> points;
  for (auto& [key, point] : Search(fabric).FindAll()) points.push_back(std::move(point));
  std::ranges::stable_sort(points, std::ranges::greater(), [](const SinglePoint& point) {
    return std::pair(point.nodes_lost, point.nics_lost);
  });
  return points;
}

}  // namespace trunkline
