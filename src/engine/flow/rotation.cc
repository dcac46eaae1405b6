#include "engine/flow/rotation.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "trunkline/base/check.h"
#include "trunkline/base/random.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

constexpr DeviceId kNoDevice{UINT32_MAX};
constexpr LinkId kNoLink{UINT32_MAX};

// Continues a map of endpoints over the whole fabric: of a device and its image, the links that are
// not mapped yet are paired in the order of their ports, those first that lead to the right ends.
class Automorphism {
 public:
  explicit Automorphism(const Fabric& fabric)
      : fabric_(fabric),
        device_(fabric.device_count(), kNoDevice),
        link_(fabric.link_count(), kNoLink),
        device_taken_(fabric.device_count(), 0),
        link_taken_(fabric.link_count(), 0) {}

  // Each returns whether devices and links are alike so far.
  bool MapDevice(DeviceId from, DeviceId to);
  bool Extend();

  [[nodiscard]] std::vector<LinkId> TakeLinks() { return std::move(link_); }

 private:
  // Whether a free link leads to where the image of `from` has to.
  [[nodiscard]] bool MayMap(LinkId from, LinkId to) const {
    const DeviceId image = device_[Index(fabric_.link(from).to)];
    const DeviceId end = fabric_.link(to).to;
    return link_taken_[Index(to)] == 0 &&
           (image == kNoDevice ? device_taken_[Index(end)] == 0 : image == end);
  }
  bool MapCable(LinkId from, LinkId to);
  bool MapLink(LinkId from, LinkId to);

  const Fabric& fabric_;
  std::vector<DeviceId> device_;
  std::vector<LinkId> link_;
  std::vector<char> device_taken_;
  std::vector<char> link_taken_;
  std::vector<DeviceId> mapped_;
};

bool Automorphism::MapDevice(DeviceId from, DeviceId to) {
  DeviceId& image = device_[Index(from)];
  if (image != kNoDevice) return image == to;
  if (device_taken_[Index(to)] != 0 || fabric_.device(from).kind != fabric_.device(to).kind ||
      fabric_.device(from).latency != fabric_.device(to).latency) {
    return false;
  }
  image = to;
  device_taken_[Index(to)] = 1;
  mapped_.push_back(from);
  return true;
}

bool Automorphism::MapLink(LinkId from, LinkId to) {
  const Link& link = fabric_.link(from);
  const Link& image = fabric_.link(to);
  link_[Index(from)] = to;
  link_taken_[Index(to)] = 1;
  return link.rate == image.rate && link.kind == image.kind && link.latency == image.latency;
}

bool Automorphism::MapCable(LinkId from, LinkId to) {
  return MapLink(from, to) && MapLink(fabric_.reverse(from), fabric_.reverse(to)) &&
         MapDevice(fabric_.link(from).to, fabric_.link(to).to);
}

bool Automorphism::Extend() {
  for (std::size_t next = 0; next < mapped_.size(); ++next) {
    const DeviceId device = mapped_[next];
    const auto ports = fabric_.out(device_[Index(device)]);
    if (fabric_.out(device).size() != ports.size()) return false;
    for (const LinkId link : fabric_.out(device)) {
      if (link_[Index(link)] != kNoLink) continue;
      const auto port = std::ranges::find_if(ports, [&](LinkId id) { return MayMap(link, id); });
      if (port == ports.end() || !MapCable(link, *port)) return false;
    }
  }
  return true;
}

class Finder {
 public:
  Finder(const Router& router, const Placement& placement, std::uint32_t ranks)
      : router_(router), fabric_(router.fabric()), placement_(placement), ranks_(ranks) {}

  [[nodiscard]] bool Applies() const;
  [[nodiscard]] bool TakesAllPaths() const;
  [[nodiscard]] std::optional<Rotation> Try(std::uint32_t period) const;

 private:
  [[nodiscard]] DeviceId endpoint(std::uint32_t rank) const {
    return placement_.endpoint(RankId(rank % ranks_));
  }
  [[nodiscard]] bool Commutes(const Rotation& rotation) const;
  [[nodiscard]] bool Commutes(const Rotation& rotation, std::uint32_t source,
                              std::uint32_t destination) const;

  const Router& router_;
  const Fabric& fabric_;
  const Placement& placement_;
  std::uint32_t ranks_;
};

// Whether a route is all paths of fewest cables, each as long in time, and each fork shared out by
// the rates of its links: what is alike of the fabric has routes that are alike.
bool Finder::TakesAllPaths() const {
  const RoutingPolicy policy = router_.options().policy;
  if (policy != RoutingPolicy::kAdaptive && policy != RoutingPolicy::kSpray) return false;
  if (fabric_.trunk_count() > 0) return false;  // trunks need not be alike where links are
  const auto is_switch = [&](DeviceId id) {
    return fabric_.device(id).kind == DeviceKind::kSwitch;
  };
  std::optional<Time> hop;  // what a cable and the switch behind it take
  for (std::size_t l = 0; l < fabric_.link_count(); ++l) {
    const Link& link = fabric_.link(LinkId(l));
    if (!is_switch(link.from) || !is_switch(link.to)) continue;
    const Time time = link.latency + fabric_.device(link.to).latency;
    if (time != hop.value_or(time)) return false;
    hop = time;
  }
  return true;
}

bool Finder::Applies() const {
  if (router_.options().policy != RoutingPolicy::kStatic && !TakesAllPaths()) return false;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const DeviceId device = endpoint(rank);
    if (fabric_.device(device).kind != DeviceKind::kHost || fabric_.out(device).size() != 1) {
      return false;
    }
  }
  return true;
}

std::optional<Rotation> Finder::Try(std::uint32_t period) const {
  Automorphism map(fabric_);
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    if (!map.MapDevice(endpoint(rank), endpoint(rank + period))) return std::nullopt;
  }
  if (!map.Extend()) return std::nullopt;
  Rotation rotation{.period = period, .turns = ranks_ / period, .image = map.TakeLinks()};
  if (router_.options().policy == RoutingPolicy::kStatic && !Commutes(rotation)) {
    return std::nullopt;
  }
  return rotation;
}

// The routes from one rank on each switch to all others speak for those of its neighbours there. A
// static route is one path, and links that are alike have its limit and latency.
bool Finder::Commutes(const Rotation& rotation) const {
  std::vector<char> seen(fabric_.device_count(), 0);
  for (std::uint32_t source = 0; source < rotation.period; ++source) {
    const LinkId cable = fabric_.out(endpoint(source))[0];
    if (seen[Index(fabric_.link(cable).to)] != 0) continue;
    for (const LinkId link : rotation.Orbit(cable)) seen[Index(fabric_.link(link).to)] = 1;
    for (std::uint32_t destination = 0; destination < ranks_; ++destination) {
      if (destination != source && !Commutes(rotation, source, destination)) return false;
    }
  }
  return true;
}

bool Finder::Commutes(const Rotation& rotation, std::uint32_t source,
                      std::uint32_t destination) const {
  const auto first = router_.FindPath(endpoint(source), endpoint(destination), 0);
  if (!first) return false;
  std::vector<LinkId> expected = *first;
  for (std::uint32_t turn = 1; turn <= rotation.turns; ++turn) {
    const std::uint32_t moved = turn * rotation.period;
    for (LinkId& link : expected) link = rotation.image[Index(link)];
    const auto path = router_.FindPath(endpoint(source + moved), endpoint(destination + moved), 0);
    if (!path || *path != expected) return false;
  }
  return true;
}

// Calls visit(op, index) for every op of a rank.
template <typename Visit>
void ForEachOp(const Schedule& schedule, Participant rank, std::uint32_t channel, Visit visit) {
  std::array<Op, 32> block;
  const std::uint64_t count = schedule.op_count(rank, channel);
  for (std::uint64_t first = 0; first < count; first += block.size()) {
    const auto ops = std::span(block).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), count - first)));
    schedule.ops(rank, channel, first, ops);
    for (const Op& op : ops) visit(op);
  }
}

// A hash of a rank's programs with peers counted from the rank.
std::uint64_t HashOf(const Schedule& schedule, Participant rank) {
  std::uint64_t hash = 0;
  for (std::uint32_t channel = 0; channel < schedule.channels(); ++channel) {
    ForEachOp(schedule, rank, channel, [&](const Op& op) {
      if (op.kind == OpKind::kReduce || op.kind == OpKind::kCopy) return;
      const std::uint64_t distance = (op.peer + schedule.ranks() - rank) % schedule.ranks();
      hash = HashCombine(HashCombine(hash, static_cast<std::uint64_t>(op.kind)), distance);
      const std::int64_t size =
          op.kind == OpKind::kPut ? schedule.sent_bytes(op.source.size) : op.source.size;
      hash = HashCombine(HashCombine(hash, op.channel), static_cast<std::uint64_t>(size));
    });
  }
  return hash;
}

}  // namespace

std::vector<LinkId> Rotation::Orbit(LinkId link) const {
  std::vector<LinkId> orbit{link};
  for (LinkId next = image[Index(link)]; next != link; next = image[Index(next)]) {
    orbit.push_back(next);
  }
  return orbit;
}

std::optional<Rotation> FindRotation(const Router& router, const Placement& placement,
                                     const Schedule& schedule) {
  const std::uint32_t ranks = schedule.ranks();
  if (!schedule.rotates() || 2 * RotatedPairs(schedule, 1).size() < ranks) return std::nullopt;
  const Finder finder(router, placement, ranks);
  if (!finder.Applies()) return std::nullopt;
  // The second and the last rank show whether the schedule keeps its word.
  const std::uint64_t program = HashOf(schedule, 0);
  TL_CHECK(HashOf(schedule, 1 % ranks) == program && HashOf(schedule, ranks - 1) == program,
           "programs do not rotate", schedule.algorithm());
  for (std::uint32_t period = 1; period < ranks; ++period) {
    if (ranks % period != 0) continue;
    if (auto rotation = finder.Try(period)) return rotation;
  }
  return std::nullopt;
}

std::vector<Schedule::Pair> RotatedPairs(const Schedule& schedule, std::uint32_t period) {
  const std::uint32_t ranks = schedule.ranks();
  std::vector<Schedule::Pair> of_first;
  for (std::uint32_t channel = 0; channel < schedule.channels(); ++channel) {
    ForEachOp(schedule, 0, channel, [&](const Op& op) {
      const bool sends = op.kind == OpKind::kPut || op.kind == OpKind::kSignal;
      if (sends && op.peer != 0) of_first.push_back({0, op.peer, channel});
    });
  }
  std::ranges::sort(of_first);
  const auto repeats = std::ranges::unique(of_first);
  of_first.erase(repeats.begin(), repeats.end());
  std::vector<Schedule::Pair> pairs;
  pairs.reserve(of_first.size() * period);
  for (std::uint32_t rank = 0; rank < period; ++rank) {
    // Sorted again: where adding the rank wraps around, the pairs turn.
    const auto wraps =
        std::ranges::lower_bound(of_first, ranks - rank, {}, &Schedule::Pair::destination);
    const auto add = [&](const Schedule::Pair& pair) {
      pairs.push_back({rank, (pair.destination + rank) % ranks, pair.channel});
    };
    std::for_each(wraps, of_first.end(), add);
    std::for_each(of_first.begin(), wraps, add);
  }
  return pairs;
}

}  // namespace trunkline
