#include "workload/traffic/arrivals.h"

#include <cmath>
#include <limits>

#include "trunkline/base/random.h"

namespace trunkline {

std::uint64_t DrawEntity(std::size_t job, std::uint32_t rank, DrawUse use) {
  return HashCombine(HashCombine(job, rank), static_cast<std::uint64_t>(use));
}

ArrivalProcess::ArrivalProcess(const Parameters& parameters, std::uint64_t seed, std::uint64_t gaps,
                               std::uint64_t periods)
    : seed_(seed),
      gaps_(gaps),
      periods_(periods),
      mean_gap_(1e12 / parameters.rate),
      mean_on_(static_cast<double>(parameters.mean_on.ps())),
      mean_off_(static_cast<double>(parameters.mean_off.ps())),
      on_left_(std::numeric_limits<double>::infinity()) {
  if (mean_on_ == 0) return;
  const double on_share = mean_on_ / (mean_on_ + mean_off_);
  mean_gap_ *= on_share;
  // What is left of an exponential period is as long as a whole one.
  if (ToUnit(Draw(seed_, periods_, next_period_++)) >= on_share) {
    now_ = mean_off_ * Exponential(periods_, next_period_);
  }
  on_left_ = mean_on_ * Exponential(periods_, next_period_);
}

double ArrivalProcess::Exponential(std::uint64_t entity, std::uint64_t& index) const {
  return -std::log1p(-ToUnit(Draw(seed_, entity, index++)));
}

Time ArrivalProcess::Next(Time end) {
  const auto limit = static_cast<double>(end.ps());
  double gap = mean_gap_ * Exponential(gaps_, next_gap_);
  while (gap > on_left_ && now_ < limit) {
    gap -= on_left_;
    now_ += on_left_ + mean_off_ * Exponential(periods_, next_period_);
    on_left_ = mean_on_ * Exponential(periods_, next_period_);
  }
  on_left_ -= gap;
  now_ += gap;
  return now_ < limit ? Time::Picoseconds(static_cast<std::int64_t>(now_)) : Time::Max();
}

}  // namespace trunkline
