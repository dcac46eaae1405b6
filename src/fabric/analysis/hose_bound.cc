#include "fabric/analysis/hose_bound.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trunkline/fabric/route.h"

namespace trunkline {
namespace {

// Of classes; a pair costs tens of microseconds where flows are split link by link.
constexpr double kMaxPairs = 1e5;

// NICs of one local index that hang on the same switches: alike as sources and destinations.
struct EndClass {
  std::vector<DeviceId> ends;
  double rate = 0;   // of the slowest of them, in bits per second
  double speed = 1;  // the part of it that overflows no link
};
using Rail = std::vector<EndClass>;

std::vector<Rail> FindRails(const Fabric& fabric) {
  std::map<std::uint32_t, std::map<std::vector<DeviceId>, EndClass>> rails;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (device.kind != DeviceKind::kNic && device.kind != DeviceKind::kHost) continue;
    double rate = 0;
    std::vector<DeviceId> joined;
    for (LinkId link : fabric.out(DeviceId(i))) {
      if (fabric.link(link).kind != LinkKind::kNetwork) continue;
      rate += static_cast<double>(fabric.link(link).rate.bits_per_second());
      joined.push_back(fabric.link(link).to);
    }
    if (joined.empty()) continue;
    std::ranges::sort(joined);
    EndClass& like = rails[device.local][joined];
    like.rate = like.ends.empty() ? rate : std::min(like.rate, rate);
    like.ends.push_back(DeviceId(i));
  }
  std::vector<Rail> found;
  for (auto& [index, classes] : rails) {
    Rail& rail = found.emplace_back();
    for (auto& [joined, like] : classes) rail.push_back(std::move(like));
  }
  return found;
}

// What the links between switches would carry if every class sent at full speed, and who sends it.
class Loads {
 public:
  explicit Loads(const Router& router)
      : router_(router),
        total_(router.fabric().resource_count(), 0),
        largest_(router.fabric().resource_count(), 0),
        senders_(router.fabric().resource_count()) {}

  // Adds `from` with its largest share of each link over all `to`; false when some is unreachable.
  // `forward`: `from` is the source, else the destination.
  bool Add(EndClass& from, const Rail& to, bool forward) {
    for (const EndClass& other : to) {
      const bool same = from.ends[0] == other.ends[0];
      if (same && from.ends.size() == 1) continue;
      DeviceId source = from.ends[0];
      DeviceId destination = other.ends[same ? 1 : 0];
      if (!forward) std::swap(source, destination);
      const auto route = router_.FindRoute(source, destination, 0);
      if (!route) return false;
      for (const Hop& hop : route->hops) Note(hop);
    }
    for (ResourceId resource : touched_) {
      const std::size_t index = Index(resource);
      total_[index] +=
          std::exchange(largest_[index], 0) * from.rate * static_cast<double>(from.ends.size());
      senders_[index].push_back(&from);
    }
    touched_.clear();
    return true;
  }

  [[nodiscard]] double total(std::size_t resource) const { return total_[resource]; }
  void SlowSenders(std::size_t resource, double speed) {
    for (EndClass* sender : senders_[resource]) sender->speed = std::min(sender->speed, speed);
  }

 private:
  void Note(const Hop& hop) {
    const std::size_t index = Index(hop.resource);
    const Fabric& fabric = router_.fabric();
    if (index < fabric.link_count()) {
      const Link& link = fabric.link(LinkId(index));
      // A NIC's own cables bound it already.
      if (fabric.device(link.from).kind != DeviceKind::kSwitch ||
          fabric.device(link.to).kind != DeviceKind::kSwitch) {
        return;
      }
    }
    if (largest_[index] == 0) touched_.push_back(hop.resource);
    largest_[index] = std::max(largest_[index], hop.weight);
  }

  const Router& router_;
  std::vector<double> total_;
  std::vector<double> largest_;
  std::vector<ResourceId> touched_;
  std::vector<std::vector<EndClass*>> senders_;
};

// The sum over the slowest half of the rail's NICs.
double SlowestHalf(const Rail& rail, std::size_t half) {
  std::vector<std::pair<double, std::size_t>> rates;
  for (const EndClass& like : rail) rates.emplace_back(like.rate * like.speed, like.ends.size());
  std::ranges::sort(rates);
  double sum = 0;
  for (const auto& [rate, count] : rates) {
    const std::size_t taken = std::min(count, half);
    sum += rate * static_cast<double>(taken);
    half -= taken;
  }
  return sum;
}

}  // namespace

std::optional<Rate> HoseBound(const Fabric& fabric) {
  std::vector<Rail> rails = FindRails(fabric);
  double pairs = 0;
  for (const Rail& rail : rails) {
    pairs += static_cast<double>(rail.size()) * static_cast<double>(rail.size());
  }
  if (pairs > kMaxPairs) return std::nullopt;

  const Router router(fabric, {.policy = RoutingPolicy::kSpray});
  Loads by_source(router);
  Loads by_destination(router);
  for (Rail& rail : rails) {
    for (EndClass& like : rail) {
      if (!by_source.Add(like, rail, true) || !by_destination.Add(like, rail, false)) return Rate();
    }
  }
  for (std::size_t resource = 0; resource < fabric.resource_count(); ++resource) {
    const auto capacity =
        static_cast<double>(router.capacity(ResourceId(resource)).bits_per_second());
    Loads& tighter =
        by_source.total(resource) <= by_destination.total(resource) ? by_source : by_destination;
    if (tighter.total(resource) > capacity) {
      tighter.SlowSenders(resource, capacity / tighter.total(resource));
    }
  }
  double bound = 0;
  for (const Rail& rail : rails) bound += SlowestHalf(rail, fabric.node_count() / 2);
  return Rate::BitsPerSecond(static_cast<std::int64_t>(bound));
}

}  // namespace trunkline
