#include "report/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/advice.h"
#include "report/critical_path.h"
#include "report/explain_network.h"
#include "report/jobs.h"
#include "report/names.h"
#include "report/pipeline_bubble.h"
#include "report/table.h"
#include "trunkline/collective/algorithm.h"
#include "trunkline/collective/tuner.h"
#include "trunkline/report/report.h"
#include "trunkline/scenario/traffic_result.h"
#include "trunkline/training/training.h"

namespace trunkline {
namespace {

// A share of a few bytes need not be whole.
std::string Size(double bytes) {
  const bool whole = bytes == std::floor(bytes) || bytes >= 1024;
  return whole ? Humanize(Bytes(std::llround(bytes)), kFigureDigits)
               : fmt::format("{:.{}g} B", bytes, kFigureDigits);
}
std::string Size(Bytes bytes) { return Humanize(bytes, kFigureDigits); }
std::string Duration(Time time) { return Humanize(time, kFigureDigits); }

// What a rank holds when the primitive is over.
const char* Meaning(Primitive primitive) {
  switch (primitive) {
    case Primitive::kAllReduce:
      return "every rank holds the whole sum";
    case Primitive::kReduceScatter:
      return "each rank holds its share of the sum";
    case Primitive::kAllGather:
      return "every rank holds all shares, one after another";
    case Primitive::kAllToAll:
    case Primitive::kAllToAllV:
      return "each rank holds one block from every rank";
    case Primitive::kBroadcast:
      return "every rank holds the root's buffer";
    case Primitive::kReduce:
      return "the root holds the whole sum";
    case Primitive::kGather:
      return "the root holds all shares";
    case Primitive::kScatter:
      return "each rank holds its share of the root's buffer";
    case Primitive::kSendRecv:
      return "each rank holds its predecessor's buffer";
    case Primitive::kBarrier:
      return "every rank knows that all have arrived";
  }
  return "";
}

struct Factor {
  const char* formula;
  std::string numbers;
};

// nccl-tests' bus bandwidth factor in words: what a rank must send per byte of buffer.
Factor FactorOf(Primitive primitive, std::uint32_t n) {
  const double value = BusBandwidthFactor(primitive, n);
  switch (primitive) {
    case Primitive::kAllReduce:
      return {"2(n - 1)/n", fmt::format("2 × {}/{}", n - 1, n)};
    case Primitive::kReduceScatter:
    case Primitive::kAllGather:
    case Primitive::kAllToAll:
    case Primitive::kAllToAllV:
    case Primitive::kGather:
    case Primitive::kScatter:
      return {"(n - 1)/n", fmt::format("{}/{}", n - 1, n)};
    default:
      return {"1", fmt::format("{}", value)};
  }
}

// One kind of collective of the run: of a step, or the last of a table.
struct Usage {
  std::string name;
  const CollectiveRow& row;
  std::uint32_t group_size;
  std::uint64_t count;
  std::uint64_t timed_count;  // calls that `time` is of
  Time time;
};

std::vector<Usage> Usages(const RunResult& result) {
  std::vector<Usage> out;
  for (const StepCollective& c : result.step_collectives) {
    out.push_back({fmt::format("{} of {}", CollectiveName(c), Humanize(c.row.bytes)), c.row,
                   c.group_size, c.count, c.timed_count, c.timed});
  }
  if (!result.rows.empty()) {
    const CollectiveRow& row = result.rows.back();
    out.push_back({fmt::format("{} of {}", ToString(row.primitive), Humanize(row.bytes)), row,
                   static_cast<std::uint32_t>(result.placement.rank_count()), 1, 1, row.time});
  }
  return out;
}

// Bytes a rank of the critical rank's program sends to pipeline neighbours in one step.
Figure PipelineTraffic(const RunResult& result) {
  const TaskGraph& graph = *result.training->graph;
  const RankId rank = result.iteration ? result.iteration->critical_rank : RankId{};
  std::map<Bytes, std::uint64_t> sends;  // by size
  Bytes sum;
  for (const Task& task : graph.program(graph.program_of(rank)).tasks) {
    if (task.kind != TaskKind::kSend) continue;
    ++sends[task.bytes];
    sum += task.bytes;
  }
  std::vector<std::string> terms;
  for (const auto& [size, count] : sends) {
    terms.push_back(fmt::format("{} × {}", count, Size(size)));
  }
  return {"sent to pipeline neighbours", "sum of sends × size",
          terms.empty() ? "0 sends" : fmt::format("{}", fmt::join(terms, " + ")), Size(sum)};
}

// The ways in which a plan splits a model, and what each makes ranks exchange.
std::string Splits(const TrainingPlan& plan) {
  std::string out;
  if (plan.tp > 1) {
    out += fmt::format("; tensor parallelism ({} ways) exchanges activations inside every layer",
                       plan.tp);
  }
  if (plan.pp > 1) {
    out += fmt::format(
        "; pipeline parallelism ({} stages) hands activations to the next stage and "
        "their gradients back",
        plan.pp);
  }
  if (plan.dp > 1) {
    out += fmt::format("; data parallelism ({} replicas, ZeRO stage {}) combines gradients",
                       plan.dp, plan.zero);
  }
  return out;
}

Question Parallelism(const RunResult& result) {
  Question q{"Parallelism", "Why must GPUs communicate, and what must they send?", "", {}};
  if (result.traffic) {
    q.answer = fmt::format("{} ranks exchange {} messages; nothing computes.",
                           result.placement.rank_count(),
                           Grouped(static_cast<double>(result.traffic->statistics.flows)));
    return q;
  }
  if (result.jobs) {
    for (const JobResult& job : result.jobs->jobs) {
      q.answer += fmt::format("{}{} is {} of {} ranks", q.answer.empty() ? "" : "; ", job.name,
                              job.workload, job.ranks);
    }
    q.answer += ". Explain one alone to see what its ranks must send.";
    return q;
  }
  if (!result.training) {
    q.answer = fmt::format("{} ranks take part in one collective at a time; nothing computes.",
                           result.placement.rank_count());
    return q;
  }
  const TrainingWorkload& training = *result.training;
  const TrainingPlan& plan = training.plan;
  const std::int64_t parameters = training.model.parameters();
  q.answer =
      fmt::format("{} is spread over {} GPUs{}.", training.model.name, plan.ranks(), Splits(plan));
  q.figures = {
      {"GPUs", "tp × pp × dp × cp",
       fmt::format("{} × {} × {} × {}", plan.tp, plan.pp, plan.dp, plan.cp),
       Grouped(static_cast<double>(plan.ranks()))},
      {"micro-batches a replica", "global_batch / (micro_batch × dp)",
       fmt::format("{} / ({} × {})", plan.global_batch, plan.micro_batch, plan.dp),
       fmt::format("{}", plan.micro_batches())},
      {"tokens a step", "global_batch × sequence",
       fmt::format("{} × {}", plan.global_batch, training.tokens_per_step / plan.global_batch),
       Grouped(static_cast<double>(training.tokens_per_step))},
      {"parameters a GPU, on average", "P / (tp × pp)",
       fmt::format("{} / ({} × {})", Grouped(static_cast<double>(parameters)), plan.tp, plan.pp),
       Grouped(static_cast<double>(parameters) / static_cast<double>(plan.tp * plan.pp))},
      {"model FLOPs a token", "step FLOPs / tokens",
       fmt::format("{} / {}", Humanize(training.model_flops_per_step, kFigureDigits),
                   Grouped(static_cast<double>(training.tokens_per_step))),
       Humanize(training.model_flops_per_step * (1 / static_cast<double>(training.tokens_per_step)),
                kFigureDigits)},
  };
  if (plan.pp > 1) q.figures.push_back(PipelineTraffic(result));
  return q;
}

// Where no collective has a row of its own.
const char* NoCollective(const RunResult& result) {
  return result.jobs ? "Those of each job; explain it alone to see them." : "No collective runs.";
}

Question Primitives(const RunResult& result) {
  Question q{"Primitives", "What does each rank hold when the communication is over?", "", {}};
  std::vector<Primitive> seen;
  for (const Usage& usage : Usages(result)) {
    const Primitive primitive = usage.row.primitive;
    if (std::ranges::find(seen, primitive) == seen.end()) {
      seen.push_back(primitive);
      q.answer += fmt::format("{}{}: {}", q.answer.empty() ? "After " : "; after ",
                              ToString(primitive), Meaning(primitive));
    }
    const Factor factor = FactorOf(primitive, usage.group_size);
    q.figures.push_back(
        {fmt::format("{}: sent by a rank", usage.name),
         fmt::format("calls × size × {}", factor.formula),
         fmt::format("{} × {} × {}", usage.count, Size(usage.row.bytes), factor.numbers),
         Size(static_cast<double>(usage.count) * static_cast<double>(usage.row.bytes.count()) *
              BusBandwidthFactor(primitive, usage.group_size))});
  }
  q.answer += q.answer.empty() ? NoCollective(result) : ".";
  return q;
}

// Why this algorithm and protocol: its estimated cost, and that of the runner-up and of the best
// other algorithm.
void AddCosts(const Usage& usage, Question& q) {
  const std::vector<TunerCandidate>& candidates = usage.row.candidates;
  if (candidates.empty()) return;
  const auto add = [&](const TunerCandidate& c, const char* role) {
    q.figures.push_back(
        {fmt::format("{}: estimate for {} {}, {} channel{}, {}", usage.name, c.algorithm,
                     ToString(c.protocol), c.channels, c.channels == 1 ? "" : "s", role),
         "set-up + latency of the steps + bytes",
         fmt::format("{} + {} + {}", Duration(c.base), Duration(c.latency), Duration(c.transfer)),
         Duration(c.cost())});
  };
  const TunerCandidate& chosen = candidates.front();
  add(chosen, "chosen");
  const auto runner_up = candidates.begin() + 1;
  const auto other = std::ranges::find_if(
      candidates, [&](const TunerCandidate& c) { return c.algorithm != chosen.algorithm; });
  if (other != runner_up && runner_up->chosen_by_default) add(*runner_up, "the runner-up");
  if (other == candidates.end()) return;
  add(*other, !other->chosen_by_default ? "which NCCL does not run by itself"
              : other == runner_up      ? "the runner-up"
                                        : "the best other algorithm");
}

Question Algorithms(const RunResult& result) {
  Question q{"Algorithms", "In which order do ranks exchange data?", "", {}};
  std::vector<std::string> seen;
  for (const Usage& usage : Usages(result)) {
    const std::string& name = usage.row.algorithm;
    if (std::ranges::find(seen, name) == seen.end()) {
      seen.push_back(name);
      const trunkline::Algorithm* algorithm = FindAlgorithm(name);
      if (algorithm != nullptr) {
        q.answer += fmt::format("{}{}: {} ({}).", q.answer.empty() ? "" : " ", name,
                                algorithm->summary, algorithm->cost);
      }
    }
    AddCosts(usage, q);
    if (usage.time == Time()) continue;
    const Factor factor = FactorOf(usage.row.primitive, usage.group_size);
    const double sent = static_cast<double>(usage.timed_count) *
                        static_cast<double>(usage.row.bytes.count()) *
                        BusBandwidthFactor(usage.row.primitive, usage.group_size);
    q.figures.push_back({fmt::format("{}: bus bandwidth", usage.name),
                         fmt::format("calls × size × {} / time", factor.formula),
                         fmt::format("{} × {} × {} / {}", usage.timed_count, Size(usage.row.bytes),
                                     factor.numbers, Duration(usage.time)),
                         Bandwidth(sent / usage.time.seconds())});
    if (usage.row.bound == Time()) continue;
    const Time bound = usage.row.bound * static_cast<std::int64_t>(usage.timed_count);
    q.figures.push_back({fmt::format("{}: against its lower bound", usage.name),
                         "time / (calls × bound)",
                         fmt::format("{} / ({} × {})", Duration(usage.time), usage.timed_count,
                                     Duration(usage.row.bound)),
                         fmt::format("{:.4f}", Ratio(usage.time, bound))});
  }
  if (q.answer.empty()) q.answer = NoCollective(result);
  return q;
}

void AddBubbleFigures(const PipelineBubble& bubble, const TrainingPlan& plan, Question& q) {
  const std::string name = "bubble of equal stages and free transfers";
  const std::int64_t m = plan.micro_batches();
  if (bubble.last_group == 0) {
    q.figures.push_back({name, "(pp - 1) / (vp × m + pp - 1)",
                         fmt::format("{0} / ({1} × {2} + {0})", bubble.fill, plan.vp, m),
                         Percent(bubble.share())});
    return;
  }
  q.figures.push_back({"e, what the incomplete last group adds",
                       "waits of the schedule, pass by pass, / (forward + backward)",
                       fmt::format("of {} of {} micro-batches", bubble.last_group, plan.pp),
                       fmt::format("{:.{}g}", bubble.group_wait, kFigureDigits)});
  q.figures.push_back({name, "(pp - 1 + e) / (vp × m + pp - 1 + e)",
                       fmt::format("({0} + {3:.{4}g}) / ({1} × {2} + {0} + {3:.{4}g})", bubble.fill,
                                   plan.vp, m, bubble.group_wait, kFigureDigits),
                       Percent(bubble.share())});
}

void AddIterationFigures(const RunResult& result, Question& q) {
  const IterationResult& iteration = *result.iteration;
  const TrainingWorkload& training = *result.training;
  const Timeline& timeline = result.timeline;
  if (timeline.critical < timeline.ranks.size()) {
    const Time communication = timeline.ranks[timeline.critical].communication;
    if (communication > Time()) {
      q.figures.push_back(
          {"communication hidden behind compute", "1 - exposed / communication in flight",
           fmt::format("1 - {} / {}", Duration(iteration.exposed_comm), Duration(communication)),
           Percent(1 - Ratio(iteration.exposed_comm, communication))});
    }
  }
  const TrainingPlan& plan = training.plan;
  if (plan.pp > 1) {
    AddBubbleFigures(PipelineBubbleOf(training, plan.micro_batches()), plan, q);
    q.figures.push_back(
        {"bubble of this run", "bubble / step",
         fmt::format("{} / {}", Duration(iteration.bubble), Duration(iteration.time)),
         Percent(Ratio(iteration.bubble, iteration.time))});
  }
  q.figures.push_back(
      {"MFU", "model FLOPs / (step × GPUs × peak)",
       fmt::format("{} / ({} × {} × {})", Humanize(training.model_flops_per_step, kFigureDigits),
                   Duration(iteration.time), plan.ranks(),
                   Humanize(training.peak_per_gpu, kFigureDigits)),
       Percent(iteration.mfu)});
}

Question System(const RunResult& result) {
  Question q{"System-level optimisation",
             "What shortens the communication that is left, and its tail?",
             "",
             {}};
  if (result.iteration && result.training && result.time > Time()) AddIterationFigures(result, q);
  if (result.jobs) {
    for (Figure& figure : JobsFigures(*result.jobs)) q.figures.push_back(std::move(figure));
  }
  if (result.bound > Time()) {
    q.figures.push_back({"time against the lower bound", "time / bound",
                         fmt::format("{} / {}", Duration(result.time), Duration(result.bound)),
                         fmt::format("{:.4f}", Ratio(result.time, result.bound))});
  }
  if (result.packets) {
    const std::vector<Figure> path = CriticalPathFigures(result, *result.packets);
    q.figures.insert(q.figures.end(), path.begin(), path.end());
    for (const std::string& finding : CriticalPathFindings(result, *result.packets)) {
      q.answer += (q.answer.empty() ? "" : " ") + finding;
    }
  }
  for (const std::string& advice : AdviceOf(result)) {
    q.answer += (q.answer.empty() ? "" : " ") + advice;
  }
  if (q.answer.empty()) q.answer = "No change follows from this run's numbers alone.";
  return q;
}

}  // namespace

std::vector<Question> Explain(const RunResult& result) {
  return {Parallelism(result),     Primitives(result),   Algorithms(result),
          ExplainDataPath(result), ExplainStack(result), ExplainTopology(result),
          System(result)};
}

std::string RenderExplain(const RunResult& result) {
  std::string out;
  int number = 0;
  for (const Question& question : Explain(result)) {
    if (number > 0) out += '\n';
    out += fmt::format("{}. {}: {}\n", ++number, question.layer, question.question);
    out += Wrap(Printable(question.answer), "   ", 100);
    for (const Figure& figure : question.figures) {
      out += Printable(fmt::format("     {} = {}", figure.name, figure.formula)) + '\n';
      out += Printable(fmt::format("       = {} = {}", figure.numbers, figure.value)) + '\n';
    }
  }
  return out;
}

}  // namespace trunkline
