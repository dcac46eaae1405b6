#include "workload/traffic/check_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "workload/traffic/pattern.h"

namespace trunkline {
namespace {

constexpr std::uint32_t kMostJobs = 1024;
constexpr Time kLongestTime = Time::Picoseconds(Time::Horizon().ps() / 4);

class SpecCheck {
 public:
  SpecCheck(const TrafficSpec& spec, std::uint32_t ranks, Rate host_rate)
      : spec_(spec), ranks_(ranks), host_rate_(host_rate) {}

  Diagnostics Run();

 private:
  void Add(std::string code, std::string message, std::string hint) {
    auto error = Error(std::move(code), std::move(message), std::move(hint));
    problems_.push_back(std::move(error.error().front()));
  }
  void CheckTime(const char* what, Time time) {
    if (time >= Time() && time <= kLongestTime) return;
    Add("TL1752", fmt::format("{} of {} ps", what, time.ps()), "between 0 and 25 days");
  }
  void CheckWindow();
  void CheckRanks(const TrafficJob& job);
  void CheckArrivals(const TrafficJob& job);
  void CheckValues(const TrafficJob& job);
  void CheckValue(const TrafficKey& key, const TrafficValue& value);

  const TrafficSpec& spec_;
  std::uint32_t ranks_;
  Rate host_rate_;
  Diagnostics problems_;
};

void SpecCheck::CheckWindow() {
  CheckTime("a warm-up", spec_.warm_up);
  CheckTime("a measurement window", spec_.window);
  CheckTime("a drain", spec_.drain);
  bool timed = false;
  for (const TrafficJob& job : spec_.jobs) timed = timed || IsTimed(job);
  if (timed && spec_.window <= Time()) {
    Add("TL1753", "arrivals in time without a measurement window",
        "say for how long messages are measured, such as 10 ms");
  } else if (!timed && (spec_.warm_up > Time() || spec_.window > Time() || spec_.drain > Time())) {
    Add("TL1753", "a warm-up, window or drain without arrivals in time",
        "remove it, or choose poisson or on_off arrivals");
  }
}

void SpecCheck::CheckRanks(const TrafficJob& job) {
  if (job.first_rank >= ranks_ || job.ranks > ranks_ - job.first_rank) {
    Add("TL1752",
        fmt::format("ranks {} to {} of {}", job.first_rank,
                    std::uint64_t{job.first_rank} + std::max(job.ranks, 1U) - 1, ranks_),
        fmt::format("ranks are 0 to {}", ranks_ - 1));
  } else if (RanksOf(job, ranks_) < 2) {
    Add("TL1752", "traffic among fewer than 2 ranks", "give the job 2 ranks or more");
  }
}

void SpecCheck::CheckArrivals(const TrafficJob& job) {
  CheckTime("a start", job.start);
  if (job.sizes.mean() < 0.5) {
    Add("TL1752", "messages of 0 bytes", "give a size of 1 byte or more");
  }
  if (!IsTimed(job)) {
    if (job.load != 0) {
      Add("TL1753", "a load with arrivals at once, which nothing reads",
          "remove it, or choose poisson or on_off arrivals");
    }
    if (job.rounds == 0) Add("TL1752", "0 rounds", "1 or more");
  } else {
    if (!(job.load > 0 && job.load <= 1)) {
      Add("TL1752", fmt::format("a load of {}", job.load),
          "a share of the hosts' rate above 0 and up to 1, counted on payload");
    }
    if (job.rounds != 1) {
      Add("TL1753", "rounds with arrivals in time, which nothing reads",
          "remove them: the window says how long messages are posted");
    }
    const Time end = spec_.warm_up + spec_.window + spec_.drain;
    if (job.start >= end && spec_.window > Time()) {
      Add("TL1752",
          fmt::format("a start at {} of messages that end at {}", Humanize(job.start),
                      Humanize(end)),
          "start before the end of warm-up, window and drain");
    }
  }
  const bool on_off = job.arrivals == Arrivals::kOnOff;
  CheckTime("a mean on-time", job.mean_on);
  CheckTime("a mean off-time", job.mean_off);
  if (on_off && (job.mean_on <= Time() || job.mean_off <= Time())) {
    Add("TL1753", "on_off arrivals without their mean on-time and off-time", "give both");
  } else if (!on_off && (job.mean_on != Time() || job.mean_off != Time())) {
    Add("TL1753",
        fmt::format("on- and off-times with {} arrivals, which nothing reads",
                    ToString(job.arrivals)),
        "remove them, or choose on_off arrivals");
  }
}

void SpecCheck::CheckValue(const TrafficKey& key, const TrafficValue& value) {
  const bool whole = key.type == TrafficKey::Type::kShare || value.value == std::floor(value.value);
  if (value.value >= key.min && value.value <= key.max && whole) return;
  Add("TL1752", fmt::format("{} {}", key.name, value.value),
      fmt::format("a {} from {} to {}",
                  key.type == TrafficKey::Type::kShare ? "number" : "whole number", key.min,
                  key.max));
  problems_.back().where = value.where;
  problems_.back().excerpt = value.excerpt;
}

void SpecCheck::CheckValues(const TrafficJob& job) {
  const auto pattern = FindPattern(job.pattern);
  if (!pattern) {
    problems_.push_back(pattern.error().front());
    return;
  }
  const std::vector<TrafficKey>& keys = (*pattern)->info.keys;
  std::vector<std::string> names;
  for (const TrafficKey& key : keys) {
    names.push_back(key.name);
    const auto value = job.values.find(key.name);
    if (value != job.values.end()) {
      CheckValue(key, value->second);
    } else if (key.fallback.empty()) {
      Add("TL1753", fmt::format("{} without {}", job.pattern, key.name),
          fmt::format("give it: {}", key.summary));
    }
  }
  for (const auto& [name, value] : job.values) {
    if (std::ranges::find(names, name) != names.end()) continue;
    const std::string close = ClosestMatch(name, names);
    Add("TL1751", fmt::format("{} reads no '{}'", job.pattern, name),
        !close.empty()  ? fmt::format("did you mean '{}'?", close)
        : names.empty() ? "it has no keys of its own"
                        : fmt::format("it reads {}", fmt::join(names, ", ")));
    problems_.back().where = value.where;
    problems_.back().excerpt = value.excerpt;
  }
}

Diagnostics SpecCheck::Run() {
  if (spec_.jobs.empty()) Add("TL1753", "traffic without a job", "describe one");
  if (spec_.jobs.size() > kMostJobs) {
    Add("TL1752", fmt::format("{} jobs", spec_.jobs.size()), fmt::format("at most {}", kMostJobs));
    return std::move(problems_);
  }
  if (ranks_ < 2 || ranks_ > kMostRanks) {
    Add("TL1752", fmt::format("traffic among {} ranks", ranks_),
        fmt::format("between 2 and {}", kMostRanks));
    return std::move(problems_);
  }
  if (host_rate_ <= Rate()) {
    Add("TL1752", "hosts of rate 0", "give the hosts' links a rate");
  }
  CheckWindow();
  if (!problems_.empty()) return std::move(problems_);
  for (const TrafficJob& job : spec_.jobs) {
    CheckRanks(job);
    CheckArrivals(job);
    CheckValues(job);
  }
  return std::move(problems_);
}

}  // namespace

Diagnostics CheckTrafficSpec(const TrafficSpec& spec, std::uint32_t ranks, Rate host_rate) {
  return SpecCheck(spec, ranks, host_rate).Run();
}

}  // namespace trunkline
