#include "engine/analytic/ring_time.h"

#include <algorithm>
#include <deque>
#include <vector>

namespace trunkline {
namespace {

double Whole(const RingHop& hop) { return hop.busy + hop.latency; }

double BusiestOf(std::span<const RingHop> hops) {
  return std::ranges::max_element(hops, {}, &RingHop::busy)->busy;
}

// The largest sum of `steps` consecutive hops around the ring.
double MovingSeconds(std::span<const RingHop> hops, std::uint64_t steps) {
  double round = 0;
  for (const RingHop& hop : hops) round += Whole(hop);
  const std::size_t rest = steps % hops.size();
  double window = 0;
  for (std::size_t i = 0; i < rest; ++i) window += Whole(hops[i]);
  double largest = window;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    window += Whole(hops[(i + rest) % hops.size()]) - Whole(hops[i]);
    largest = std::max(largest, window);
  }
  return static_cast<double>(steps / hops.size()) * round + largest;
}

// The largest gain, over staying at a busiest hop for all steps, of a run of at most `steps` hops
// that contains one. Runs end before hop `end` of the unrolled ring; prefix sums of the gains of
// single hops turn this into a sliding minimum over where runs begin.
double DetourGain(std::span<const RingHop> hops, double busiest, std::uint64_t steps) {
  const std::size_t n = hops.size();
  const std::size_t length = n + std::min<std::size_t>(steps, 2 * n);
  std::vector<double> prefix(length + 1, 0);
  std::deque<std::size_t> begins;  // candidates, prefix increasing
  std::size_t next_begin = 0;
  double best = 0;
  for (std::size_t end = 1; end <= length; ++end) {
    const RingHop& hop = hops[(end - 1) % n];
    prefix[end] = prefix[end - 1] + Whole(hop) - busiest;
    if (hop.busy == busiest) {
      for (; next_begin < end; ++next_begin) {
        while (!begins.empty() && prefix[begins.back()] >= prefix[next_begin]) begins.pop_back();
        begins.push_back(next_begin);
      }
    }
    while (!begins.empty() && begins.front() + steps < end) begins.pop_front();
    if (!begins.empty()) best = std::max(best, prefix[end] - prefix[begins.front()]);
  }
  return best;
}

}  // namespace

double RingSeconds(std::span<const RingHop> hops, std::uint64_t steps) {
  if (steps == 0) return 0;
  const double busiest = BusiestOf(hops);
  return std::max(MovingSeconds(hops, steps),
                  static_cast<double>(steps) * busiest + DetourGain(hops, busiest, steps));
}

double ChainSeconds(std::span<const RingHop> hops, std::uint64_t slices) {
  if (slices == 0 || hops.empty()) return 0;
  double first = 0;
  for (const RingHop& hop : hops) first += Whole(hop);
  return first + static_cast<double>(slices - 1) * BusiestOf(hops);
}

}  // namespace trunkline
