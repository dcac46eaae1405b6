#include "planner/link_load.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "trunkline/base/random.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

// Links that are looked at on all routes together: a second or two. Routes that are split over many
// ways are long.
constexpr std::uint64_t kMostHops = 32'000'000;
constexpr std::uint64_t kHopsToFind = 8;  // a route takes as long to find as to add so many
constexpr std::uint64_t kRoundStream = 0x726f756e6473;  // "rounds"
constexpr std::uint64_t kProbeStream = 0x70726f626573;  // "probes"

class Loads {
 public:
  explicit Loads(const Router& router)
      : router_(router), finder_(router), load_(router.fabric().resource_count(), 0) {}

  Result<void> Send(DeviceId src, DeviceId dst) {
    const auto route = finder_.Find(src, dst, 0);
    if (!route) return std::unexpected(route.error());
    hops_ += kHopsToFind + (*route)->hops.size();
    for (const Hop& hop : (*route)->hops) {
      if (Index(hop.resource) >= load_.size()) load_.resize(Index(hop.resource) + 1, 0);
      load_[Index(hop.resource)] += hop.weight;
    }
    return {};
  }

  [[nodiscard]] std::uint64_t hops() const { return hops_; }

  // Of one byte sent by each `Send`: the seconds that the busiest link takes, and which it is.
  [[nodiscard]] std::pair<double, ResourceId> Worst() const {
    std::pair<double, ResourceId> worst{0, ResourceId{}};
    for (std::size_t i = 0; i < load_.size(); ++i) {
      if (load_[i] == 0) continue;
      const double seconds = load_[i] / router_.capacity(ResourceId(i)).bytes_per_second();
      if (seconds > worst.first) worst = {seconds, ResourceId(i)};
    }
    return worst;
  }

 private:
  const Router& router_;
  RouteFinder finder_;
  std::vector<double> load_;
  std::uint64_t hops_ = 0;
};

// What a round of routes has, from a few of them, drawn: ends half of all ends apart, say, are
// close together on a torus.
Result<std::uint64_t> HopsOfRound(const Router& router) {
  constexpr std::uint64_t kProbes = 64;
  const auto endpoints = router.fabric().endpoints();
  const std::uint64_t n = endpoints.size();
  const std::uint64_t probes = std::min(kProbes, n);
  Loads loads(router);
  for (std::uint64_t i = 0; i < probes; ++i) {
    const std::uint64_t from = i * n / probes;
    const std::uint64_t shift = 1 + Below(Draw(1, kProbeStream, i), n - 1);
    const auto sent = loads.Send(endpoints[from], endpoints[(from + shift) % n]);
    if (!sent) return std::unexpected(sent.error());
  }
  return loads.hops() * n / probes;
}

}  // namespace

Result<LinkLoad> LinkLoadTime(const Router& router, Bytes bytes) {
  const auto endpoints = router.fabric().endpoints();
  const std::uint64_t n = endpoints.size();
  LinkLoad answer{.time = {}, .all_rounds = n < 2 ? 0 : n - 1};
  if (answer.all_rounds == 0) return answer;
  const auto hops = HopsOfRound(router);
  if (!hops) return std::unexpected(hops.error());
  const std::uint64_t of_round = std::max<std::uint64_t>(1, *hops);
  answer.rounds = std::clamp<std::uint64_t>(kMostHops / of_round, 1, answer.all_rounds);
  Loads loads(router);
  for (std::uint64_t round = 0; round < answer.rounds; ++round) {
    // One shift from each of as many stretches of all shifts.
    const std::uint64_t first = round * answer.all_rounds / answer.rounds;
    const std::uint64_t next = (round + 1) * answer.all_rounds / answer.rounds;
    const std::uint64_t shift = 1 + first + Below(Draw(1, kRoundStream, round), next - first);
    for (std::uint64_t i = 0; i < n; ++i) {
      const auto sent = loads.Send(endpoints[i], endpoints[(i + shift) % n]);
      if (!sent) return std::unexpected(sent.error());
    }
  }
  const double scale = static_cast<double>(answer.all_rounds) / static_cast<double>(answer.rounds);
  const auto [seconds_a_byte, busiest] = loads.Worst();
  answer.time = Time::FromSeconds(seconds_a_byte * scale * static_cast<double>(bytes.count()) /
                                  static_cast<double>(n));
  answer.busiest = busiest;
  return answer;
}

}  // namespace trunkline
