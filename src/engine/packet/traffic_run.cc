#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>

#include "engine/packet/check_traffic.h"
#include "engine/packet/deadlock.h"
#include "engine/packet/event_rate.h"
#include "engine/packet/fast_forward.h"
#include "engine/packet/fault_plan.h"
#include "engine/packet/held_up.h"
#include "engine/packet/lone_runs.h"
#include "engine/packet/network_report.h"
#include "engine/packet/packet_network.h"
#include "engine/packet/queue_pair_pool.h"
#include "engine/packet/sampler.h"
#include "engine/packet/shard_set.h"
#include "engine/packet/traffic_plant.h"
#include "engine/packet/triggers.h"
#include "engine/packet/waiting_flows.h"
#include "trunkline/base/check.h"
#include "trunkline/engine/packet.h"

namespace trunkline {
namespace {

class TrafficRun;

// The flows of one shard: posts those that begin there, and notes what becomes of those that
// touch it. A flow's record has fields of its sender and of its receiver, so shards never write the
// same one.
class TrafficAgent : public PacketApplication {
 public:
  TrafficAgent(TrafficRun& run, std::uint32_t shard);

  void AddFlow(std::uint32_t flow) { by_start_.push_back(flow); }
  void Begin();
  [[nodiscard]] std::size_t ended() const { return ended_.load(std::memory_order_relaxed); }
  // Of the flows that begin by themselves, the next; Time::Max(): all have been posted.
  [[nodiscard]] Time next_start() const;
  // Whether a trigger has fired for flows that begin only some time after.
  [[nodiscard]] bool delays() const { return delayed_ > 0; }
  // Flows that have been posted since the last call.
  [[nodiscard]] std::vector<std::uint32_t> TakeBegun() { return std::exchange(begun_, {}); }
  // The run's time is further ahead of the shards' clock than it was.
  void AskAgain();
  [[nodiscard]] Time last_delivery() const { return last_delivery_; }
  [[nodiscard]] std::vector<std::uint32_t>& failed() { return failed_; }
  [[nodiscard]] Diagnostics& problems() { return problems_; }

  void OnDelivered(std::uint32_t queue_pair, Time now) override;
  void OnAcknowledged(std::uint32_t queue_pair, Time now) override;
  void OnError(std::uint32_t queue_pair, Time now) override;
  void OnSent(std::uint32_t /*queue_pair*/, Time /*end*/) override {}
  void OnPost(std::uint32_t entity, Time now) override;
  void OnSignal(std::uint32_t trigger, Time time) override { Fire(trigger, time); }

 private:
  // Entities of OnPost: a flow that a trigger has delayed, or the next by start. The latter may be
  // of any zone, and comes after those of its time in a zone.
  static constexpr std::uint32_t kNextByStart = 0xfff'ffff;

  void PostDue(Time now);
  void Post(std::uint32_t flow, Time now);
  void Activate(std::uint32_t trigger, Time now);
  void Fire(std::uint32_t trigger, Time time);

  TrafficRun& run_;
  std::uint32_t shard_;
  Triggers triggers_;                    // as far as they start flows here
  std::vector<std::uint32_t> by_start_;  // flows without a trigger that begin here
  std::size_t next_by_start_ = 0;
  std::size_t delayed_ = 0;
  std::vector<std::uint32_t> begun_;
  std::atomic<std::size_t> ended_ = 0;  // acknowledged or failed
  Time last_delivery_;
  std::vector<std::uint32_t> failed_;
  Diagnostics problems_;
};

// A workload on a plant.
class TrafficRun {
 public:
  TrafficRun(const PacketInput& input, const TrafficWorkload& traffic, const Placement& placement,
             const PacketOptions& options, std::vector<CableChange> faults);

  Result<PacketReport> Run();

 private:
  friend class TrafficAgent;

  // Where a flow is posted: at its source, or where it is read.
  [[nodiscard]] DeviceId poster(const TrafficFlow& flow) const {
    return placement_.endpoint(flow.read ? flow.destination : flow.source);
  }
  [[nodiscard]] std::uint32_t Threads() const;
  // Alone, queue pairs are set up when they are needed; side by side, on cables whose rates may
  // change, and where sockets take turns in being given cores, before the run.
  [[nodiscard]] bool sets_up_before() const {
    return shards_.count() > 1 || plant_.faults != nullptr || plant_.transport.sockets;
  }
  [[nodiscard]] bool ReusesQueuePairs() const;
  // Sets up the queue pair of a flow.
  Result<std::uint32_t> SetUp(std::uint32_t flow);
  // Between the shards' clock and the run's own time, which is ahead by what has been skipped.
  [[nodiscard]] Time skipped() const { return fast_forward_ ? fast_forward_->skipped() : Time(); }
  [[nodiscard]] Time TimeAt(Time clock) const { return clock + skipped(); }
  [[nodiscard]] Time ClockAt(Time time) const { return time - skipped(); }
  bool Stop();
  [[nodiscard]] Time NextLook();
  void Look(Time at);
  [[nodiscard]] Time Undisturbed(Time at) const;
  void RunUntil(Time time);
  void RunShards();
  void AddUnfinished();

  const PacketInput& input_;
  const TrafficWorkload& traffic_;
  const Placement& placement_;
  const PacketOptions& options_;
  NetworkPaths paths_;
  Plant plant_;
  Time least_delay_;  // Triggers::LeastDelay
  ShardSet shards_;
  std::vector<std::unique_ptr<TrafficAgent>> agents_;  // by shard
  std::optional<Sampler> sampler_;
  std::optional<FastForward> fast_forward_;
  std::optional<LoneRuns> lone_runs_;
  QueuePairPool queue_pairs_;
  std::vector<std::uint32_t> posting_links_;  // by rank
  std::vector<std::uint16_t> shard_of_flow_;  // of its poster; empty: there is one
  std::vector<std::uint64_t> reach_;  // by trigger: Triggers::Reach; empty: there is one shard
  bool stopped_ = false;
  EventRate rate_;
  PacketReport report_;
};

// --- Flows of a shard ---------------------------------------------------------------------------

TrafficAgent::TrafficAgent(TrafficRun& run, std::uint32_t shard)
    : run_(run), shard_(shard), triggers_(run.traffic_.triggers) {}

void TrafficAgent::Begin() {
  const auto& flows = run_.traffic_.flows;
  std::ranges::stable_sort(by_start_, {}, [&](std::uint32_t flow) { return flows[flow].start; });
  PostDue(Time());
}

void TrafficAgent::OnPost(std::uint32_t entity, Time now) {
  if (entity == kNextByStart) {
    PostDue(now);
  } else {
    --delayed_;
    Post(entity, now);
  }
}

void TrafficAgent::PostDue(Time now) {
  while (next_by_start_ < by_start_.size()) {
    const std::uint32_t flow = by_start_[next_by_start_];
    const Time start = run_.ClockAt(run_.traffic_.flows[flow].start);
    if (start > now) {
      run_.shards_.shard(shard_).PostAt(kNextByStart, start);
      return;
    }
    ++next_by_start_;
    Post(flow, now);
  }
}

Time TrafficAgent::next_start() const {
  return next_by_start_ < by_start_.size() ? run_.traffic_.flows[by_start_[next_by_start_]].start
                                           : Time::Max();
}

void TrafficAgent::AskAgain() {
  if (next_start() == Time::Max()) return;
  run_.shards_.shard(shard_).PostAt(kNextByStart, run_.ClockAt(next_start()));
}

void TrafficAgent::Post(std::uint32_t flow, Time now) {
  std::uint32_t queue_pair = flow;
  if (!run_.sets_up_before()) {
    const auto made = run_.SetUp(flow);
    if (!made) {
      problems_.insert(problems_.end(), made.error().begin(), made.error().end());
      return;
    }
    queue_pair = *made;
  }
  run_.report_.flows[flow].posted = run_.TimeAt(now);
  if (run_.fast_forward_) begun_.push_back(flow);
  const TrafficFlow& what = run_.traffic_.flows[flow];
  auto& shard = run_.shards_.shard(shard_);
  if (what.read) return shard.PostRead(queue_pair, what.bytes.count());
  shard.Post(queue_pair, what.bytes.count());
}

void TrafficAgent::OnDelivered(std::uint32_t queue_pair, Time now) {
  const std::uint32_t flow = run_.queue_pairs_.flow_of(queue_pair);
  const Time at = run_.TimeAt(now);
  run_.report_.flows[flow].delivered = at;
  last_delivery_ = std::max(last_delivery_, at);  // zones take turns
  const std::uint32_t trigger = run_.traffic_.flows[flow].when_received;
  if (trigger != TrafficFlow::kNoTrigger) Activate(trigger, now);
}

void TrafficAgent::OnAcknowledged(std::uint32_t queue_pair, Time now) {
  const std::uint32_t flow = run_.queue_pairs_.flow_of(queue_pair);
  run_.queue_pairs_.Give(queue_pair);
  run_.report_.flows[flow].acknowledged = run_.TimeAt(now);
  ended_.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t trigger = run_.traffic_.flows[flow].when_sent;
  if (trigger != TrafficFlow::kNoTrigger) Activate(trigger, now);
}

void TrafficAgent::OnError(std::uint32_t queue_pair, Time now) {
  const std::uint32_t flow = run_.queue_pairs_.flow_of(queue_pair);
  run_.report_.flows[flow].failed = run_.TimeAt(now);
  failed_.push_back(flow);
  ended_.fetch_add(1, std::memory_order_relaxed);
}

// Here at once, elsewhere when the window is over.
void TrafficAgent::Activate(std::uint32_t trigger, Time now) {
  const std::uint64_t here = std::uint64_t{1} << shard_;
  const std::uint64_t reach = run_.reach_.empty() ? here : run_.reach_[trigger];
  if ((reach & here) != 0) Fire(trigger, now);
  for (std::uint64_t others = reach & ~here; others != 0; others &= others - 1) {
    run_.shards_.shard(shard_).Signal(static_cast<std::uint32_t>(std::countr_zero(others)), trigger,
                                      now + run_.least_delay_);
  }
}

void TrafficAgent::Fire(std::uint32_t trigger, Time time) {
  triggers_.Activate(trigger, time, [&](std::uint32_t flow, Time at) {
    if (!run_.shard_of_flow_.empty() && run_.shard_of_flow_[flow] != shard_) return;
    const TrafficFlow& what = run_.traffic_.flows[flow];
    ++delayed_;
    const RankId poster = what.read ? what.destination : what.source;
    run_.shards_.shard(shard_).PostAt(flow, at + what.start, run_.posting_links_[Index(poster)]);
  });
}

// --- The run ------------------------------------------------------------------------------------

TrafficRun::TrafficRun(const PacketInput& input, const TrafficWorkload& traffic,
                       const Placement& placement, const PacketOptions& options,
                       std::vector<CableChange> faults)
    : input_(input),
      traffic_(traffic),
      placement_(placement),
      options_(options),
      paths_(input.router.fabric()),
      plant_(BuildTrafficPlant(input, paths_, traffic, placement, std::move(faults),
                               !options.fast_forward)),
      least_delay_(Triggers::LeastDelay(traffic)),
      shards_(plant_, input.router.fabric(), Threads(),
              WorkOf(input.router, traffic, placement, Threads()), least_delay_),
      queue_pairs_(ReusesQueuePairs()),
      posting_links_(FindPostingLinks(input.router.fabric(), placement)) {
  const auto flows = static_cast<std::uint32_t>(traffic.flows.size());
  report_.flows.resize(flows);
  if (!queue_pairs_.reuses()) ReserveQueuePairs(plant_, flows);
  std::vector<PacketApplication*> applications;
  for (std::uint32_t i = 0; i < shards_.count(); ++i) {
    agents_.push_back(std::make_unique<TrafficAgent>(*this, i));
    applications.push_back(agents_.back().get());
  }
  for (std::uint32_t i = 0; i < flows; ++i) {
    const std::uint32_t shard = shards_.shard_of(poster(traffic.flows[i]));
    if (traffic.flows[i].trigger == TrafficFlow::kNoTrigger) agents_[shard]->AddFlow(i);
    if (shards_.count() > 1) shard_of_flow_.push_back(static_cast<std::uint16_t>(shard));
  }
  if (shards_.count() > 1) reach_ = Triggers::Reach(traffic, shard_of_flow_);
  shards_.Start(applications);
  if (options.fast_forward) fast_forward_.emplace(plant_, shards_, *options.fast_forward);
  // What is not run to its end here is not run to its end alone.
  if (plant_.transport.sockets && !fast_forward_) {
    lone_runs_.emplace(input, paths_, options.until, options.stop);
  }
  if (options.sampling) sampler_.emplace(plant_, traffic, *options.sampling, options.samples);
}

// Shards hear of each other's triggers when a window is over; Triggers::Reach has room for 64.
std::uint32_t TrafficRun::Threads() const {
  const auto threads = std::max<std::uint32_t>(1, options_.threads);
  if (traffic_.triggers.empty()) return threads;
  return Triggers::AreInAnyOrder(traffic_) ? std::min<std::uint32_t>(threads, 64) : 1;
}

// Samples and what is skipped are asked for by flow, also after these are over. Requests of reads
// have timers.
bool TrafficRun::ReusesQueuePairs() const {
  return !sets_up_before() && QueuePairPool::CanReuse(plant_) && !options_.sampling &&
         !options_.fast_forward && std::ranges::none_of(traffic_.flows, &TrafficFlow::read);
}

Result<std::uint32_t> TrafficRun::SetUp(std::uint32_t index) {
  const TrafficFlow& flow = traffic_.flows[index];
  const std::uint32_t queue_pair = queue_pairs_.Take(index);
  if (queue_pairs_.reuses()) ReserveQueuePairs(plant_, queue_pairs_.size());
  const auto links =
      SetUpQueuePair(plant_, input_.router, paths_, queue_pair, placement_.endpoint(flow.source),
                     placement_.endpoint(flow.destination), index);
  if (!links) return std::unexpected(links.error());
  SetUpSender(plant_, queue_pair, flow, index);
  FlowRecord& record = report_.flows[index];
  record.alone = LoneTime(plant_, *links, flow.bytes);
  if (flow.read) record.alone += RequestTime(plant_, *links);
  if (!lone_runs_) return queue_pair;
  record.least = record.alone;
  record.alone = lone_runs_
                     ->TimeOf(flow, index, placement_.endpoint(flow.source),
                              placement_.endpoint(flow.destination), *links)
                     .value_or(record.least);
  return queue_pair;
}

bool TrafficRun::Stop() {
  std::size_t ended = 0;
  bool failed = false;
  for (const auto& agent : agents_) {
    ended += agent->ended();
    failed = failed || !agent->problems().empty();
  }
  if (options_.progress != nullptr) {
    options_.progress->Update(
        static_cast<double>(ended) /
            static_cast<double>(std::max<std::size_t>(1, traffic_.flows.size())),
        fmt::format("at {}{}", Humanize(TimeAt(shards_.last_event())),
                    rate_.Text(shards_.events())));
  }
  if (options_.stop != nullptr && options_.stop->stop_requested()) {
    report_.status = RunStatus::kInterrupted;
  }
  stopped_ = failed || report_.status == RunStatus::kInterrupted;
  return stopped_;
}

// For a sample, or for what may be skipped.
Time TrafficRun::NextLook() {
  if (sampler_) return sampler_->Next(shards_.next_time());
  if (!fast_forward_) return Time::Max();
  for (const auto& agent : agents_) {
    for (const std::uint32_t flow : agent->TakeBegun()) fast_forward_->Begin(flow);
  }
  return fast_forward_->Next(shards_.next_time());
}

void TrafficRun::Look(Time at) {
  if (sampler_ && sampler_->IsDue(at)) sampler_->Take(at);
  if (!fast_forward_ || !fast_forward_->IsDue(at)) return;
  const Time before = skipped();
  fast_forward_->Look(at, Undisturbed(at));
  if (skipped() == before) return;
  for (const auto& agent : agents_) agent->AskAgain();
}

// How long nothing will begin, or befall a cable.
Time TrafficRun::Undisturbed(Time at) const {
  Time until = options_.until;
  for (const auto& agent : agents_) {
    if (agent->delays()) return {};
    until = std::min(until, agent->next_start());
  }
  const bool faulty = plant_.faults != nullptr && at <= plant_.faults->last();
  return faulty ? Time() : ClockAt(until) - at;
}

// Runs the shards, with a stop for every look.
void TrafficRun::RunUntil(Time clock) {
  const auto stop = [this] { return Stop(); };
  for (Time at; at < std::min(clock, ClockAt(options_.until)) && !stopped_;) {
    at = std::min({clock, ClockAt(options_.until), NextLook()});
    shards_.Run(at, stop);
    if (!stopped_ && shards_.next_time() != Time::Max()) Look(at);
  }
}

// Runs the shards, with a look for a deadlock every millisecond where switches hold packets back.
void TrafficRun::RunShards() {
  if (plant_.switches_model.loss_control == LossControl::kLossy) {
    RunUntil(options_.until);
    return;
  }
  for (Time next = shards_.next_time(); next < ClockAt(options_.until);
       next = shards_.next_time()) {
    const Time look = kBetweenDeadlockLooks * (next.ps() / kBetweenDeadlockLooks.ps() + 1);
    RunUntil(look);
    if (stopped_) return;
    const Time at = std::min(look, ClockAt(options_.until));
    const auto cycle = shards_.FindDeadlock(at);
    if (cycle.empty()) continue;
    report_.status = RunStatus::kDeadlocked;
    report_.end = TimeAt(look);
    report_.stuck.push_back(DescribeDeadlock(input_.router.fabric(), plant_, cycle));
    return;
  }
}

// Flows that did not end, in words.
void TrafficRun::AddUnfinished() {
  std::vector<std::uint32_t> failed;
  for (const auto& agent : agents_) {
    failed.insert(failed.end(), agent->failed().begin(), agent->failed().end());
    report_.end = std::max(report_.end, agent->last_delivery());
  }
  std::ranges::sort(failed);
  const auto twice = std::ranges::unique(failed);  // reads: at either end
  failed.erase(twice.begin(), twice.end());
  for (const std::uint32_t index : failed) {
    const TrafficFlow& flow = traffic_.flows[index];
    report_.stuck.push_back(
        fmt::format("flow {}, {} from rank {} to rank {}: the queue pair failed at {}, after {} "
                    "timeouts in a row{}",
                    index, Humanize(flow.bytes), Index(flow.source), Index(flow.destination),
                    Humanize(report_.flows[index].failed), input_.transport.retry_limit + 1,
                    WhatHoldsUp(input_.router.fabric(), plant_, queue_pairs_.Find(index))));
  }
  const bool whole = failed.empty() && std::ranges::none_of(report_.flows, IsUndelivered);
  if (!whole && report_.status == RunStatus::kFinished) {
    report_.status = RunStatus::kUnfinished;
    report_.end = std::max(report_.end, TimeAt(shards_.end()));
  }
  // What links have carried by then is told by the time until then.
  if (report_.status == RunStatus::kInterrupted) {
    report_.end = std::max(report_.end, TimeAt(shards_.last_event()));
  }
  if (report_.status != RunStatus::kUnfinished) return;
  AddWaiting(input_.router.fabric(), plant_, queue_pairs_, traffic_, report_);
}

Result<PacketReport> TrafficRun::Run() {
  for (std::uint32_t i = 0; sets_up_before() && i < traffic_.flows.size(); ++i) {
    if (auto done = SetUp(i); !done) return std::unexpected(done.error());
  }
  for (const auto& agent : agents_) agent->Begin();
  RunShards();
  for (const auto& agent : agents_) {
    if (!agent->problems().empty()) return std::unexpected(agent->problems());
  }
  AddUnfinished();
  if (report_.status == RunStatus::kFinished && shards_.next_time() == Time::Max()) {
    CheckIsEmpty(plant_);
  }
  if (sampler_) report_.samples = sampler_->Finish(shards_.end());
  ReportNetwork(plant_, shards_, ClockAt(report_.end), report_);
  if (fast_forward_) fast_forward_->AddTo(report_);
  return std::move(report_);
}

}  // namespace

Result<PacketReport> RunPacketTraffic(const PacketInput& input, const TrafficWorkload& traffic,
                                      const Placement& placement, const PacketOptions& options) {
  auto faults = ResolveFaults(input.router.fabric(), input.faults);
  if (!faults) return std::unexpected(faults.error());
  Diagnostics problems =
      CheckPacketSettings(input.router.fabric(), input.router.options().policy, input.switches,
                          input.transport, !faults->empty(), input.router.options().parameters);
  std::erase_if(problems, [](const Diagnostic& d) { return d.severity == Severity::kWarning; });
  if (problems.empty()) problems = CheckPacketTraffic(input, traffic, placement);
  if (!problems.empty()) return std::unexpected(std::move(problems));
  TrafficRun run(input, traffic, placement, options, *std::move(faults));
  return run.Run();
}

}  // namespace trunkline
