#include "fabric/analysis/pair_distances.h"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>
#include <vector>

#include "fabric/network_paths.h"

namespace trunkline {
namespace {

constexpr std::uint32_t kBatch = 64;

// Ends cabled to the same switches are alike: a class of destinations (NetworkPaths::destination).
struct EndClasses {
  std::vector<std::int64_t> size;
  std::vector<std::vector<std::uint32_t>> of_switch;
  // Of class b: the classes a, and how many ordered pairs of an end of a and one of b are in one
  // node, an end with itself included.
  std::vector<std::map<std::uint32_t, std::int64_t>> same_node;
  // Cables from end to end between nodes, which no switch is on: pairs of a class with another.
  std::vector<std::map<std::uint32_t, std::int64_t>> direct;
};

EndClasses FindClasses(const Fabric& fabric, const NetworkPaths& network) {
  const std::size_t count = network.destination_count();
  EndClasses classes{.size = std::vector<std::int64_t>(count, 0),
                     .of_switch = std::vector<std::vector<std::uint32_t>>(network.switch_count()),
                     .same_node = std::vector<std::map<std::uint32_t, std::int64_t>>(count),
                     .direct = std::vector<std::map<std::uint32_t, std::int64_t>>(count)};
  std::vector<std::vector<std::uint32_t>> of_node(fabric.node_count());
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    if (!network.attached(DeviceId(i))) continue;
    const std::uint32_t own = network.destination(DeviceId(i));
    ++classes.size[own];
    of_node[fabric.device(DeviceId(i)).node].push_back(own);
    std::set<DeviceId> met;
    for (const LinkId link : fabric.out(DeviceId(i))) {
      const DeviceId to = fabric.link(link).to;
      if (fabric.link(link).kind != LinkKind::kNetwork || !network.attached(to)) continue;
      const bool other_node = fabric.device(to).node != fabric.device(DeviceId(i)).node;
      if (other_node && met.insert(to).second) ++classes.direct[own][network.destination(to)];
    }
  }
  for (const std::vector<std::uint32_t>& ends : of_node) {
    for (const std::uint32_t a : ends) {
      for (const std::uint32_t b : ends) ++classes.same_node[b][a];
    }
  }
  for (std::uint32_t c = 0; c < count; ++c) {
    for (const std::uint32_t s : network.switches_of(c)) classes.of_switch[s].push_back(c);
  }
  return classes;
}

// Breadth-first searches from the switches of 64 classes at once, one bit each.
class DistanceSearch {
 public:
  using Pairs = std::map<std::uint32_t, std::int64_t>;

  DistanceSearch(const NetworkPaths& network, const EndClasses& classes)
      : network_(network),
        classes_(classes),
        reached_(network.switch_count()),
        fresh_(network.switch_count()),
        next_(network.switch_count()),
        class_reached_(network.destination_count()),
        apart_(network.destination_count()) {}

  // Adds the pairs of any class with the `count` from `first` on.
  void Run(std::uint32_t first, std::uint32_t count, Pairs& pairs) {
    Begin(first, count);
    // Two cables and those between switches.
    for (std::uint32_t cables = 2; !active_.empty(); ++cables) pairs[cables] += Expand();
    const std::uint64_t all = count == kBatch ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    std::int64_t unreachable = 0;
    for (std::uint32_t c = 0; c < class_reached_.size(); ++c) {
      unreachable += CountEnds(c, all & ~class_reached_[c]);
    }
    pairs[kUnreachablePair] += unreachable;
    for (std::uint32_t bit = 0; bit < count; ++bit) {
      for (const auto& [from, ends] : classes_.direct[first + bit]) pairs[1] += ends;
    }
  }

 private:
  void Begin(std::uint32_t first, std::uint32_t count) {
    first_ = first;
    std::ranges::fill(reached_, 0);
    std::ranges::fill(class_reached_, 0);
    std::ranges::fill(apart_, 0);
    missing_ = std::int64_t{count} * static_cast<std::int64_t>(reached_.size());
    equal_size_ = classes_.size[first];
    for (std::uint32_t bit = 0; bit < count; ++bit) {
      const std::uint64_t mask = std::uint64_t{1} << bit;
      if (classes_.size[first + bit] != equal_size_) equal_size_ = 0;
      for (const auto& [from, ends] : classes_.same_node[first + bit]) apart_[from] |= mask;
      for (const auto& [from, ends] : classes_.direct[first + bit]) apart_[from] |= mask;
      for (const std::uint32_t s : network_.switches_of(first + bit)) {
        Touch(s, mask, active_, fresh_);
      }
    }
  }

  static void Touch(std::uint32_t s, std::uint64_t bits, std::vector<std::uint32_t>& list,
                    std::vector<std::uint64_t>& seen) {
    if (seen[s] == 0) list.push_back(s);
    seen[s] |= bits;
  }

  // Pairs of ends of `from` and of the classes in `bits` that are in different nodes and have no
  // cable of their own.
  [[nodiscard]] std::int64_t CountEnds(std::uint32_t from, std::uint64_t bits) const {
    std::int64_t others = 0;
    if (equal_size_ > 0) {
      others = equal_size_ * std::popcount(bits);
    } else {
      for (std::uint64_t left = bits; left != 0; left &= left - 1) {
        others += classes_.size[first_ + static_cast<std::uint32_t>(std::countr_zero(left))];
      }
    }
    std::int64_t pairs = classes_.size[from] * others;
    for (std::uint64_t left = bits & apart_[from]; left != 0; left &= left - 1) {
      const std::uint32_t to = first_ + static_cast<std::uint32_t>(std::countr_zero(left));
      for (const auto* counts : {&classes_.same_node[to], &classes_.direct[to]}) {
        if (const auto found = counts->find(from); found != counts->end()) pairs -= found->second;
      }
    }
    return pairs;
  }

  // One step further; returns the pairs that it reaches.
  std::int64_t Expand() {
    std::int64_t pairs = 0;
    for (const std::uint32_t s : active_) {
      reached_[s] |= fresh_[s];
      missing_ -= std::popcount(fresh_[s]);
      for (const std::uint32_t c : classes_.of_switch[s]) {
        const std::uint64_t seen = fresh_[s] & ~class_reached_[c];
        class_reached_[c] |= seen;
        pairs += CountEnds(c, seen);
      }
    }
    touched_.clear();
    for (const std::uint32_t s : active_) {
      const std::uint64_t bits = std::exchange(fresh_[s], 0);
      if (missing_ == 0) continue;
      for (const std::uint32_t to : network_.neighbours(s)) {
        if (const std::uint64_t seen = bits & ~reached_[to]; seen != 0) {
          Touch(to, seen, touched_, next_);
        }
      }
    }
    std::swap(fresh_, next_);
    std::swap(active_, touched_);
    return pairs;
  }

  const NetworkPaths& network_;
  const EndClasses& classes_;
  std::uint32_t first_ = 0;
  std::int64_t equal_size_ = 0;         // of the classes of the batch; 0: they differ
  std::int64_t missing_ = 0;            // switches and bits that have not met
  std::vector<std::uint64_t> reached_;  // by switch
  std::vector<std::uint64_t> fresh_;    // first seen one step ago
  std::vector<std::uint64_t> next_;     // first seen in this step
  std::vector<std::uint64_t> class_reached_;
  std::vector<std::uint64_t> apart_;   // by class: bits with pairs that count apart
  std::vector<std::uint32_t> active_;  // switches with fresh bits
  std::vector<std::uint32_t> touched_;
};

}  // namespace

std::map<std::uint32_t, std::int64_t> CountPairs(const Fabric& fabric) {
  const NetworkPaths network(fabric);
  const EndClasses classes = FindClasses(fabric, network);
  const std::uint32_t all = network.destination_count();
  DistanceSearch search(network, classes);
  DistanceSearch::Pairs pairs;
  for (std::uint32_t first = 0; first < all; first += kBatch) {
    search.Run(first, std::min(kBatch, all - first), pairs);
  }
  std::erase_if(pairs, [](const auto& entry) { return entry.second == 0; });
  return pairs;
}

}  // namespace trunkline
