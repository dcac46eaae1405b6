#include "scenario/summary.h"

#include <algorithm>

#include "trunkline/base/check.h"
#include "trunkline/base/int128.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/training/training.h"

namespace trunkline {
namespace {

constexpr std::size_t kLinksKept = 1'000;

void SummariseLinks(bool all_links, RunResult& result) {
  const Fabric& fabric = *result.fabric;
  std::vector<std::pair<double, LinkUse>> uses;  // with the utilisation
  uses.reserve(result.timeline.links.size());
  for (const LinkUse& use : result.timeline.links) {
    uses.emplace_back(Utilisation(use, fabric.link(use.link).rate, result.time), use);
  }
  result.links_total = uses.size();
  const std::size_t kept = all_links ? uses.size() : std::min(kLinksKept, uses.size());
  std::partial_sort(uses.begin(), uses.begin() + static_cast<std::ptrdiff_t>(kept), uses.end(),
                    [](const auto& a, const auto& b) {
                      if (a.first != b.first) return a.first > b.first;
                      return a.second.link < b.second.link;
                    });
  uses.resize(kept);
  result.links.clear();
  result.links.reserve(kept);
  for (const auto& [utilisation, use] : uses) {
    const Link& link = fabric.link(use.link);
    LinkRow row;
    row.link = use.link;
    row.from = fabric.name(link.from);
    row.to = fabric.name(link.to);
    row.utilisation = utilisation;
    row.bytes = use.wire_bytes;
    result.links.push_back(std::move(row));
  }
}

// What a communicator role is for: the stream that its collectives run on ("tp", "dp").
std::string RoleName(const TaskGraph& graph, std::uint32_t collective, std::uint32_t role) {
  for (std::uint32_t p = 0; p < graph.program_count(); ++p) {
    for (const Task& task : graph.program(p).tasks) {
      if (task.kind == TaskKind::kCollective && task.collective == collective &&
          task.role == role) {
        return graph.streams()[task.stream];
      }
    }
  }
  return "";
}

// T <= Tc + Tm, where a rank waits for others in collectives only, whose time counts that.
std::optional<Time> SerialTime(const RunResult& result, const IterationResult& iteration) {
  if (result.training->plan.pp > 1) return std::nullopt;
  Time serial = iteration.compute + iteration.other;
  for (const StepCollective& c : result.step_collectives) serial += c.time;
  TL_CHECK(iteration.time <= serial, "a step takes longer than all its parts", iteration.time.ps());
  return serial;
}

// Over all ranks, each as often as it represents others: summed exactly, so that folding changes no
// digit.
double MeanSeconds(std::span<const RankSummary> ranks, Time RankSummary::* part) {
  Int128 sum = 0;
  std::int64_t count = 0;
  for (const RankSummary& rank : ranks) {
    sum += static_cast<Int128>((rank.*part).ps()) * rank.ranks_represented;
    count += rank.ranks_represented;
  }
  return static_cast<double>(sum) / (1e12 * static_cast<double>(count));
}

IterationResult Iteration(const Timeline& timeline, const TrainingWorkload& training) {
  IterationResult iteration;
  const RankSummary& critical = timeline.ranks[timeline.critical];
  iteration.time = timeline.end;
  iteration.compute = critical.compute;
  iteration.exposed_comm = critical.exposed_communication;
  iteration.bubble = critical.bubble;
  iteration.other = critical.other;
  iteration.critical_rank = critical.rank;
  TL_CHECK(iteration.compute + iteration.exposed_comm + iteration.bubble + iteration.other ==
               iteration.time,
           "the parts of the critical rank do not add up to the step", iteration.time.ps());

  const auto mean = [&](Time RankSummary::* part) { return MeanSeconds(timeline.ranks, part); };
  iteration.mean_compute_s = mean(&RankSummary::compute);
  iteration.mean_exposed_comm_s = mean(&RankSummary::exposed_communication);
  iteration.mean_bubble_s = mean(&RankSummary::bubble);
  iteration.mean_other_s = mean(&RankSummary::other);

  const double seconds = iteration.time.seconds();
  const auto gpus = static_cast<double>(training.plan.ranks());
  iteration.tokens_per_s = static_cast<double>(training.tokens_per_step) / seconds;
  iteration.model_flops_per_gpu_s =
      FlopRate(training.model_flops_per_step.count() / seconds / gpus);
  iteration.mfu = iteration.model_flops_per_gpu_s.per_second() / training.peak_per_gpu.per_second();
  return iteration;
}

}  // namespace

void SummariseTimeline(Timeline timeline, bool all_links, RunResult& result) {
  result.status = timeline.status;
  result.time = timeline.end;
  result.events += timeline.events;
  result.timeline = std::move(timeline);
  SummariseLinks(all_links, result);
}

void AddPacketFigures(const PacketReport& report, RunResult& result) {
  for (LinkRow& row : result.links) {
    const auto use = std::ranges::lower_bound(report.links, row.link, {}, &PacketLinkUse::link);
    if (use == report.links.end() || use->link != row.link) continue;  // inside a node
    row.packets = PacketLinkFigures{.packets = use->packets,
                                    .max_queue_bytes = use->max_queue_bytes,
                                    .marks = use->marks,
                                    .pauses = use->pauses};
  }
}

namespace {

// Whether nccl-tests counts elements per rank and chunk rather than of the whole buffer.
bool CountsChunks(Primitive primitive) {
  return primitive == Primitive::kAllGather || primitive == Primitive::kReduceScatter ||
         primitive == Primitive::kAllToAll || primitive == Primitive::kGather ||
         primitive == Primitive::kScatter;
}

}  // namespace

double Utilisation(const LinkUse& use, Rate rate, Time time) {
  const Time counted = std::max(time, use.until);
  if (counted <= Time()) return 0;
  return static_cast<double>(use.wire_bytes) / (rate.bytes_per_second() * counted.seconds());
}

CollectiveRow RowOf(const Chosen& chosen, std::uint32_t group_size, Time time, Time bound) {
  const CollectiveChoice& choice = chosen.choice;
  CollectiveRow row;
  row.candidates = chosen.candidates;
  row.primitive = choice.spec.primitive;
  row.bytes = choice.spec.bytes;
  row.algorithm = choice.algorithm;
  row.protocol = choice.protocol;
  row.channels = choice.spec.channels;
  row.time = time;
  row.bound = bound;
  row.root = choice.spec.root;
  row.count = choice.spec.bytes.count() / choice.spec.element_bytes;
  if (CountsChunks(row.primitive)) row.count /= group_size;
  if (time > Time()) {
    row.algbw_Bps = static_cast<double>(row.bytes.count()) / time.seconds();
    row.busbw_Bps = row.algbw_Bps * BusBandwidthFactor(row.primitive, group_size);
  }
  return row;
}

void SummariseTraining(const TaskGraph& graph, std::span<const Chosen> chosen, RunResult& result) {
  const TrainingWorkload& training = *result.training;
  for (const CollectiveSummary& summary : result.timeline.collectives) {
    StepCollective step;
    const auto count = static_cast<std::int64_t>(summary.timed_count);
    const Time each = Time::Picoseconds(count == 0 ? 0 : summary.timed.ps() / count);
    step.row = RowOf(chosen[summary.collective], summary.group_size, each, summary.bound);
    step.role = RoleName(graph, summary.collective, summary.role);
    step.group_size = summary.group_size;
    step.count = summary.count;
    step.time = summary.total;
    step.waiting = summary.waiting;
    step.exposed = summary.exposed;
    step.timed_count = summary.timed_count;
    step.timed = summary.timed;
    result.step_collectives.push_back(std::move(step));
  }
  for (const StageMemory& stage : training.memory) {
    result.memory_per_gpu = std::max(result.memory_per_gpu, stage.total());
  }
  result.fits_memory = result.memory_per_gpu <= result.memory_capacity;
  if (result.status == RunStatus::kFinished) {
    result.iteration = Iteration(result.timeline, training);
    result.iteration->serial = SerialTime(result, *result.iteration);
  }
}

}  // namespace trunkline
