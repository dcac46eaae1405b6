#include "fabric/analysis/hose_bound.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "fabric/analysis/halves.h"
#include "trunkline/fabric/route.h"

namespace trunkline {
namespace {

// Of classes; a pair costs tens of microseconds where flows are split link by link.
constexpr double kMaxPairs = 1e5;
// More than what sums of so many doubles are off by.
constexpr double kRounding = 1e-14;

// NICs of one group that hang on the same switches: alike as sources and destinations.
struct EndClass {
  std::vector<DeviceId> ends;
  double rate = 0;   // of the slowest of them, in bits per second
  double speed = 1;  // the part of it that overflows no link

  [[nodiscard]] double count() const { return static_cast<double>(ends.size()); }
};

// NICs that send among themselves.
struct Group {
  std::vector<EndClass> classes;
  std::size_t nics = 0;
  std::size_t least = 0;  // that any half of the nodes has, if it is the smaller for odd ones
};

// By device, the first of those that network cables join it with.
std::vector<std::uint32_t> Components(const Fabric& fabric) {
  std::vector<std::uint32_t> parent(fabric.device_count());
  std::iota(parent.begin(), parent.end(), 0U);
  const auto root = [&](std::uint32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (std::size_t i = 0; i < fabric.link_count(); i += 2) {
    const Link& link = fabric.link(LinkId(i));
    if (link.kind != LinkKind::kNetwork) continue;
    const std::uint32_t a = root(static_cast<std::uint32_t>(Index(link.from)));
    const std::uint32_t b = root(static_cast<std::uint32_t>(Index(link.to)));
    parent[std::max(a, b)] = std::min(a, b);
  }
  for (std::uint32_t i = 0; i < parent.size(); ++i) parent[i] = root(i);
  return parent;
}

// `of` says which group a NIC is in.
template <typename Of>
std::vector<Group> FindGroups(const Fabric& fabric, Of of) {
  std::map<std::uint32_t, std::map<std::vector<DeviceId>, EndClass>> classes;
  std::map<std::uint32_t, std::vector<std::uint32_t>> nodes;  // of the NICs of each group
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (!IsNetworkEnd(device.kind)) continue;
    double rate = 0;
    std::vector<DeviceId> joined;
    for (LinkId link : fabric.out(DeviceId(i))) {
      if (fabric.link(link).kind != LinkKind::kNetwork) continue;
      rate += static_cast<double>(fabric.link(link).rate.bits_per_second());
      joined.push_back(fabric.link(link).to);
    }
    if (joined.empty()) continue;
    std::ranges::sort(joined);
    // NICs that are cabled to NICs have cables of their own.
    const bool to_switches = std::ranges::all_of(
        joined, [&](DeviceId id) { return fabric.device(id).kind == DeviceKind::kSwitch; });
    if (!to_switches) joined.push_back(DeviceId(i));
    const std::uint32_t group = of(DeviceId(i));
    EndClass& like = classes[group][joined];
    like.rate = like.ends.empty() ? rate : std::min(like.rate, rate);
    like.ends.push_back(DeviceId(i));
    nodes[group].push_back(device.node);
  }
  std::vector<Group> found;
  for (auto& [index, alike] : classes) {
    Group& group = found.emplace_back();
    for (auto& [joined, like] : alike) group.classes.push_back(std::move(like));
    group.nics = nodes[index].size();
    group.least = FewestOfHalf(std::move(nodes[index]), fabric.node_count());
  }
  return found;
}

// What links between switches carry of each group's traffic.
class Loads {
 public:
  explicit Loads(const Router& router)
      : router_(router),
        uniform_(router.fabric().resource_count(), 0),
        total_(router.fabric().resource_count(), 0),
        largest_(router.fabric().resource_count(), 0),
        senders_(router.fabric().resource_count()) {}

  // Adds `from` with its largest share of each link over all `to`, and with the sum of its shares;
  // false when some is unreachable. `forward`: `from` is the source, else the destination.
  bool Add(EndClass& from, const std::vector<EndClass>& to, bool forward) {
    for (const EndClass& other : to) {
      const bool same = from.ends[0] == other.ends[0];
      if (SameNode(from, other)) continue;
      DeviceId source = from.ends[0];
      DeviceId destination = other.ends[same ? 1 : 0];
      if (!forward) std::swap(source, destination);
      const auto route = router_.FindRoute(source, destination, 0);
      if (!route) return false;
      const double pairs = from.count() * (other.count() - (same ? 1 : 0));
      for (const Hop& hop : route->hops) Note(hop, from, other, pairs);
    }
    for (ResourceId resource : touched_) {
      const std::size_t index = Index(resource);
      total_[index] += std::exchange(largest_[index], 0) * from.rate * from.count();
      senders_[index].push_back(&from);
    }
    touched_.clear();
    return true;
  }

  // Of pairs, each sending at a rate of one.
  [[nodiscard]] double uniform(std::size_t resource) const { return uniform_[resource]; }
  // What it would carry if every class sent at full speed.
  [[nodiscard]] double total(std::size_t resource) const { return total_[resource]; }
  void SlowSenders(std::size_t resource, double speed) {
    for (EndClass* sender : senders_[resource]) sender->speed = std::min(sender->speed, speed);
  }

 private:
  // No halving parts NICs of a node: what they send each other loads no link for its sake.
  [[nodiscard]] bool SameNode(const EndClass& a, const EndClass& b) const {
    const auto node = [&](const EndClass& of) { return router_.fabric().device(of.ends[0]).node; };
    return a.ends.size() == 1 && b.ends.size() == 1 && node(a) == node(b);
  }

  void Note(const Hop& hop, const EndClass& from, const EndClass& other, double pairs) {
    const std::size_t index = Index(hop.resource);
    if (CutsOff(hop, from) || CutsOff(hop, other)) return;
    uniform_[index] += hop.weight * pairs;
    if (largest_[index] == 0) touched_.push_back(hop.resource);
    largest_[index] = std::max(largest_[index], hop.weight);
  }

  // Whether the hop is over cables of the NIC itself and takes of them no more than they are of all
  // that it has: these bound it already.
  [[nodiscard]] bool CutsOff(const Hop& hop, const EndClass& like) const {
    const Fabric& fabric = router_.fabric();
    const std::size_t index = Index(hop.resource);
    auto id = static_cast<LinkId>(index);
    if (index >= fabric.link_count()) {
      const auto links = router_.trunk_links(hop.resource);
      if (links.empty()) return false;
      id = links.front();
    }
    const Link& link = fabric.link(id);
    if (link.from != like.ends[0] && link.to != like.ends[0] &&
        (like.ends.size() < 2 || (link.from != like.ends[1] && link.to != like.ends[1]))) {
      return false;
    }
    const auto rate = static_cast<double>(router_.capacity(hop.resource).bits_per_second());
    return hop.weight * like.rate <= rate * (1 + kRounding);
  }

  const Router& router_;
  std::vector<double> uniform_;
  std::vector<double> total_;
  std::vector<double> largest_;
  std::vector<ResourceId> touched_;
  std::vector<std::vector<EndClass*>> senders_;
};

double CapacityOf(const Router& router, std::size_t resource) {
  return static_cast<double>(router.capacity(ResourceId(resource)).bits_per_second());
}

// The sum over the slowest `count` of the group's NICs.
double SlowestOf(const Group& group, std::size_t count) {
  std::vector<std::pair<double, std::size_t>> rates;
  for (const EndClass& like : group.classes) {
    rates.emplace_back(like.rate * like.speed, like.ends.size());
  }
  std::ranges::sort(rates);
  double sum = 0;
  for (const auto& [rate, nics] : rates) {
    const std::size_t taken = std::min(nics, count);
    sum += rate * static_cast<double>(taken);
    count -= taken;
  }
  return sum;
}

double HoseBound(const Router& router, std::vector<Group>& groups, Loads& by_source,
                 Loads& by_destination) {
  for (std::size_t resource = 0; resource < router.fabric().resource_count(); ++resource) {
    const double capacity = CapacityOf(router, resource);
    Loads& tighter =
        by_source.total(resource) <= by_destination.total(resource) ? by_source : by_destination;
    if (tighter.total(resource) > capacity) {
      tighter.SlowSenders(resource, capacity / tighter.total(resource));
    }
  }
  double bound = 0;
  for (const Group& group : groups) bound += SlowestOf(group, group.least);
  return bound;
}

// What a cut between `least` of the group's NICs and the others lets through at least, when every
// pair sends `each`: some are cut off on either side, the slowest, and the others send on.
double LeastOfAllToAll(const Group& group, double each) {
  std::vector<double> rates;
  for (const EndClass& like : group.classes) rates.insert(rates.end(), like.ends.size(), like.rate);
  std::ranges::sort(rates);
  std::vector<double> sums{0};
  for (const double rate : rates) sums.push_back(sums.back() + rate);
  const std::size_t few = group.least;
  const std::size_t others = group.nics - few;
  double bound = sums[few];
  for (std::size_t cut = 0; cut < few; ++cut) {
    const double left = static_cast<double>(few - cut);
    // Another one is worth cutting off while its cable carries less than it exchanges.
    const auto cheaper = std::ranges::lower_bound(rates, each * left) - rates.begin();
    const std::size_t far = std::min(static_cast<std::size_t>(cheaper), others);
    bound =
        std::min(bound, sums[cut] + sums[far] + each * left * static_cast<double>(others - far));
  }
  return bound;
}

double AllToAllBound(const Router& router, const std::vector<Group>& groups, const Loads& loads) {
  double each = HUGE_VAL;
  for (std::size_t resource = 0; resource < router.fabric().resource_count(); ++resource) {
    if (loads.uniform(resource) > 0) {
      each = std::min(each, CapacityOf(router, resource) / loads.uniform(resource));
    }
  }
  double bound = 0;
  for (const Group& group : groups) {
    // No link between switches: the NICs' own cables alone can be cut.
    bound += std::isfinite(each) ? LeastOfAllToAll(group, each) : SlowestOf(group, group.least);
  }
  return bound;
}

double PairsOf(const std::vector<Group>& groups) {
  double pairs = 0;
  for (const Group& group : groups) {
    pairs += static_cast<double>(group.classes.size()) * static_cast<double>(group.classes.size());
  }
  return pairs;
}

// The larger of both; none when NICs of a group are not joined.
LowerBound BoundOf(const Router& router, std::vector<Group> groups) {
  Loads by_source(router);
  Loads by_destination(router);
  for (Group& group : groups) {
    for (EndClass& like : group.classes) {
      if (!by_source.Add(like, group.classes, true) ||
          !by_destination.Add(like, group.classes, false)) {
        return {Rate(), "not all NICs are joined"};
      }
    }
  }
  const double all_to_all = AllToAllBound(router, groups, by_source);
  const double hose = HoseBound(router, groups, by_source, by_destination);
  if (all_to_all > hose) {
    // A cut has a whole number of bits per second.
    const double whole = std::ceil(all_to_all * (1 - kRounding));
    return {Rate::BitsPerSecond(static_cast<std::int64_t>(whole)),
            "what all-to-all traffic on evenly split minimal paths needs of a cut"};
  }
  return {Rate::BitsPerSecond(static_cast<std::int64_t>(hose)),
          "hose model over evenly split minimal paths"};
}

}  // namespace

std::optional<LowerBound> BoundFromBelow(const Fabric& fabric) {
  const std::vector<std::uint32_t> component = Components(fabric);
  const auto rail = [&](DeviceId id) { return fabric.device(id).local; };
  const auto joined = [&](DeviceId id) { return component[Index(id)]; };
  std::vector<std::vector<Group>> ways{FindGroups(fabric, rail), FindGroups(fabric, joined)};
  if (ways[0].size() == 1 && ways[1].size() == 1) ways.pop_back();  // the same

  std::optional<LowerBound> best;
  const Router router(fabric, {.policy = RoutingPolicy::kSpray});
  for (std::vector<Group>& groups : ways) {
    if (PairsOf(groups) > kMaxPairs) continue;
    const LowerBound bound = BoundOf(router, std::move(groups));
    if (!best || bound.rate > best->rate) best = bound;
  }
  return best;
}

}  // namespace trunkline
