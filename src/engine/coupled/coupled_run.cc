#include "engine/coupled/coupled_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/packet/deadlock.h"
#include "engine/packet/held_up.h"
#include "engine/packet/network_report.h"

namespace trunkline {
namespace {

// The ranks of one of several parts.
Folding FoldingOf(const Folding& whole, const std::vector<std::uint32_t>& part_of,
                  std::uint32_t part) {
  Folding folding = whole;
  folding.ranks.clear();
  folding.ranks_represented.clear();
  std::ranges::fill(folding.simulated_rank, UINT32_MAX);
  for (const RankId rank : whole.ranks) {
    if (part_of[Index(rank)] != part) continue;
    folding.simulated_rank[Index(rank)] = static_cast<std::uint32_t>(folding.ranks.size());
    folding.ranks.push_back(rank);
    folding.ranks_represented.push_back(1);
  }
  return folding;
}

}  // namespace

CoupledRun::CoupledRun(const EngineInput& input, const EngineOptions& options,
                       const FlowProblem& problem, const PacketInput& packets,
                       std::vector<CableChange> faults, Division& division)
    : input_(input),
      options_(options),
      lines_(packets, std::move(faults), std::move(division.line_of), std::move(division.lines)),
      shards_(lines_.plant(), input.router.fabric(),
              division.separable ? std::max(1U, packets.threads) : 1),
      next_look_(lines_.plant().switches_model.loss_control == LossControl::kLossy
                     ? Time::Max()
                     : kBetweenDeadlockLooks) {
  std::vector<std::uint32_t> part_of(input.graph.ranks());
  for (std::uint32_t rank = 0; rank < part_of.size(); ++rank) {
    part_of[rank] = shards_.shard_of(input.placement.endpoint(RankId(rank)));
  }
  std::vector<PacketApplication*> applications;
  std::vector<ShardRunner*> runners;
  for (std::uint32_t i = 0; i < shards_.count(); ++i) {
    parts_.push_back(std::make_unique<CoupledShard>(
        input, options, problem, FoldingOf(division.folding, part_of, i), lines_));
    applications.push_back(&parts_.back()->carrier());
    runners.push_back(parts_.back().get());
  }
  tasks_.emplace(parts_, part_of);
  shards_.Start(applications, std::move(runners));
  if (packets.sampling) {
    static const TrafficWorkload kNoFlows;
    sampler_.emplace(lines_.plant(), kNoFlows, *packets.sampling, packets.samples);
  }
}

Result<RunStatus> CoupledRun::Run() {
  if (auto done = lines_.SetUp(); !done) return std::unexpected(done.error());
  for (std::uint32_t i = 0; i < shards_.count(); ++i) parts_[i]->Begin(shards_.shard(i));
  RunShards();
  return Status();
}

// With a stop for every look.
void CoupledRun::RunShards() {
  const auto stop = [this] { return Stop(); };
  const auto is_over = [this] { return parts_.front()->runner().IsOver(); };
  for (Time next; !is_over() && (next = shards_.next_time()) < Time::Horizon();) {
    const Time at = NextLook(next);
    shards_.Run(at, stop);
    if (Stop()) return;
    if (sampler_ && sampler_->IsDue(at) && shards_.next_time() != Time::Max()) sampler_->Take(at);
    if (at == next_look_ && FindDeadlock()) return;
  }
}

Time CoupledRun::NextLook(Time next) {
  Time at = Time::Horizon();
  if (next_look_ != Time::Max()) {
    next_look_ = kBetweenDeadlockLooks * (next.ps() / kBetweenDeadlockLooks.ps() + 1);
    at = std::min(at, next_look_);
  }
  return sampler_ ? std::min(at, sampler_->Next(next)) : at;
}

// From the thread of the first shard, while others may go on.
bool CoupledRun::Stop() {
  if (options_.progress != nullptr) {
    std::uint64_t ended = 0;
    std::uint64_t events = 0;
    std::uint64_t awaited = 0;
    for (const auto& part : parts_) {
      ended += part->ended();
      events += part->events();
      awaited += part->runner().awaited();
    }
    options_.progress->Update(
        static_cast<double>(ended) / static_cast<double>(std::max<std::uint64_t>(1, awaited)),
        fmt::format("at {}{}", Humanize(shards_.shard(0).now()), rate_.Text(events)));
  }
  interrupted_ = options_.stop != nullptr && options_.stop->stop_requested();
  return interrupted_ ||
         std::ranges::any_of(parts_, [](const auto& part) { return part->carrier().is_void(); });
}

bool CoupledRun::FindDeadlock() {
  const Time at = std::min(next_look_, shards_.last_event() + Time::Picoseconds(1));
  const auto cycle = shards_.FindDeadlock(at);
  if (cycle.empty()) return false;
  stuck_.push_back(DescribeDeadlock(input_.router.fabric(), lines_.plant(), cycle));
  return deadlocked_ = true;
}

std::optional<PacketCarrier::Failure> CoupledRun::FirstOverrun() const {
  std::optional<PacketCarrier::Failure> first;
  for (const auto& part : parts_) {
    const auto& overrun = part->carrier().overrun();
    if (overrun && (!first || *overrun < *first)) first = overrun;
  }
  return first;
}

Result<RunStatus> CoupledRun::Status() {
  if (const auto overrun = FirstOverrun()) {
    const PacketLines::Line& ends = lines_.line(lines_.line_of_pair(overrun->queue_pair));
    return Error(
        "TL1817",
        fmt::format("rank {} sends rank {} more packets than packet numbers can tell apart",
                    Index(ends.source_rank), Index(ends.destination_rank)),
        "a larger MTU, more queue pairs, smaller messages, or the flow engine");
  }
  if (interrupted_) return RunStatus::kInterrupted;
  if (deadlocked_) return RunStatus::kDeadlocked;
  RunStatus status = RunStatus::kFinished;
  for (const auto& part : parts_) {
    while (part->runner().Step(Time::Max())) continue;  // what is beyond the horizon shows
    const auto of_part = part->runner().Status();
    if (!of_part) return of_part;
    if (*of_part != RunStatus::kFinished) status = *of_part;
  }
  if (!parts_.front()->runner().IsOver() && shards_.next_time() != Time::Max()) {
    return Error("TL1602", "simulated time passes 100 days",
                 "look for a rate or a size that is off by orders of magnitude");
  }
  if (status == RunStatus::kUnfinished && FindDeadlock()) return RunStatus::kDeadlocked;
  return status;
}

std::string CoupledRun::Describe(const PacketCarrier::Failure& failure) const {
  const PacketLines::Line& line = lines_.line(lines_.line_of_pair(failure.queue_pair));
  return fmt::format(
      "messages from rank {} to rank {}: the queue pair failed at {}, after {} timeouts "
      "in a row{}",
      Index(line.source_rank), Index(line.destination_rank), Humanize(failure.time),
      lines_.plant().transport.retry_limit + 1,
      WhatHoldsUp(input_.router.fabric(), lines_.plant(), failure.queue_pair));
}

CriticalMessage CoupledRun::Describe(const MessageLog::Entry& entry) const {
  CriticalMessage message{.source = entry.source,
                          .destination = entry.destination,
                          .begin = entry.begin,
                          .taken = entry.delivered - entry.begin,
                          .alone = {},
                          .queue = {}};
  const PacketLines::Line& line = lines_.line(entry.line);
  const Plant& plant = lines_.plant();
  std::vector<std::uint32_t> links;
  if (const auto path =
          input_.router.FindPath(line.source, line.destination, lines_.FlowOf(entry.line, 0))) {
    for (const LinkId link : *path) links.push_back(static_cast<std::uint32_t>(Index(link)));
    message.alone = LoneTime(plant, links, Bytes(entry.bytes));
  }
  double longest = -1;
  for (const std::uint32_t link : LinksOf(plant, entry.line * lines_.queue_pairs())) {
    const std::uint32_t bytes = plant.max_queue_bytes[link];
    const double drain = bytes / plant.details[link].wire.rate().bytes_per_second();
    if (drain <= longest) continue;
    longest = drain;
    message.queue = LinkId(link);
    message.max_queue_bytes = bytes;
  }
  return message;
}

std::vector<CriticalMessage> CoupledRun::Critical() const {
  std::vector<MessageLog::Entry> entries;
  for (const auto& part : parts_) {
    const auto& of_part = part->carrier().log();
    entries.insert(entries.end(), of_part.begin(), of_part.end());
  }
  std::vector<CriticalMessage> critical;
  for (const auto& entry : CriticalChain(std::move(entries), input_.graph.ranks())) {
    critical.push_back(Describe(entry));
  }
  return critical;
}

PacketReport CoupledRun::Report(RunStatus status, Time end) {
  // What happens until then beside messages: acknowledgements, mostly.
  shards_.LeaveRunners();
  shards_.Run(end, [] { return false; });
  PacketReport report;
  report.status = status;
  report.end = end;
  std::vector<PacketCarrier::Failure> failed;
  for (const auto& part : parts_) {
    const auto& of_part = part->carrier().failed();
    failed.insert(failed.end(), of_part.begin(), of_part.end());
  }
  std::ranges::sort(failed);
  for (const PacketCarrier::Failure& failure : failed) report.stuck.push_back(Describe(failure));
  std::ranges::copy(stuck_, std::back_inserter(report.stuck));
  if (sampler_) report.samples = sampler_->Finish(shards_.end());
  ReportNetwork(lines_.plant(), shards_, end, report);
  report.critical = Critical();
  return report;
}

}  // namespace trunkline
