#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/plural.h"
#include "report/advice.h"
#include "report/blocked.h"
#include "report/critical_path.h"
#include "report/jobs.h"
#include "report/link_classes.h"
#include "report/names.h"
#include "report/repeat_table.h"
#include "report/table.h"
#include "report/traffic_json.h"
#include "report/window.h"
#include "trunkline/engine/packet_window.h"
#include "trunkline/report/report.h"
#include "trunkline/scenario/traffic_result.h"
#include "trunkline/training/training.h"

namespace trunkline {
namespace {

constexpr std::size_t kTextWidth = 100;
constexpr double kShareWidth = 40;
constexpr std::size_t kMostBlocked = 20;

class Page {
 public:
  explicit Page(bool color) : color_(color) {}

  void Line(std::string_view text) { text_.append(text) += '\n'; }
  void Heading(std::string_view text) {
    text_ += '\n';
    Line(color_ ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text));
  }
  void Fact(std::string_view name, std::string_view value, std::string_view remark) {
    std::string line = fmt::format("  {:<13}{:<20}  {}", name, value, remark);
    line.erase(line.find_last_not_of(' ') + 1);
    Line(line);
  }
  void Add(const Table& table) { text_ += table.Text("  "); }
  void Items(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      std::string item = Wrap(Printable(text), "    ", kTextWidth);
      if (item.size() > 2) item[2] = '-';
      text_ += item;
    }
  }
  void Remarks(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) text_ += Wrap(Printable(text), "  ", kTextWidth);
  }
  [[nodiscard]] std::string Take() && { return std::move(text_); }

 private:
  bool color_;
  std::string text_;
};

std::string BarOf(double share) {
  std::string bar;
  const auto cells = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * kShareWidth));
  for (int i = 0; i < cells; ++i) bar += "█";
  return bar;
}

void AddFastForward(Page& page, const SkippedTime& skipped, Time whole) {
  if (skipped.skips == 0) {
    page.Fact("fast-forward", "none",
              fmt::format("all was simulated: no windows agreed within {} for long enough",
                          Percent(skipped.tolerance)));
    return;
  }
  page.Fact("fast-forward", Humanize(skipped.skipped),
            fmt::format("was skipped, {} of the time; each completion is within {} of the whole "
                        "run's if paces stay in the band seen",
                        Percent(Ratio(skipped.skipped, whole)), Humanize(skipped.error)));
}

// What a bound is of.
const char* RunName(const RunResult& result) {
  if (result.traffic) return "traffic";
  if (result.jobs) return "mix of jobs";
  if (!result.rows.empty()) return "collective";
  return result.training ? "plan" : "trace";
}

// "llama-3.1-70b, 70.55 B parameters: tp 8 x pp 4 x dp 16, micro-batch 1, …".
std::string PlanText(const TrainingWorkload& training) {
  const TrainingPlan& plan = training.plan;
  std::string text = fmt::format(
      "{}, {:.4g} billion parameters: tp {} x pp {} x dp {}", training.model.name,
      static_cast<double>(training.model.parameters()) / 1e9, plan.tp, plan.pp, plan.dp);
  if (plan.cp > 1) text += fmt::format(" x cp {}", plan.cp);
  if (plan.vp > 1) text += fmt::format(", {} chunks a stage", plan.vp);
  return text + fmt::format(", ZeRO {}, micro-batch {}, global batch {}, sequence {}", plan.zero,
                            plan.micro_batch, plan.global_batch,
                            training.tokens_per_step / plan.global_batch);
}

void AddHead(Page& page, const RunResult& result) {
  page.Line(Printable(result.title));
  page.Line(Printable(
      fmt::format("{}; {} engine, seed {}", result.cluster_summary, result.engine, result.seed)));
  if (result.training) page.Line(Printable(PlanText(*result.training)));
  page.Line("");
  std::string remark;
  if (result.status == RunStatus::kSaturated) {
    remark = "saturated: the network does not carry the load, and queues grow while it lasts";
  } else if (result.status != RunStatus::kFinished) {
    remark = fmt::format("{}: the figures cover what ran", ToString(result.status));
  }
  page.Fact(result.iteration ? "step time" : "time", Humanize(result.time), remark);
  if (result.placement_kind != PlacementKind::kPacked && !result.jobs) {  // jobs have their own
    page.Fact("placement", ToString(result.placement_kind), FragmentationText(result));
  }
  if (result.bound > Time()) {
    const bool whole =
        result.status == RunStatus::kFinished || result.status == RunStatus::kSaturated;
    page.Fact(
        "lower bound", Humanize(result.bound),
        !whole ? std::string("of the whole")
               : fmt::format(
                     "no run of this {} on this fabric is faster; this one takes {:.3f} times it",
                     RunName(result), Ratio(result.time, result.bound)));
  }
  if (result.traffic && result.traffic->fast_forward) {
    AddFastForward(page, *result.traffic->fast_forward, result.time);
  }
}

void AddTrainingFacts(Page& page, const RunResult& result) {
  const IterationResult& iteration = *result.iteration;
  const auto ranks = static_cast<double>(result.placement.rank_count());
  if (iteration.serial) {
    page.Fact("upper bound", Humanize(*iteration.serial),
              fmt::format("{}; this one takes {:.3f} times it",
                          result.training->plan.pp > 1
                              ? "its critical path with nothing overlapped, in the analytic engine"
                              : "compute and communication one after the other",
                          Ratio(iteration.time, *iteration.serial)));
  } else if (iteration.without_overlap) {
    page.Fact(
        "upper bound", "none",
        fmt::format("with nothing overlapped the analytic engine takes {}, less than this "
                    "run: overlap{} makes it longer",
                    Humanize(*iteration.without_overlap),
                    result.engine == "analytic" ? "" : ", or what that engine does not see,"));
  }
  page.Fact(
      "throughput", fmt::format("{} tokens/s", Grouped(iteration.tokens_per_s)),
      ranks > 0 ? fmt::format("{} tokens/s a GPU", Grouped(iteration.tokens_per_s / ranks)) : "");
  page.Fact("MFU", Percent(iteration.mfu),
            fmt::format("{} a GPU of {}", Humanize(iteration.model_flops_per_gpu_s),
                        Humanize(result.training->peak_per_gpu)));
  page.Fact("memory", Humanize(result.memory_per_gpu),
            fmt::format("of {} on the fullest GPU: {}", Humanize(result.memory_capacity),
                        result.fits_memory ? "fits" : "DOES NOT FIT"));
}

void AddBreakdown(Page& page, const RunResult& result) {
  const IterationResult& iteration = *result.iteration;
  page.Heading(fmt::format("Where the time goes on {}, the last to finish",
                           RankName(result, iteration.critical_rank)));
  Table table({{"", Align::kLeft}, {"time"}, {"share"}, {"mean rank"}, {"", Align::kLeft}});
  const auto add = [&](const char* name, Time time, double mean_s) {
    const double share = Ratio(time, iteration.time);
    table.Add(
        {name, Humanize(time), Percent(share), Humanize(Time::FromSeconds(mean_s)), BarOf(share)});
  };
  add("compute", iteration.compute, iteration.mean_compute_s);
  add("exposed communication", iteration.exposed_comm, iteration.mean_exposed_comm_s);
  add("bubble", iteration.bubble, iteration.mean_bubble_s);
  add("other", iteration.other, iteration.mean_other_s);
  page.Add(table);
}

// Which calls have no bandwidth of their own.
std::string EarlyMembers(std::span<const StepCollective* const> order) {
  std::string calls;
  for (const StepCollective* collective : order) {
    if (collective->timed_count == collective->count) continue;
    calls += fmt::format("{}{} of {} of {} of {}", calls.empty() ? "" : ", ",
                         Grouped(static_cast<double>(collective->count - collective->timed_count)),
                         Grouped(static_cast<double>(collective->count)),
                         CollectiveName(*collective), Humanize(collective->row.bytes));
  }
  if (calls.empty()) return "";
  return fmt::format(
      "Calls that x bound and bus bandwidth leave out: {}. Members that came early had "
      "moved bytes, and what was left when the last came took less than the lower bound.",
      calls);
}

// What a reader of the table would stumble over.
std::vector<std::string> StepCollectiveRemarks(const RunResult& result,
                                               std::span<const StepCollective* const> order) {
  std::vector<std::string> remarks;
  if (std::string early = EarlyMembers(order); !early.empty()) remarks.push_back(std::move(early));
  Time exposed;
  for (const StepCollective* collective : order) exposed += collective->exposed;
  if (exposed > result.iteration->exposed_comm) {
    remarks.push_back(fmt::format(
        "Exposed times add up to {}, more than the step's {}: of two collectives that move bytes "
        "at once each counts, and one that does in a bubble of the step counts too.",
        Humanize(exposed), Humanize(result.iteration->exposed_comm)));
  }
  return remarks;
}

void AddStepCollectives(Page& page, const RunResult& result) {
  if (result.step_collectives.empty()) return;
  page.Heading("Collectives on that rank, most exposed first; time includes waiting");
  std::vector<const StepCollective*> order;
  for (const StepCollective& collective : result.step_collectives) order.push_back(&collective);
  std::ranges::sort(order, {}, [](const StepCollective* collective) {
    return std::pair(-collective->exposed.ps(), collective);
  });
  Table table({{"collective", Align::kLeft},
               {"algorithm", Align::kLeft},
               {"protocol", Align::kLeft},
               {"ranks"},
               {"size"},
               {"calls"},
               {"time"},
               {"waiting"},
               {"exposed"},
               {"x bound"},
               {"bus bandwidth"}});
  for (const StepCollective* collective : order) {
    const Time bound = collective->row.bound * static_cast<std::int64_t>(collective->timed_count);
    table.Add({CollectiveName(*collective), collective->row.algorithm,
               ToString(collective->row.protocol), fmt::format("{}", collective->group_size),
               Humanize(collective->row.bytes), fmt::format("{}", collective->count),
               Humanize(collective->time), Humanize(collective->waiting),
               Humanize(collective->exposed),
               bound > Time() ? Multiple(Ratio(collective->timed, bound)) : "-",
               collective->timed_count > 0 ? Bandwidth(collective->row.busbw_Bps) : "-"});
  }
  page.Add(table);
  page.Remarks(StepCollectiveRemarks(result, order));
}

void AddRows(Page& page, const RunResult& result) {
  if (result.rows.empty()) return;
  page.Heading("Collectives");
  Table table({{"primitive", Align::kLeft},
               {"size"},
               {"algorithm", Align::kLeft},
               {"protocol", Align::kLeft},
               {"channels"},
               {"time"},
               {"bound"},
               {"x bound"},
               {"algbw"},
               {"busbw"}});
  for (const CollectiveRow& row : result.rows) {
    table.Add({ToString(row.primitive), Humanize(row.bytes), row.algorithm, ToString(row.protocol),
               fmt::format("{}", row.channels), Humanize(row.time), Humanize(row.bound),
               row.bound > Time() ? Multiple(Ratio(row.time, row.bound)) : "",
               Bandwidth(row.algbw_Bps), Bandwidth(row.busbw_Bps)});
  }
  page.Add(table);
}

void AddPercentiles(Table& table, const std::string& name, std::uint64_t count,
                    const Percentiles& values, bool times) {
  if (values.count == 0) return;
  std::vector<std::string> cells = {name, Grouped(static_cast<double>(count))};
  for (const double value : {values.mean, values.p50, values.p95, values.p99, values.max}) {
    cells.push_back(times ? Humanize(Time::FromSeconds(value)) : Multiple(value));
  }
  table.Add(std::move(cells));
}

// Classes end at powers of ten.
std::string SizesOf(const TrafficStatistics::SizeClass& entry) {
  if (entry.above == Bytes()) return fmt::format("  up to {}", ToString(entry.up_to));
  return fmt::format("  above {} up to {}", ToString(entry.above), ToString(entry.up_to));
}

void AddStatistics(Page& page, const TrafficStatistics& statistics) {
  Table table({{"", Align::kLeft}, {"flows"}, {"mean"}, {"P50"}, {"P95"}, {"P99"}, {"max"}});
  const auto add = [&](const std::string& name, const Percentiles& values, bool times) {
    AddPercentiles(table, name, values.count, values, times);
  };
  add("completion", statistics.fct_s, true);
  add("to the acknowledgement", statistics.fct_ack_s, true);
  add("times a lone flow's", statistics.slowdown, false);
  for (const TrafficStatistics::SizeClass& entry : statistics.size_classes) {
    if (statistics.size_classes.size() > 1) add(SizesOf(entry), entry.slowdown, false);
  }
  if (!table.empty()) page.Add(table);
}

void AddFlows(Page& page, const TrafficResult& traffic) {
  page.Heading(
      fmt::format("{} flows{}", Grouped(static_cast<double>(traffic.statistics.flows)),
                  traffic.statistics.unfinished == 0
                      ? std::string(", all delivered")
                      : fmt::format(", {} of them not delivered",
                                    Grouped(static_cast<double>(traffic.statistics.unfinished)))));
  AddStatistics(page, traffic.statistics);
  for (const JobTraffic& job : traffic.jobs) {
    page.Heading(fmt::format("Of job {}", Printable(job.name)));
    AddStatistics(page, job.statistics);
  }
  if (!traffic.stuck.empty()) {
    page.Heading("What did not finish");
    page.Items(traffic.stuck);
  }
}

void AddPackets(Page& page, const PacketCounters& counters) {
  page.Heading("Packets");
  Table table({{"", Align::kLeft}, {"sent"}, {"hops over links"}});
  const auto number = [](std::uint64_t count) { return Grouped(static_cast<double>(count)); };
  table.Add({"data", number(counters.packets.data), number(counters.hops.data)});
  table.Add({"acknowledgements", number(counters.packets.ack), number(counters.hops.ack)});
  table.Add({"control", number(counters.packets.control), number(counters.hops.control)});
  page.Add(table);
  std::vector<std::string> events;
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count > 0) events.push_back(fmt::format("{} {}", number(count), what));
  };
  add(counters.marks, "marked by ECN");
  add(counters.pauses, "PAUSE frames");
  add(counters.pause_expiries, "pauses that ran out");
  add(counters.credit_stalls, "waits for credits");
  add(counters.fault_drops, "lost with a cable");
  add(counters.drops - counters.fault_drops, "dropped");
  add(counters.trims, "trimmed");
  add(counters.retransmissions, "sent again");
  add(counters.timeouts, "timeouts");
  page.Line(fmt::format("  {}", events.empty() ? "nothing marked, paused, dropped or sent again"
                                               : fmt::format("{}", fmt::join(events, ", "))));
}

// Who stood still, and for which output of the switch that said so.
void AddPaused(Page& page, const std::vector<PausedLink>& paused, std::size_t limit) {
  if (paused.empty()) return;
  page.Heading("Longest paused, and the output that its packets waited for");
  Table table({{"link", Align::kLeft},
               {"class"},
               {"pauses"},
               {"paused for"},
               {"towards", Align::kLeft},
               {"share"}});
  for (std::size_t i = 0; i < std::min(limit, paused.size()); ++i) {
    const PausedLink& link = paused[i];
    table.Add({fmt::format("{} -> {}", link.from, link.to),
               fmt::format("{}", int{link.traffic_class}),
               Grouped(static_cast<double>(link.pauses)), Humanize(link.paused), link.cause_to,
               link.cause_to.empty() ? "" : Percent(link.cause_share)});
  }
  page.Add(table);
}

void AddWindow(Page& page, const RunResult& result) {
  page.Heading(WindowHeading(result));
  if (!result.window->kinds.empty()) page.Add(WindowTable(result));
  page.Items(WindowFindings(result));
  page.Items(result.window->packets.stuck);
  page.Items(CriticalPathFindings(result, result.window->packets));
  AddPackets(page, result.window->packets.counters);
}

void AddJobs(Page& page, const JobsResult& jobs, std::size_t limit) {
  page.Heading("Jobs on one fabric, each alone and all together");
  page.Add(JobsTable(jobs));
  page.Items(JobsFindings(jobs));
  const Table shared = SharedLinksTable(jobs, limit);
  if (shared.empty()) return;
  page.Heading("Fullest links that several cross");
  page.Add(shared);
}

// Of each class of links the narrowest.
void AddLinks(Page& page, const RunResult& result, std::size_t limit) {
  const std::vector<LinkClass> classes = LinkClassesOf(result);
  const std::size_t shown = std::min(limit, classes.size());
  if (shown == 0) return;
  page.Heading("Narrowest link of each kind, by utilisation over the whole run");
  Table table({{"narrowest", Align::kLeft},
               {"kind", Align::kLeft},
               {"rate"},
               {"used"},
               {"mean"},
               {"of links"},
               {"", Align::kLeft}});
  for (std::size_t i = 0; i < shown; ++i) {
    const LinkClass& entry = classes[i];
    table.Add({LinkName(*result.fabric, entry.worst), ToString(entry.kind),
               LinkRate(entry.kind, result.fabric->link(entry.worst).rate),
               Percent(entry.worst_utilisation), Percent(entry.mean_utilisation),
               fmt::format("{}", entry.links), BarOf(entry.worst_utilisation)});
  }
  page.Add(table);
}

void AddBlocked(Page& page, const RunResult& result) {
  const std::vector<BlockedTask>& blocked = BlockedOf(result);
  if (blocked.empty()) return;
  page.Heading("The run did not end: who waits for whom");
  Table table({{"rank"}, {"task"}, {"waits for", Align::kLeft}});
  for (const BlockedTask& task : std::span(blocked).first(std::min(kMostBlocked, blocked.size()))) {
    table.Add({fmt::format("{}", Index(task.rank)), fmt::format("{}", task.task), task.waits_for});
  }
  page.Add(table);
  if (blocked.size() > kMostBlocked) {
    page.Line(fmt::format("  and {} more tasks",
                          Grouped(static_cast<double>(blocked.size() - kMostBlocked))));
  }
  page.Items({ChainOfWaits(blocked)});
}

void AddWarnings(Page& page, const Diagnostics& warnings) {
  std::vector<std::string> texts;
  for (const Diagnostic& warning : warnings) {
    texts.push_back(fmt::format("{} [{}]{}{}", warning.message, warning.code,
                                warning.hint.empty() ? "" : " ", warning.hint));
  }
  if (texts.empty()) return;
  page.Heading("Warnings");
  page.Items(texts);
}

}  // namespace

std::string RenderText(const RunResult& result, const TextOptions& options) {
  Page page(options.color);
  AddHead(page, result);
  if (result.iteration && result.training) {
    AddTrainingFacts(page, result);
    AddBreakdown(page, result);
    AddStepCollectives(page, result);
  }
  AddRows(page, result);
  if (result.jobs) AddJobs(page, *result.jobs, options.links);
  if (result.traffic) AddFlows(page, *result.traffic);
  if (result.packets && !result.packets->stuck.empty()) {
    page.Heading("What did not finish");
    page.Items(result.packets->stuck);
  }
  if (const PacketCounters* counters = CountersOf(result); counters != nullptr) {
    AddPackets(page, *counters);
  }
  if (result.packets) {
    if (const auto findings = CriticalPathFindings(result, *result.packets); !findings.empty()) {
      page.Heading("What the end waited for");
      page.Items(findings);
    }
  }
  if (result.traffic) AddPaused(page, result.traffic->paused, options.links);
  if (result.window) AddWindow(page, result);
  if (result.repeat) {
    page.Heading(RepeatHeading(*result.repeat));
    page.Add(RepeatTable(*result.repeat));
  }
  AddLinks(page, result, options.links);
  AddBlocked(page, result);
  if (const std::vector<std::string> advice = AdviceOf(result); !advice.empty()) {
    page.Heading("What to change");
    page.Items(advice);
  }
  if (options.assumptions && !result.assumptions.empty()) {
    page.Heading("Assumptions");
    page.Items(result.assumptions);
  }
  AddWarnings(page, result.warnings);
  return std::move(page).Take();
}

}  // namespace trunkline
