#include "report/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "report/link_classes.h"
#include "report/names.h"
#include "report/pipeline_bubble.h"
#include "report/table.h"
#include "trunkline/training/training.h"

namespace trunkline {

namespace {

struct Suggestion {
  Time worth;  // what it addresses, or is found to gain: the largest comes first
  std::string text;
  auto operator<=>(const Suggestion&) const = default;
};

// Less is not worth a line.
constexpr double kWorthwhileShare = 0.02;
// Busier than this, a link leaves a schedule little to gain.
constexpr double kFullLink = 0.9;
// A collective this many times above its bound hardly moves bytes.
constexpr double kMostlyLatency = 10;
// Changes of a plan that are told of, fastest first.
constexpr std::size_t kChangesTold = 4;

// A step of so many micro-batches, if the scenario's reader accepts one.
std::optional<std::int64_t> BatchOf(const TrainingWorkload& training, std::int64_t micro_batches) {
  TrainingPlan plan = training.plan;
  plan.global_batch = plan.micro_batch * plan.dp * micro_batches;
  const bool refused =
      micro_batches == 0 ||
      std::ranges::any_of(CheckPlan(training.model, plan, plan.ranks()),
                          [](const Diagnostic& d) { return d.severity == Severity::kError; });
  return refused ? std::nullopt : std::optional(plan.global_batch);
}

struct BubbleChange {
  std::string text;
  double share = 1;  // the least that it comes to
};

// Twice the micro-batches; where the last group is incomplete, the next multiples of pp.
BubbleChange LessBubble(const TrainingWorkload& training, const PipelineBubble& now) {
  const std::int64_t m = training.plan.micro_batches();
  BubbleChange change;
  const auto add = [&](std::int64_t micro_batches, std::string_view text) {
    const std::optional<std::int64_t> batch = BatchOf(training, micro_batches);
    if (!batch) return;
    const double share = PipelineBubbleOf(training, micro_batches).share();
    change.share = std::min(change.share, share);
    change.text += fmt::format(fmt::runtime(text), fmt::arg("batch", *batch),
                               fmt::arg("share", Percent(share)));
  };
  if (now.last_group == 0) {
    add(2 * m, "; twice as many micro-batches (global_batch {batch}) make that {share}");
  } else {
    const std::int64_t below = m - now.last_group;
    add(below + training.plan.pp,
        "; global_batch {batch}, a multiple of pp micro-batches, makes that {share}");
    add(below, ", {batch} makes it {share}");
  }
  return change;
}

std::string BubbleForm(const PipelineBubble& bubble, std::int64_t stages) {
  const std::string share = Percent(bubble.share());
  if (bubble.last_group == 0) {
    return fmt::format("(pp−1)/(vp·m+pp−1) = {0}/({1}+{0}) = {2}", bubble.fill, bubble.passes,
                       share);
  }
  return fmt::format(
      "(pp−1+e)/(vp·m+pp−1+e) = ({0}+{3:.1f})/({1}+{0}+{3:.1f}) = {2}, where the last group of "
      "micro-batches has {4} of {5} and adds e",
      bubble.fill, bubble.passes, share, bubble.group_wait, bubble.last_group, stages);
}

// Those that gain, by the engine that tried them, fastest first: of the pipeline, or all others.
std::vector<const TriedChange*> Worthwhile(const RunResult& result, bool of_pipeline) {
  std::vector<const TriedChange*> changes;
  if (result.tried.empty()) return changes;
  const TriedChange& as_is = result.tried.front();
  for (const TriedChange& tried : result.tried) {
    if (&tried == &as_is || tried.of_pipeline != of_pipeline) continue;
    // One that makes the plan fit need not be faster.
    const bool gains = Ratio(as_is.time - tried.batch_time(), as_is.time) >= kWorthwhileShare;
    if (gains || !result.fits_memory) changes.push_back(&tried);
  }
  std::ranges::stable_sort(changes, {}, &TriedChange::batch_time);
  if (!of_pipeline && changes.size() > kChangesTold) changes.resize(kChangesTold);
  return changes;
}

// Stages that are done wait for the others there: a bubble of the pipeline.
bool SpansStages(const StepCollective& collective) {
  return collective.role == "world" || collective.role == "embedding";
}

// The fastest changes of the pipeline that were tried, one of each kind.
std::string BubbleTrials(const RunResult& result) {
  std::string text;
  std::vector<std::string_view> keys;
  for (const TriedChange* change : Worthwhile(result, true)) {
    const std::string_view key =
        std::string_view(change->change).substr(0, change->change.find(':'));
    if (std::ranges::find(keys, key) != keys.end()) continue;
    keys.push_back(key);
    text += fmt::format(
        "{}{}{} with {}", text.empty() ? "" : "; ", Humanize(change->time),
        change->batches == 1 ? "" : fmt::format(" for {} times the tokens", change->batches),
        change->change);
  }
  if (text.empty()) return text;
  return fmt::format(" The analytic engine, which takes {} as it is, takes {}.",
                     Humanize(result.tried.front().time), text);
}

void SuggestBubble(const RunResult& result, std::vector<Suggestion>& out) {
  const TrainingWorkload& training = *result.training;
  if (training.plan.pp == 1) return;
  const PipelineBubble now = PipelineBubbleOf(training, training.plan.micro_batches());
  const BubbleChange change = LessBubble(training, now);
  // Within a stage, waits for a collective's last member are bubbles too, but not the pipeline's.
  const Time bubble = result.iteration->bubble;
  Time idle = bubble;
  for (const StepCollective& c : result.step_collectives) {
    if (!SpansStages(c)) idle -= std::min(idle, c.waiting);
  }
  const double measured = Ratio(idle, result.iteration->time);
  const std::string trials = BubbleTrials(result);
  // What communicates beside the pipeline makes the share smaller than the closed form's, which
  // then promises nothing. The largest loss is told of all the same.
  const bool promises = measured > change.share;
  const IterationResult& iteration = *result.iteration;
  const bool largest = idle > std::max(iteration.exposed_comm, iteration.other);
  if (!promises && trials.empty() && !largest) return;
  std::string text = fmt::format(
      "The pipeline is idle for {} of the step{}. With equal stages and free transfers it is {}{}",
      Percent(measured),
      idle < bubble ? ", waits for the last member of a collective of one stage left out" : "",
      BubbleForm(now, training.plan.pp),
      measured > now.share() ? ", the rest is of stages and transfers"
      : promises             ? ""
                             : " of a step in which nothing else communicates");
  text += (promises ? change.text : "") + "." + trials;
  out.push_back({idle, std::move(text)});
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
       fmt::format("Stage {} computes for {}, the mean stage for {}: workload.training.parallel."
                   "layout says how many layers each has.",
                   slowest - stages.begin(), Humanize(*slowest), Humanize(mean))});
}

void SuggestCollective(const RunResult& result, std::vector<Suggestion>& out) {
  const auto most = std::ranges::max_element(result.step_collectives, {}, &StepCollective::exposed);
  if (most == result.step_collectives.end() || most->count == 0) return;
  const std::string name = CollectiveName(*most);
  const Time bound = most->row.bound * static_cast<std::int64_t>(most->timed_count);
  const Time time = most->timed;
  if (bound >= time || bound == Time()) return;
  const Time gain = std::min(most->exposed, time - bound);
  const double times = Ratio(time, bound);
  const char* cause = times > kMostlyLatency ? "not bandwidth but latency"
                                             : "another algorithm, placement or routing";
  out.push_back({gain, fmt::format("{} takes {} times its lower bound ({} against {}): {}.",
                                   CollectiveName(*most), Multiple(times), Humanize(time),
                                   Humanize(bound), cause)});
}

// What the critical rank waits for its peers is theirs to gain. Where the group spans stages, that
// is the pipeline's bubble.
void SuggestArrival(const RunResult& result, std::vector<Suggestion>& out) {
  const StepCollective* most = nullptr;
  for (const StepCollective& c : result.step_collectives) {
    if (SpansStages(c)) continue;
    if (most == nullptr || c.waiting > most->waiting) most = &c;
  }
  if (most == nullptr) return;
  const Time idle = std::min(most->waiting, result.iteration->bubble);
  out.push_back({idle, fmt::format("{} waits {} for its last member. All its ranks compute the "
                                   "same: what comes late is a collective or a message before it, "
                                   "over links that are shared or slower for some.",
                                   CollectiveName(*most), Humanize(most->waiting))});
}

void SuggestTried(const RunResult& result, std::vector<Suggestion>& out) {
  if (!result.fits_memory) return;  // what would fit is another matter
  for (const TriedChange* change : Worthwhile(result, false)) {
    const Time as_is = result.tried.front().time;
    const double share = Ratio(as_is - change->time, as_is);
    out.push_back(
        {Time::FromSeconds(share * result.time.seconds()),
         fmt::format("{} shortens the step by about {}: it takes {} instead of {} in the "
                     "analytic engine.",
                     change->change, Percent(share), Humanize(change->time), Humanize(as_is))});
  }
}

// What is missing, and which single changes fit, fastest first.
std::string MemoryAdvice(const RunResult& result) {
  std::string text = fmt::format("A GPU needs {} and has {}: {} too much.",
                                 Humanize(result.memory_per_gpu), Humanize(result.memory_capacity),
                                 Humanize(result.memory_per_gpu - result.memory_capacity));
  if (result.tried.empty()) return text;
  std::string fitting;
  for (const TriedChange* change : Worthwhile(result, false)) {
    fitting += fmt::format("{} {} ({}, a step of {})", fitting.empty() ? "" : ";", change->change,
                           Humanize(change->memory), Humanize(change->time));
  }
  if (fitting.empty()) {
    return text +
           " No change of recompute, zero or micro_batch alone makes it fit: tp and pp "
           "divide the model further.";
  }
  return text + fmt::format(
                    " It fits with{}; as it is, the step takes {} in the same analytic "
                    "engine.",
                    fitting, Humanize(result.tried.front().time));
}

void SuggestTrainingChanges(const RunResult& result, std::vector<Suggestion>& out) {
  SuggestBubble(result, out);
  SuggestLayout(result, out);
  SuggestCollective(result, out);
  SuggestArrival(result, out);
  SuggestTried(result, out);
}

// The best other algorithm by the estimates that the choice was made from, and those.
std::string RunnerUp(const CollectiveRow& row) {
  const auto other = std::ranges::find_if(row.candidates, [&](const TunerCandidate& candidate) {
    return candidate.algorithm != row.algorithm;
  });
  if (other == row.candidates.end()) return "";
  return fmt::format(" {} {} is estimated at {}, {} {} at {}.", other->algorithm,
                     ToString(other->protocol), Humanize(other->cost()), row.algorithm,
                     ToString(row.protocol), Humanize(row.candidates.front().cost()));
}

// A lone collective is held against its own bound.
void SuggestForRow(const CollectiveRow& row, std::vector<Suggestion>& out) {
  if (row.bound == Time()) return;
  out.push_back({row.time - row.bound,
                 fmt::format("{} of {} takes {} times its lower bound: another algorithm, "
                             "protocol, number of channels or placement can gain at most {}.{}",
                             ToString(row.primitive), Humanize(row.bytes),
                             Multiple(Ratio(row.time, row.bound)), Humanize(row.time - row.bound),
                             RunnerUp(row))});
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

std::string SlowLinkAdvice(const RunResult& result, const LinkClass& entry) {
  return fmt::format("{} runs at {}, {} like it at {}: what waits for it is as slow as it.",
                     LinkName(*result.fabric, *entry.slow),
                     LinkRate(entry.kind, result.fabric->link(*entry.slow).rate),
                     Grouped(static_cast<double>(entry.usual_links)),
                     LinkRate(entry.kind, entry.usual));
}

}  // namespace

std::vector<std::string> AdviceOf(const RunResult& result) {
  std::vector<std::string> out;
  if (result.training && !result.fits_memory) out.push_back(MemoryAdvice(result));
  const std::vector<LinkClass> links = LinkClassesOf(result);
  if (!links.empty() && links.front().worst_utilisation >= kFullLink) {
    out.push_back(FullLinkAdvice(result, links.front()));
  }
  for (const LinkClass& entry : links) {
    if (entry.slow) out.push_back(SlowLinkAdvice(result, entry));
  }

  std::vector<Suggestion> suggestions;
  if (result.training && result.iteration) SuggestTrainingChanges(result, suggestions);
  if (!result.rows.empty()) SuggestForRow(result.rows.back(), suggestions);
  std::ranges::sort(suggestions, std::greater<>());
  for (Suggestion& suggestion : suggestions) {
    if (Ratio(suggestion.worth, result.time) >= kWorthwhileShare) {
      out.push_back(std::move(suggestion.text));
    }
  }
  return out;
}

}  // namespace trunkline
