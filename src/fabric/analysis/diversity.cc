#include "fabric/analysis/diversity.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/none.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

// Links looked at by all searches together, and how many pairs are wanted at least and at most.
constexpr double kMostWork = 1e8;
constexpr double kLeastPairs = 16;
constexpr double kMostPairs = 4096;
constexpr std::uint64_t kSampleStream = 0x7061697273;  // "pairs"

// The network without its ends.
class Switches {
 public:
  explicit Switches(const Fabric& fabric) : number_(fabric.device_count(), kNone) {
    for (std::size_t i = 0; i < fabric.device_count(); ++i) {
      if (fabric.device(DeviceId(i)).kind == DeviceKind::kSwitch) number_[i] = count_++;
    }
    arcs_.resize(count_);
    for (std::size_t i = 0; i < fabric.link_count(); ++i) {
      const Link& link = fabric.link(LinkId(i));
      const std::uint32_t from = number_[Index(link.from)];
      const std::uint32_t to = number_[Index(link.to)];
      if (from == kNone || to == kNone) continue;
      arcs_[from].push_back({to, static_cast<std::uint32_t>(i)});
      links_ = static_cast<std::uint32_t>(i) + 1;
    }
    used_.assign(links_, false);
    distance_.assign(count_, kNone);
    paths_.assign(count_, 0);
    came_by_.assign(count_, {});
  }

  [[nodiscard]] std::uint32_t number(DeviceId device) const { return number_[Index(device)]; }
  [[nodiscard]] std::uint32_t links() const { return links_; }

  using Set = std::vector<std::uint32_t>;

  // Shortest paths from any of one set to any of the other.
  double CountShortest(const Set& from, const Set& to) {
    Begin(from);
    double paths = 0;
    std::uint32_t nearest = kNone;
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const std::uint32_t at = queue_[i];
      if (distance_[at] > nearest) break;
      if (Contains(to, at)) {
        nearest = distance_[at];
        paths += paths_[at];
        continue;
      }
      for (const Arc& arc : arcs_[at]) {
        if (distance_[arc.to] == kNone) {
          distance_[arc.to] = distance_[at] + 1;
          queue_.push_back(arc.to);
        }
        if (distance_[arc.to] == distance_[at] + 1) paths_[arc.to] += paths_[at];
      }
    }
    return paths;
  }

  // Paths that share no cable: augmenting paths of unit flow (Menger).
  std::uint32_t CountDisjoint(const Set& from, const Set& to) {
    std::uint32_t paths = 0;
    std::vector<std::uint32_t> touched;
    while (Augment(from, to, touched)) ++paths;
    for (const std::uint32_t link : touched) used_[link] = false;
    return paths;
  }

 private:
  struct Arc {
    std::uint32_t to = 0;
    std::uint32_t link = 0;
  };
  struct Came {
    std::uint32_t from = kNone;
    std::uint32_t link = 0;
  };

  static bool Contains(const Set& set, std::uint32_t number) {
    return std::ranges::find(set, number) != set.end();
  }

  void Begin(const Set& from) {
    for (const std::uint32_t at : queue_) {
      distance_[at] = kNone;
      paths_[at] = 0;
    }
    queue_ = from;
    for (const std::uint32_t at : from) {
      distance_[at] = 0;
      paths_[at] = 1;
      came_by_[at] = {};
    }
  }

  bool Augment(const Set& from, const Set& to, std::vector<std::uint32_t>& touched) {
    Begin(from);
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const std::uint32_t at = queue_[i];
      if (Contains(to, at)) {
        Take(at, touched);
        return true;
      }
      for (const Arc& arc : arcs_[at]) {
        if (distance_[arc.to] != kNone || used_[arc.link]) continue;
        distance_[arc.to] = distance_[at] + 1;
        came_by_[arc.to] = {at, arc.link};
        queue_.push_back(arc.to);
      }
    }
    return false;
  }

  // Both directions of a cable are one link each: taking one against a path gives that back.
  void Take(std::uint32_t at, std::vector<std::uint32_t>& touched) {
    for (; came_by_[at].from != kNone; at = came_by_[at].from) {
      const std::uint32_t link = came_by_[at].link;
      const std::uint32_t reverse = link ^ 1U;
      if (used_[reverse]) {
        used_[reverse] = false;
      } else {
        used_[link] = true;
        touched.push_back(link);
      }
    }
  }

  std::vector<std::uint32_t> number_;
  std::uint32_t count_ = 0;
  std::uint32_t links_ = 0;
  std::vector<std::vector<Arc>> arcs_;
  std::vector<bool> used_;
  std::vector<std::uint32_t> distance_;
  std::vector<double> paths_;
  std::vector<Came> came_by_;
  std::vector<std::uint32_t> queue_;
};

// Sets of switches that NICs hang on, each with one of these NICs.
using Places = std::vector<std::pair<Switches::Set, DeviceId>>;

Places FindPlaces(const Fabric& fabric, const Switches& switches) {
  std::map<Switches::Set, DeviceId> places;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const DeviceKind kind = fabric.device(DeviceId(i)).kind;
    if (!IsNetworkEnd(kind)) continue;
    std::set<std::uint32_t> joined;
    for (LinkId link : fabric.out(DeviceId(i))) {
      const std::uint32_t number = switches.number(fabric.link(link).to);
      if (number != kNone) joined.insert(number);
    }
    if (!joined.empty()) places.try_emplace({joined.begin(), joined.end()}, DeviceId(i));
  }
  return {places.begin(), places.end()};
}

bool ShareSwitch(const Switches::Set& a, const Switches::Set& b) {
  return std::ranges::find_first_of(a, b) != a.end();
}

}  // namespace

PathDiversity MeasureDiversity(const Fabric& fabric) {
  Switches switches(fabric);
  const Places places = FindPlaces(fabric, switches);
  PathDiversity diversity;
  if (places.size() < 2) return diversity;
  const auto count = static_cast<std::uint64_t>(places.size());
  diversity.all_pairs = count * (count - 1) / 2;
  const auto wanted = static_cast<std::uint64_t>(
      std::clamp(kMostWork / (64.0 * std::max(1U, switches.links())), kLeastPairs, kMostPairs));
  const bool sample = diversity.all_pairs > wanted;
  double disjoint_sum = 0;
  double equal_sum = 0;
  const auto look = [&](const Places::value_type& a, const Places::value_type& b) {
    if (ShareSwitch(a.first, b.first)) return;
    const std::uint32_t disjoint = switches.CountDisjoint(a.first, b.first);
    const double equal = switches.CountShortest(a.first, b.first);
    const bool first = diversity.pairs++ == 0;
    if (first || disjoint < diversity.least_disjoint) {
      diversity.least_disjoint = disjoint;
      diversity.narrowest = {a.second, b.second};
    }
    diversity.least_equal = first ? equal : std::min(diversity.least_equal, equal);
    disjoint_sum += disjoint;
    equal_sum += equal;
  };
  if (sample) {
    for (std::uint64_t i = 0; i < wanted; ++i) {
      const std::uint64_t a = Below(Draw(1, kSampleStream, 2 * i), count);
      const std::uint64_t b = Below(Draw(1, kSampleStream, 2 * i + 1), count - 1);
      look(places[a], places[b < a ? b : b + 1]);
    }
  } else {
    for (std::size_t a = 0; a < places.size(); ++a) {
      for (std::size_t b = a + 1; b < places.size(); ++b) look(places[a], places[b]);
    }
  }
  if (diversity.pairs > 0) {
    diversity.mean_disjoint = disjoint_sum / static_cast<double>(diversity.pairs);
    diversity.mean_equal = equal_sum / static_cast<double>(diversity.pairs);
  }
  return diversity;
}

}  // namespace trunkline
