#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "trunkline/base/random.h"
#include "workload/traffic/arrivals.h"
#include "workload/traffic/check_spec.h"
#include "workload/traffic/pattern.h"

namespace trunkline {
namespace {

// 40 bytes a message here, and as much again in an engine's record of it.

constexpr std::array<std::pair<Arrivals, const char*>, 3> kArrivals = {{
    {Arrivals::kAtOnce, "at_once"},
    {Arrivals::kPoisson, "poisson"},
    {Arrivals::kOnOff, "on_off"},
}};

class TrafficMaker {
 public:
  TrafficMaker(const TrafficSpec& spec, std::uint32_t ranks, Rate host_rate, std::uint64_t seed)
      : spec_(spec), ranks_(ranks), host_rate_(host_rate), seed_(seed) {}

  Result<TrafficWorkload> Make();

 private:
  // One rank that posts messages of a job in time.
  struct Sender {
    ArrivalProcess arrivals;
    std::uint32_t job = 0;
    std::uint32_t rank = 0;  // from the job's first
    std::uint64_t posted = 0;
  };
  // Something is due: a sender's next message, or a job's messages that come at once.
  struct Due {
    Time time;
    std::uint32_t job = 0;
    std::uint32_t sender = 0;  // index into senders_
    bool operator>(const Due& other) const {
      return std::tie(time, job, sender) > std::tie(other.time, other.job, other.sender);
    }
  };

  [[nodiscard]] Time end() const { return spec_.warm_up + spec_.window + spec_.drain; }
  [[nodiscard]] double PostRate(const TrafficJob& job) const {
    return job.load * host_rate_.bytes_per_second() / job.sizes.mean();
  }
  Result<void> MakeDestinations();
  Result<void> CheckLoad();
  Result<void> CheckAmount() const;
  void Schedule(std::uint32_t job);
  void PostAtOnce(std::uint32_t job);
  void PostNext(const Due& due);
  void ScheduleNext(std::uint32_t sender);
  [[nodiscard]] TrafficFlow FlowOf(std::uint32_t job, std::uint32_t rank, std::uint64_t index,
                                   Time start) const;

  const TrafficSpec& spec_;
  std::uint32_t ranks_;
  Rate host_rate_;
  std::uint64_t seed_;
  std::vector<std::unique_ptr<Destinations>> destinations_;  // by job
  std::vector<Sender> senders_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  TrafficWorkload traffic_;
};

Result<void> TrafficMaker::MakeDestinations() {
  Diagnostics problems;
  for (std::uint32_t j = 0; j < spec_.jobs.size(); ++j) {
    const TrafficJob& job = spec_.jobs[j];
    const std::uint64_t seed = HashCombine(seed_, DrawEntity(j, 0, DrawUse::kDestination));
    auto made = (*FindPattern(job.pattern))->make({job, RanksOf(job, ranks_), seed});
    if (!made) {
      problems.insert(problems.end(), made.error().begin(), made.error().end());
      continue;
    }
    if (IsTimed(job) && (*made)->parallel() > 0) {
      problems.push_back(Error("TL1753", "parallel with arrivals in time, which nothing reads",
                               "remove it, or choose at_once arrivals")
                             .error()
                             .front());
    }
    destinations_.push_back(*std::move(made));
  }
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return {};
}

// Jobs may share ranks: the sum counts.
Result<void> TrafficMaker::CheckLoad() {
  constexpr double kRounding = 1e-9;
  std::vector<double> loads(ranks_, 0);
  for (std::uint32_t j = 0; j < spec_.jobs.size(); ++j) {
    const TrafficJob& job = spec_.jobs[j];
    if (!IsTimed(job)) continue;
    for (std::uint32_t i = 0; i < RanksOf(job, ranks_); ++i) {
      if (destinations_[j]->per_round(i) > 0) loads[job.first_rank + i] += job.load;
    }
  }
  const auto most = std::ranges::max_element(loads);
  traffic_.offered_load = *most;
  if (*most <= 1 + kRounding) return {};
  return Error(
      "TL1752",
      fmt::format("the jobs' loads add up to {:.4g} at rank {}", *most, most - loads.begin()),
      "a rank cannot offer more than its link's rate: their sum is at most 1");
}

Result<void> TrafficMaker::CheckAmount() const {
  double flows = 0;
  for (std::uint32_t j = 0; j < spec_.jobs.size(); ++j) {
    const TrafficJob& job = spec_.jobs[j];
    double per_round = 0;
    double senders = 0;
    for (std::uint32_t i = 0; i < RanksOf(job, ranks_); ++i) {
      per_round += destinations_[j]->per_round(i);
      if (destinations_[j]->per_round(i) > 0) ++senders;
    }
    if (!IsTimed(job)) {
      flows += per_round * job.rounds;
      continue;
    }
    const double seconds = (end() - job.start).seconds();
    flows += senders * PostRate(job) * seconds;
    if (job.arrivals == Arrivals::kOnOff) {
      // Drawing a period costs as much as a message.
      flows += senders * seconds / (job.mean_on + job.mean_off).seconds();
    }
  }
  const auto most = static_cast<double>(spec_.most_flows);
  if (flows <= most) return {};
  return Error("TL1754", fmt::format("about {:.3g} messages", flows),
               fmt::format("at most {:.0f}: fewer rounds, a shorter window, a lower load or larger "
                           "messages",
                           most));
}

TrafficFlow TrafficMaker::FlowOf(std::uint32_t job_index, std::uint32_t rank, std::uint64_t index,
                                 Time start) const {
  const TrafficJob& job = spec_.jobs[job_index];
  const std::uint64_t size = Draw(seed_, DrawEntity(job_index, rank, DrawUse::kSize), index);
  TrafficFlow flow;
  flow.source = RankId(job.first_rank + rank);
  flow.destination = RankId(job.first_rank + destinations_[job_index]->Of(rank, index));
  flow.bytes = job.sizes.Quantile(ToUnit(size));
  flow.start = start;
  flow.traffic_class = job.traffic_class;
  flow.raw = job.raw;
  flow.read = job.read;
  flow.job = static_cast<std::uint16_t>(job_index);
  return flow;
}

// Round by round and rank by rank; of a rank that may have only so many messages on their way, the
// next starts when one has arrived.
void TrafficMaker::PostAtOnce(std::uint32_t job_index) {
  const TrafficJob& job = spec_.jobs[job_index];
  const Destinations& destinations = *destinations_[job_index];
  const std::uint32_t parallel = destinations.parallel();
  const std::uint32_t ranks = RanksOf(job, ranks_);
  const auto first_trigger = static_cast<std::uint32_t>(traffic_.triggers.size());
  if (parallel > 0) {
    traffic_.triggers.resize(first_trigger + ranks,
                             {.kind = TrafficTrigger::Kind::kMultiShot, .count = 1, .flows = {}});
  }
  for (std::uint64_t round = 0; round < job.rounds; ++round) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const std::uint32_t count = destinations.per_round(rank);
      for (std::uint64_t i = round * count; i < (round + 1) * count; ++i) {
        TrafficFlow flow = FlowOf(job_index, rank, i, job.start);
        if (parallel > 0) {
          flow.when_sent = first_trigger + rank;
          if (i >= parallel) {
            flow.trigger = first_trigger + rank;
            flow.start = Time();
            traffic_.triggers[flow.trigger].flows.push_back(
                static_cast<std::uint32_t>(traffic_.flows.size()));
          }
        }
        traffic_.flows.push_back(flow);
      }
    }
  }
}

void TrafficMaker::ScheduleNext(std::uint32_t index) {
  Sender& sender = senders_[index];
  const Time start = spec_.jobs[sender.job].start;
  const Time next = sender.arrivals.Next(end() - start);
  if (next != Time::Max()) due_.push({start + next, sender.job, index});
}

void TrafficMaker::PostNext(const Due& due) {
  Sender& sender = senders_[due.sender];
  traffic_.flows.push_back(FlowOf(due.job, sender.rank, sender.posted++, due.time));
  ScheduleNext(due.sender);
}

void TrafficMaker::Schedule(std::uint32_t job_index) {
  const TrafficJob& job = spec_.jobs[job_index];
  if (!IsTimed(job)) {
    due_.push({job.start, job_index, 0});
    return;
  }
  const ArrivalProcess::Parameters parameters{PostRate(job), job.mean_on, job.mean_off};
  for (std::uint32_t rank = 0; rank < RanksOf(job, ranks_); ++rank) {
    if (destinations_[job_index]->per_round(rank) == 0) continue;
    senders_.push_back(
        {.arrivals = ArrivalProcess(parameters, seed_, DrawEntity(job_index, rank, DrawUse::kGap),
                                    DrawEntity(job_index, rank, DrawUse::kPeriod)),
         .job = job_index,
         .rank = rank});
    ScheduleNext(static_cast<std::uint32_t>(senders_.size() - 1));
  }
}

Result<TrafficWorkload> TrafficMaker::Make() {
  if (Diagnostics problems = CheckTrafficSpec(spec_, ranks_, host_rate_); !problems.empty()) {
    return std::unexpected(std::move(problems));
  }
  if (auto made = MakeDestinations(); !made) return std::unexpected(made.error());
  if (auto checked = CheckLoad(); !checked) return std::unexpected(checked.error());
  if (auto checked = CheckAmount(); !checked) return std::unexpected(checked.error());
  traffic_.ranks = ranks_;
  for (const TrafficJob& job : spec_.jobs) traffic_.jobs.push_back(job.name);
  if (spec_.window > Time()) {
    traffic_.measure_from = spec_.warm_up;
    traffic_.measure_until = spec_.warm_up + spec_.window;
  }
  for (std::uint32_t j = 0; j < spec_.jobs.size(); ++j) Schedule(j);
  while (!due_.empty()) {
    const Due due = due_.top();
    due_.pop();
    if (IsTimed(spec_.jobs[due.job])) {
      PostNext(due);
    } else {
      PostAtOnce(due.job);
    }
  }
  if (traffic_.flows.empty() && !spec_.may_be_empty) {
    return Error("TL1753", "no message is posted before the end of the run",
                 "a longer window, a higher load or smaller messages");
  }
  return std::move(traffic_);
}

}  // namespace

const char* ToString(Arrivals arrivals) {
  return kArrivals[static_cast<std::size_t>(arrivals)].second;
}

std::optional<Arrivals> ParseArrivals(std::string_view text) {
  for (const auto& [arrivals, name] : kArrivals) {
    if (text == name) return arrivals;
  }
  return std::nullopt;
}

Result<TrafficWorkload> MakeTraffic(const TrafficSpec& spec, std::uint32_t ranks, Rate host_rate,
                                    std::uint64_t seed) {
  return TrafficMaker(spec, ranks, host_rate, seed).Make();
}

OfferedLoad MeasureOfferedLoad(const TrafficWorkload& traffic, Rate host_rate) {
  if (traffic.measure_until == Time::Max()) return {};
  std::vector<double> sent(traffic.ranks, 0);
  std::vector<double> received(traffic.ranks, 0);
  const double capacity =
      host_rate.bytes_per_second() * (traffic.measure_until - traffic.measure_from).seconds();
  for (const TrafficFlow& flow : traffic.flows) {
    if (flow.trigger != TrafficFlow::kNoTrigger || flow.start < traffic.measure_from ||
        flow.start >= traffic.measure_until) {
      continue;
    }
    const double load = static_cast<double>(flow.bytes.count()) / capacity;
    sent[Index(flow.source)] += load;
    received[Index(flow.destination)] += load;
  }
  OfferedLoad offered;
  double senders = 0;
  for (std::uint32_t rank = 0; rank < traffic.ranks; ++rank) {
    offered.mean_sent += sent[rank];
    if (sent[rank] > 0) ++senders;
    offered.most_sent = std::max(offered.most_sent, sent[rank]);
    offered.most_received = std::max(offered.most_received, received[rank]);
  }
  if (senders > 0) offered.mean_sent /= senders;
  return offered;
}

}  // namespace trunkline
