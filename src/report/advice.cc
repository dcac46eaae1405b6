#include "report/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "report/link_classes.h"
#include "report/names.h"
#include "report/table.h"
#include "trunkline/training/training.h"

namespace trunkline {

double PipelineBubbleShare(const TrainingPlan& plan, std::int64_t micro_batches) {
  const auto idle = static_cast<double>(plan.pp - 1);
  return idle / (static_cast<double>(plan.vp * micro_batches) + idle);
}

namespace {

struct Suggestion {
  Time at_most;  // no more than this can be gained
  std::string text;
  auto operator<=>(const Suggestion&) const = default;
};

// Smaller gains are not worth a line.
constexpr double kWorthwhileShare = 0.02;
// Busier than this, a link leaves a schedule little to gain.
constexpr double kFullLink = 0.9;
// A collective this many times above its bound hardly moves bytes.
constexpr double kMostlyLatency = 10;

void SuggestBubble(const RunResult& result, std::vector<Suggestion>& out) {
  const TrainingPlan& plan = result.training->plan;
  if (plan.pp == 1) return;
  const std::int64_t m = plan.micro_batches();
  const double now = PipelineBubbleShare(plan, m);
  const double then = PipelineBubbleShare(plan, 2 * m);
  // Waits for a collective's last member are bubbles too, but not the pipeline's.
  Time idle = result.iteration->bubble;
  for (const StepCollective& c : result.step_collectives) idle -= std::min(idle, c.waiting);
  const double measured = Ratio(idle, result.iteration->time);
  if (measured <= then) return;  // the closed form promises nothing
  std::string more = fmt::format("global_batch {}", 2 * plan.global_batch);
  if (plan.micro_batch % 2 == 0) more += fmt::format(" or micro_batch {}", plan.micro_batch / 2);
  if (plan.layout.empty() && result.training->model.layers % (2 * plan.vp * plan.pp) == 0 &&
      m % plan.pp == 0) {
    more += fmt::format(", or an interleaved schedule with vp {}", 2 * plan.vp);
  }
  out.push_back(
      {idle,
       fmt::format("The pipeline is idle for {} of the step. With equal stages and free transfers "
                   "it is (pp−1)/(vp·m+pp−1) = {}/({}+{}) = {}; twice as many micro-batches or "
                   "chunks ({}) make that {}.",
                   Percent(measured), plan.pp - 1, plan.vp * m, plan.pp - 1, Percent(now), more,
                   Percent(then))});
}

void SuggestLayout(const RunResult& result, std::vector<Suggestion>& out) {
  const std::vector<Time>& stages = result.training->stage_compute;
  if (stages.size() < 2) return;
  const auto slowest = std::ranges::max_element(stages);
  Time sum;
  for (const Time stage : stages) sum += stage;
  const Time mean = Time::Picoseconds(sum.ps() / static_cast<std::int64_t>(stages.size()));
  out.push_back(
      {*slowest - mean,
       fmt::format(
           "Stage {} computes for {}, the mean stage for {}: workload.training.parallel.layout can "
           "move layers away from it and gain at most the difference, {}.",
           slowest - stages.begin(), Humanize(*slowest), Humanize(mean),
           Humanize(*slowest - mean))});
}

// The switch of training.overlap that would hide this collective, when the plan has it off.
std::string OverlapSwitch(const TrainingPlan& plan, const StepCollective& collective) {
  const bool reduces = collective.row.primitive == Primitive::kReduceScatter ||
                       collective.row.primitive == Primitive::kAllReduce;
  if (collective.role == "tp") return plan.overlap_tp ? "" : "tp";
  if (collective.role != "dp") return "";
  if (reduces) return plan.overlap_grad_reduce ? "" : "grad_reduce";
  return plan.overlap_param_gather ? "" : "param_gather";
}

void SuggestCollective(const RunResult& result, std::vector<Suggestion>& out) {
  const auto most = std::ranges::max_element(result.step_collectives, {}, &StepCollective::exposed);
  if (most == result.step_collectives.end() || most->count == 0) return;
  const std::string name = CollectiveName(*most);
  if (const std::string key = OverlapSwitch(result.training->plan, *most); !key.empty()) {
    out.push_back(
        {most->exposed,
         fmt::format("{} runs for {} while the critical rank computes nothing, and is not "
                     "overlapped: workload.training.overlap.{} can gain at most that.",
                     name, Humanize(most->exposed), key)});
    return;
  }
  const Time bound = most->row.bound * static_cast<std::int64_t>(most->count);
  const Time time = most->transfer();
  if (bound >= time || bound == Time()) return;
  const Time gain = std::min(most->exposed, time - bound);
  const double times = Ratio(time, bound);
  const char* cause = times > kMostlyLatency ? "not bandwidth but latency"
                                             : "another algorithm, placement or routing";
  out.push_back({gain, fmt::format("{} takes {} times its lower bound ({} against {}): {}, and at "
                                   "most {} to gain.",
                                   name, Multiple(times), Humanize(time), Humanize(bound), cause,
                                   Humanize(gain))});
}

// What the critical rank waits for its peers is theirs to gain.
void SuggestArrival(const RunResult& result, std::vector<Suggestion>& out) {
  const auto most = std::ranges::max_element(result.step_collectives, {}, &StepCollective::waiting);
  if (most == result.step_collectives.end()) return;
  const Time gain = std::min(most->waiting, result.iteration->bubble);
  out.push_back(
      {gain, fmt::format("{} waits {} for its last member: ranks that come to it at the "
                         "same time can gain at most {}.",
                         CollectiveName(*most), Humanize(most->waiting), Humanize(gain))});
}

// Sharding the optimizer over dp is the one change whose saving is a closed form.
std::string MemoryAdvice(const RunResult& result) {
  const TrainingWorkload& training = *result.training;
  const auto fullest = std::ranges::max_element(training.memory, {}, &StageMemory::total);
  std::string text = fmt::format("A GPU needs {} and has {}: {} too much.",
                                 Humanize(result.memory_per_gpu), Humanize(result.memory_capacity),
                                 Humanize(result.memory_per_gpu - result.memory_capacity));
  if (fullest == training.memory.end()) return text;
  if (training.plan.zero == 0 && training.plan.dp > 1) {
    const Bytes saved(fullest->optimizer.count() / training.plan.dp * (training.plan.dp - 1));
    text += fmt::format(
        " workload.training.parallel.zero: 1 saves (dp−1)/dp of the optimizer state, {}.",
        Humanize(saved));
  }
  text += fmt::format(" Activations take {}: workload.training.recompute trades them for compute.",
                      Humanize(fullest->activations));
  return text;
}

void SuggestTrainingChanges(const RunResult& result, std::vector<Suggestion>& out) {
  SuggestBubble(result, out);
  SuggestLayout(result, out);
  SuggestCollective(result, out);
  SuggestArrival(result, out);
}

// A lone collective is held against its own bound.
void SuggestForRow(const CollectiveRow& row, std::vector<Suggestion>& out) {
  if (row.bound == Time()) return;
  out.push_back(
      {row.time - row.bound,
       fmt::format("{} of {} takes {} times its lower bound: another algorithm, "
                   "protocol, number of channels or placement can gain at most {}.",
                   ToString(row.primitive), Humanize(row.bytes),
                   Multiple(Ratio(row.time, row.bound)), Humanize(row.time - row.bound))});
}

// Of a link that is always busy only the bytes can change.
std::string FullLinkAdvice(const RunResult& result, const LinkClass& full) {
  return fmt::format(
      "{} is busy for {} of the run: as long as the same bytes take this link, no "
      "schedule gains more than the other {}. Send fewer bytes over links of this "
      "kind, or make them faster.",
      LinkName(*result.fabric, full.worst), Percent(full.worst_utilisation),
      Percent(1 - full.worst_utilisation));
}

}  // namespace

std::vector<std::string> Advice(const RunResult& result) {
  std::vector<std::string> out;
  if (result.training && !result.fits_memory) out.push_back(MemoryAdvice(result));
  const std::vector<LinkClass> links = LinkClassesOf(result);
  if (!links.empty() && links.front().worst_utilisation >= kFullLink) {
    out.push_back(FullLinkAdvice(result, links.front()));
  }

  std::vector<Suggestion> suggestions;
  if (result.training && result.iteration) SuggestTrainingChanges(result, suggestions);
  if (!result.rows.empty()) SuggestForRow(result.rows.back(), suggestions);
  std::ranges::sort(suggestions, std::greater<>());
  for (Suggestion& suggestion : suggestions) {
    if (Ratio(suggestion.at_most, result.time) >= kWorthwhileShare) {
      out.push_back(std::move(suggestion.text));
    }
  }
  return out;
}

}  // namespace trunkline
