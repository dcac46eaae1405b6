#include "scenario/run_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "scenario/jobs_summary.h"
#include "scenario/packet_cost.h"
#include "scenario/place_jobs.h"
#include "scenario/prepare.h"
#include "scenario/prepared_job.h"
#include "scenario/reader.h"
#include "scenario/summary.h"
#include "trunkline/base/random.h"
#include "trunkline/fabric/build.h"
#include "trunkline/scenario/jobs_result.h"
#include "workload/jobs_graph.h"
#include "workload/repeated_graph.h"
#include "workload/traffic/message_graph.h"

namespace trunkline {
namespace {

constexpr std::size_t kSharedKept = 1'000;
// Names the draws of background traffic among all users of one seed.
constexpr std::uint64_t kBackgroundStream = 0x6261636b67726f75;  // "backgrou"

// As long as traffic may last (MakeTraffic).
constexpr Time kLongestBackground = Time::Picoseconds(Time::Horizon().ps() / 4);

// A power of two: beyond, the background is no disturbance any more.
constexpr int kMostSlowdown = 32;

Time Twice(Time time) {
  return time < kLongestBackground - time ? time + time : kLongestBackground;
}

// All jobs as one graph, with what it is made of.
struct Programs {
  std::vector<PreparedJob> jobs;  // by name
  std::unique_ptr<const MessageGraph> background;
  std::unique_ptr<const JobsGraph> all;
};

const char* NameOf(const Workload& workload) {
  static constexpr std::array<const char*, 4> kNames = {"training", "collective", "trace",
                                                        "traffic"};
  return kNames[workload.index()];
}

// Traffic computes nothing: its programs keep time by tasks that the timeline takes for
// computation.
void CountClockAsOther(JobTimes& times) { times.other += std::exchange(times.compute, Time()); }

// Tasks name their streams and labels by small numbers, and jobs share them: whether there are more
// of either than these can name, with those of one more job.
class NameCount {
 public:
  [[nodiscard]] bool Exceeded(const TaskGraph& graph) {
    streams_.insert(graph.streams().begin(), graph.streams().end());
    for (const TaskLabel& label : graph.labels()) labels_.emplace(label.name, label.phase);
    return streams_.size() > kMostStreams || labels_.size() + kOfBackground > kMostLabels;
  }

 private:
  static constexpr std::size_t kMostStreams = UINT8_MAX + 1;
  static constexpr std::size_t kMostLabels = UINT16_MAX + 1;
  static constexpr std::size_t kOfBackground = 2;  // labels (MessageGraph)

  std::set<std::string> streams_ = {"clock", "messages"};  // the background's
  std::set<std::pair<std::string, Phase>> labels_;
};

Placement Concatenate(std::span<const PreparedJob> jobs, std::span<const DeviceId> background) {
  std::vector<DeviceId> endpoints;
  for (const PreparedJob& job : jobs) {
    for (std::uint32_t r = 0; r < job.placement.rank_count(); ++r) {
      endpoints.push_back(job.placement.endpoint(RankId{r}));
    }
  }
  endpoints.insert(endpoints.end(), background.begin(), background.end());
  return Placement(std::move(endpoints));
}

class JobsRun {
 public:
  JobsRun(const Scenario& scenario, const RunOptions& options, RunResult& result)
      : scenario_(scenario),
        options_(options),
        result_(result),
        programs_(std::make_shared<Programs>()),
        links_(scenario.jobs.size()),
        fct_(scenario.jobs.size()) {}

  Result<void> Execute() {
    if (auto done = Prepare(); !done) return done;
    if (auto done = RunAlone(); !done) return done;
    if (result_.status != RunStatus::kFinished) return {};
    if (auto done = RunTogether(); !done) return done;
    Summarise();
    return {};
  }

 private:
  [[nodiscard]] const Job& JobOf(const PreparedJob& prepared) const {
    return scenario_.jobs[prepared.index];
  }

  [[nodiscard]] bool IsTraffic(const PreparedJob& prepared) const {
    return std::holds_alternative<TrafficInput>(JobOf(prepared).workload);
  }

  static void AddRanks(std::uint32_t first, std::uint32_t last, std::vector<RankId>& ranks) {
    for (std::uint32_t rank = first; rank < last; ++rank) ranks.push_back(RankId{rank});
  }

  Result<void> Prepare() {
    auto placed = PlaceJobs(scenario_);
    if (!placed) return std::unexpected(placed.error());
    NameCount names;
    for (std::size_t i = 0; i < scenario_.jobs.size(); ++i) {
      auto job = PrepareJob(scenario_, i, std::move(placed->jobs[i]), result_);
      if (!job) return std::unexpected(job.error());
      if (names.Exceeded(job->beside())) {
        auto error =
            Error("TL1222",
                  fmt::format("with job '{}' the jobs have more than 256 streams or 65,536 "
                              "labels of tasks",
                              scenario_.jobs[i].name),
                  "fewer different `cpu` numbers in GOAL schedules, or fewer jobs");
        error.error().front().where = scenario_.jobs[i].where;
        error.error().front().excerpt = scenario_.jobs[i].excerpt;
        return error;
      }
      programs_->jobs.push_back(*std::move(job));
    }
    // One order, whatever the file's, so that the run is the same to the last digit.
    std::ranges::sort(programs_->jobs, {},
                      [this](const PreparedJob& job) { return JobOf(job).name; });
    if (scenario_.background) {
      const auto endpoints = result_.fabric->endpoints();
      background_endpoints_ = scenario_.background->all_endpoints
                                  ? std::vector(endpoints.begin(), endpoints.end())
                                  : std::move(placed->others);
      if (background_endpoints_.size() < 2) {
        return AtBackground(Error(
            "TL1223",
            fmt::format("background traffic on the {} endpoints that the jobs leave free",
                        background_endpoints_.size()),
            "leave two or more free, or write endpoints: all, which puts it beside the jobs, too"));
      }
    }
    result_.placement = Concatenate(programs_->jobs, {});
    result_.placement_kind = PlacementKind::kListed;
    result_.fragmentation = MeasureFragmentation(
        *result_.router, scenario_.cluster.fabric->unit_of_node, result_.placement);
    return {};
  }

  [[nodiscard]] std::unexpected<Diagnostics> AtBackground(
      std::unexpected<Diagnostics> error) const {
    error.error().front().where = scenario_.background->where;
    error.error().front().excerpt = scenario_.background->excerpt;
    return error;
  }

  // Runs a graph; the packets' report is kept where it is that of all jobs.
  Result<Timeline> Run(EngineKind engine, const TaskGraph& graph, const Placement& placement,
                       std::vector<RankId> record, bool together) {
    const EngineInput input{*result_.router, result_.transport, graph, placement};
    EngineOptions options = EngineOptionsFor(scenario_, options_, graph);
    options.record = std::move(record);
    options.record_critical = together;
    if (engine == EngineKind::kFlow) return RunFlow(input, options);
    PacketInput packets = PacketsFor(scenario_, options_, *result_.router);
    packets.faults = scenario_.cluster.timed_faults;
    packets.rerouting = scenario_.cluster.rerouting;
    if (!together) packets.sampling.reset();
    auto run = RunPacket(input, packets, options);
    if (!run) return std::unexpected(run.error());
    if (together) {
      packets_ = std::make_shared<PacketReport>(std::move(run->packets));
      warnings_ = std::move(run->warnings);
    }
    return std::move(run->timeline);
  }

  Result<void> RunAlone() {
    auto jobs = std::make_shared<JobsResult>();
    jobs->jobs.resize(scenario_.jobs.size());
    for (const PreparedJob& prepared : programs_->jobs) {
      const Job& job = JobOf(prepared);
      std::vector<RankId> record;
      if (IsTraffic(prepared)) AddRanks(0, prepared.alone().ranks(), record);
      auto timeline =
          Run(scenario_.engine, prepared.alone(), prepared.placement, std::move(record), false);
      if (!timeline) return std::unexpected(timeline.error());
      result_.events += timeline->events;
      if (timeline->status != RunStatus::kFinished) {
        result_.assumptions.push_back(
            fmt::format("'{}' does not end even alone: the rest was not run", job.name));
        SummariseTimeline(*std::move(timeline), options_.all_links, result_);
        return {};
      }
      const std::uint32_t ranks = prepared.alone().ranks();
      JobResult& row = jobs->jobs[prepared.index];
      row.name = job.name;
      row.workload = NameOf(job.workload);
      row.ranks = ranks;
      row.placement_kind = job.placement.kind;
      row.fragmentation = MeasureFragmentation(
          *result_.router, scenario_.cluster.fabric->unit_of_node, prepared.placement);
      row.start = job.start;
      row.repetitions = job.repetitions;
      row.alone = TimesOf(*timeline, 0, ranks, Time());
      if (IsTraffic(prepared)) {
        CountClockAsOther(row.alone);
        row.alone.fct_s = CompletionTimes(*timeline, prepared.alone(), 0);
      }
      row.bound = prepared.bound;
      row.fits_memory = prepared.fits_memory;
      result_.fits_memory = result_.fits_memory && prepared.fits_memory;
      TL_CHECK(row.alone.time >= row.bound, "a job beats its lower bound", row.bound.ps());
      longest_ = std::max(longest_, row.start + row.alone.time);
      latest_start_ = std::max(latest_start_, row.start);
      links_[prepared.index] = std::move(timeline->links);
    }
    jobs_ = std::move(jobs);
    return {};
  }

  // The messages that are posted before `until`; none where nobody posts any.
  Result<void> MakeBackground(Time until) {
    const Background& background = *scenario_.background;
    programs_->background.reset();
    starts_.clear();
    if (background.traffic.load <= 0 || background.traffic.start >= until) return {};
    TrafficInput input{.spec = {.jobs = {background.traffic},
                                .warm_up = {},
                                .window = until,
                                .drain = {},
                                .most_flows = kMostMessages,
                                .may_be_empty = true},
                       .messages = nullptr,
                       .where = background.where,
                       .excerpt = background.excerpt};
    const auto ranks = static_cast<std::uint32_t>(background_endpoints_.size());
    const auto made = MakeMessages(input, ranks, HostRate(*result_.fabric),
                                   HashCombine(scenario_.seed, kBackgroundStream));
    if (!made) return std::unexpected(made.error());
    programs_->background = std::make_unique<MessageGraph>(*made);
    for (const TrafficFlow& flow : made->flows) starts_.push_back(flow.start);
    return {};
  }

  // The ranks whose timelines people see, and those whose messages are measured.
  [[nodiscard]] std::vector<RankId> RecordedWith(std::vector<RankId> ranks) const {
    for (std::uint32_t i = 0; i < programs_->jobs.size(); ++i) {
      if (!IsTraffic(programs_->jobs[i])) continue;
      AddRanks(FirstRank(i), FirstRank(i + 1), ranks);
    }
    return ranks;
  }

  [[nodiscard]] std::uint32_t FirstRank(std::uint32_t job) const {
    return static_cast<std::uint32_t>(Index(programs_->all->first_rank(job)));
  }

  void MeasureMessages(const Timeline& timeline) {
    for (std::uint32_t i = 0; i < programs_->jobs.size(); ++i) {
      const PreparedJob& prepared = programs_->jobs[i];
      if (!IsTraffic(prepared)) continue;
      fct_[prepared.index] = CompletionTimes(timeline, prepared.beside(), FirstRank(i));
    }
  }

  // Leaves what people see: of the ranks `shown` and the critical one, nothing before their start.
  void KeepSpans(std::vector<RankId> shown, Timeline& timeline) const {
    shown.push_back(timeline.ranks[timeline.critical].rank);
    const auto labels = programs_->all->labels();
    std::erase_if(timeline.spans, [&](const TaskSpan& span) {
      return std::ranges::count(shown, span.rank) == 0 || labels[span.label].name == kIdleLabel;
    });
  }

  // All at once, with a background until then; what people see is recorded.
  Result<Timeline> RunUntil(EngineKind engine, Time until) {
    if (scenario_.background) {
      if (auto made = MakeBackground(until); !made) return std::unexpected(made.error());
    }
    std::vector<JobsGraph::Part> parts;
    for (const PreparedJob& job : programs_->jobs) parts.push_back({&job.beside()});
    const bool disturbed = programs_->background != nullptr;
    if (disturbed) parts.push_back({.graph = programs_->background.get(), .awaited = false});
    programs_->all = std::make_unique<JobsGraph>(std::move(parts));
    const Placement placement =
        Concatenate(programs_->jobs, disturbed ? background_endpoints_ : std::vector<DeviceId>());
    shown_ = EngineOptionsFor(scenario_, options_, *programs_->all).record;
    std::erase_if(shown_, [this](RankId rank) { return !programs_->all->awaited(rank); });
    return Run(engine, *programs_->all, placement, RecordedWith(shown_), true);
  }

  // How long the jobs take under the background is known only when they have run: where its
  // messages end before them, they run again under twice as long a one. Messages that come later
  // change nothing of what was before.
  Result<Timeline> RunUnderBackground(EngineKind engine, Time& until) {
    Time most = longest_ - latest_start_;
    for (int times = 1; times < kMostSlowdown; times *= 2) most = Twice(most);
    most = std::min(most, kLongestBackground - std::min(latest_start_, kLongestBackground)) +
           latest_start_;
    for (;; until = Twice(until)) {
      auto timeline = RunUntil(engine, until);
      if (!timeline || timeline->status != RunStatus::kFinished || !scenario_.background ||
          timeline->end <= until) {
        return timeline;
      }
      if (until < std::min(most, kLongestBackground)) continue;
      if (until == kLongestBackground) {
        return AtBackground(Error("TL1223",
                                  fmt::format("background traffic lasts {} at most, and the jobs "
                                              "end later",
                                              Humanize(kLongestBackground)),
                                  "an earlier start, or shorter jobs"));
      }
      return AtBackground(Error(
          "TL1223",
          fmt::format("under the background the jobs are not over at {}, {} times as long as alone",
                      Humanize(until), kMostSlowdown),
          "a lower load: the network does not carry this one, and what waits only grows; or "
          "shorter jobs"));
    }
  }

  // Tells before packets run what they will cost, by fluid flows, which take a fraction of the
  // time: these say how long the background has to be, too. Queues and congestion control share
  // links otherwise, so that packets may end where flows do not.
  void AnnounceByFlows(Time& until) {
    Time enough = until;
    const auto timeline = RunUnderBackground(EngineKind::kFlow, enough);
    if (timeline) until = enough;
    if (options_.progress == nullptr) return;
    if (!timeline) {
      if (timeline.error().front().code != "TL1223") return;  // not all that packets do flows do
      options_.progress->Note(
          fmt::format("as flows, {}: as packets they may run long, and be refused in the end",
                      timeline.error().front().message));
      return;
    }
    const double hops =
        HopsOf(timeline->links, *result_.fabric, scenario_.cluster.packet_transport);
    if (hops > kPacketHopsPerSecond) options_.progress->Note(PacketCost(hops, options_.repeat));
  }

  Result<void> RunTogether() {
    Time until = Twice(longest_);
    if (scenario_.background && scenario_.engine == EngineKind::kPacket) AnnounceByFlows(until);
    auto timeline = RunUnderBackground(scenario_.engine, until);
    if (!timeline) return std::unexpected(timeline.error());
    MeasureMessages(*timeline);
    KeepSpans(shown_, *timeline);
    SummariseTimeline(*std::move(timeline), options_.all_links, result_);
    return {};
  }

  void Summarise() {
    result_.trace = std::shared_ptr<const TaskGraph>(programs_, programs_->all.get());
    if (packets_) {
      AddPacketFigures(*packets_, result_);
      if (packets_->samples) {
        result_.samples = std::make_shared<const PacketSamples>(*std::move(packets_->samples));
        packets_->samples.reset();
      }
      result_.packets = packets_;
      result_.warnings.insert(result_.warnings.end(), warnings_.begin(), warnings_.end());
    }
    for (std::uint32_t i = 0; i < programs_->jobs.size(); ++i) {
      JobResult& row = jobs_->jobs[programs_->jobs[i].index];
      const std::uint32_t first = FirstRank(i);
      row.first_rank = RankId{first};
      if (result_.status != RunStatus::kFinished) continue;
      row.together = TimesOf(result_.timeline, first, first + row.ranks, row.start);
      if (IsTraffic(programs_->jobs[i])) CountClockAsOther(*row.together);
      row.together->fct_s = fct_[programs_->jobs[i].index];
      result_.bound = std::max(result_.bound, row.start + row.bound);
    }
    jobs_->shared = SharedLinks(*result_.fabric, links_, result_.timeline.links, result_.time,
                                programs_->background != nullptr);
    jobs_->shared_total = jobs_->shared.size();
    if (!options_.all_links && jobs_->shared.size() > kSharedKept) {
      jobs_->shared.resize(kSharedKept);
    }
    if (scenario_.background) {
      jobs_->background =
          BackgroundResult{.pattern = scenario_.background->traffic.pattern,
                           .load = scenario_.background->traffic.load,
                           .ranks = static_cast<std::uint32_t>(background_endpoints_.size()),
                           .messages = static_cast<std::uint64_t>(
                               std::ranges::lower_bound(starts_, result_.time) - starts_.begin())};
    }
    result_.jobs = jobs_;
  }

  const Scenario& scenario_;
  const RunOptions& options_;
  RunResult& result_;
  std::shared_ptr<Programs> programs_;
  std::vector<DeviceId> background_endpoints_;
  std::vector<Time> starts_;                 // of the background's messages, in order
  std::vector<RankId> shown_;                // whose timelines people see
  std::vector<std::vector<LinkUse>> links_;  // by job, of it alone
  std::vector<Percentiles> fct_;             // by job of traffic, of its messages beside others
  std::shared_ptr<JobsResult> jobs_;
  std::shared_ptr<PacketReport> packets_;
  Diagnostics warnings_;
  Time longest_;  // until all had ended if none saw another
  Time latest_start_;
};

}  // namespace

Result<void> RunJobs(const Scenario& scenario, const RunOptions& options, RunResult& result) {
  return JobsRun(scenario, options, result).Execute();
}

}  // namespace trunkline
