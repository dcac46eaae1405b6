#include "trunkline/report/planner_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/plural.h"
#include "report/cost_report.h"
#include "report/json_writer.h"
#include "report/table.h"
#include "trunkline/report/fabric_report.h"

namespace trunkline {
namespace {

// A, B, …: specs are too long for the head of a column.
std::string Letter(std::size_t i) { return std::string(1, static_cast<char>('A' + i)); }

std::string BisectionOf(const FabricTrial& trial) {
  const Bisection& bisection = trial.analysis.bisection;
  if (bisection.lower == Rate()) return fmt::format("at most {}", Humanize(bisection.upper));
  return (bisection.lower == bisection.upper ? "" : ">= ") + Humanize(bisection.lower);
}

std::string TimeOf(const std::optional<TrialTime>& time) {
  if (!time) return "-";
  return (time->bound ? ">= " : time->sampled ? "~ " : "") + Humanize(time->time);
}

// Marked where parts are left out of it: kWithoutParts tells readers.
std::string MoneyOr(const std::optional<double>& amount, const FabricCost& cost) {
  if (!amount) return "-";
  return Money(*amount, cost.currency) + (cost.complete() ? "" : " *");
}

constexpr const char* kWithoutParts = "* without what the list does not sell\n";

// By the lower bound: at most that where it is not known exactly, and nothing is left out.
std::string MoneyOfBisection(const FabricTrial& trial) {
  const Bisection& bisection = trial.analysis.bisection;
  const bool at_most = bisection.lower != Rate() && bisection.lower != bisection.upper;
  return (at_most && trial.cost.complete() ? "<= " : "") +
         MoneyOr(trial.cost.per_gigabyte_of_bisection(), trial.cost);
}

void WriteTime(JsonWriter& json, const std::string& key, const std::optional<TrialTime>& time) {
  if (time) {
    json.Field(key + "_s", time->time);
    json.Field(key + "_how", time->how);
    json.Field(key + "_is_bound", time->bound);
    json.Field(key + "_is_estimate", time->sampled);
  } else {
    json.NullField(key + "_s");
    json.NullField(key + "_how");
  }
}

void WriteTrial(JsonWriter& json, const FabricTrial& trial) {
  json.Field("fabric", trial.name);
  json.Field("routing", ToString(trial.routing));
  WriteTime(json, "all_reduce", trial.all_reduce);
  WriteTime(json, "all_to_all", trial.all_to_all);
  WriteTime(json, "step", trial.step);
  json.Key("troubles");
  json.Values(trial.troubles);
}

std::uint64_t SwitchesOf(const FabricTrial& trial) {
  std::uint64_t switches = 0;
  for (const TierSummary& tier : trial.analysis.counts.tiers) switches += tier.switches;
  return switches;
}

// A line of the comparison: its name and what stands in each fabric's column.
struct Measure {
  const char* name;
  std::function<std::string(const FabricTrial&)> of;
};

std::vector<Measure> Measures() {
  using Trial = const FabricTrial&;
  return {
      {"nodes", [](Trial t) { return GroupedCount(t.analysis.counts.nodes); }},
      {"NICs", [](Trial t) { return GroupedCount(t.analysis.counts.nics); }},
      {"switches", [](Trial t) { return GroupedCount(SwitchesOf(t)); }},
      {"tiers", [](Trial t) { return fmt::to_string(t.analysis.counts.tiers.size()); }},
      {"cables to NICs", [](Trial t) { return GroupedCount(t.analysis.counts.host_cables); }},
      {"cables between", [](Trial t) { return GroupedCount(t.analysis.counts.switch_cables); }},
      {"oversubscription",
       [](Trial t) { return fmt::format("{:.4g}:1", t.analysis.counts.oversubscription); }},
      {"bisection", BisectionOf},
      {"diameter", [](Trial t) { return fmt::to_string(t.analysis.hops.diameter_switches); }},
      {"mean switches",
       [](Trial t) { return fmt::format("{:.4g}", t.analysis.hops.mean_switches); }},
      {"price", [](Trial t) { return MoneyOr(t.cost.price(), t.cost); }},
      {"per endpoint", [](Trial t) { return MoneyOr(t.cost.per_end(), t.cost); }},
      {"per GB/s of bisection", MoneyOfBisection},
      {"power", [](Trial t) { return fmt::format("{:.4g} kW", t.cost.watts / 1e3); }},
      {"AllReduce of 1 GiB", [](Trial t) { return TimeOf(t.all_reduce); }},
      {"AllToAll of 1 GiB", [](Trial t) { return TimeOf(t.all_to_all); }},
      {"the step", [](Trial t) { return TimeOf(t.step); }},
  };
}

std::string NotesOf(const FabricTrial& trial) {
  std::string text;
  for (const auto& [name, time] :
       {std::pair("AllReduce", &trial.all_reduce), std::pair("AllToAll", &trial.all_to_all),
        std::pair("step", &trial.step)}) {
    if (*time) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name, (*time)->how);
  }
  for (const std::string& trouble : trial.troubles) {
    text += fmt::format("{}{}", text.empty() ? "" : "; ", trouble);
  }
  for (const std::string& part : trial.cost.unpriced) {
    text += fmt::format("{}not priced: {}", text.empty() ? "" : "; ", part);
  }
  return text;
}

// Where the budget holds none of what runs: what would.
std::string NoneWithin(const AdviceRequest& request, const Advice& advice) {
  const Candidate* cheapest = nullptr;
  for (const Candidate& candidate : advice.candidates) {
    if (!candidate.trial || !candidate.slowdown) continue;
    if (candidate.within_budget) return "";
    if (!cheapest || candidate.trial->cost.price() < cheapest->trial->cost.price()) {
      cheapest = &candidate;
    }
  }
  if (!cheapest) return "";
  const FabricCost& cost = cheapest->trial->cost;
  return Wrap(fmt::format("None is within the budget; the cheapest that runs the work is {}, {}{}.",
                          cheapest->kind, Money(cost.price(), request.trial.prices.currency),
                          cost.complete() ? "" : " and what the list does not sell"),
              "", 100);
}

}  // namespace

std::string RenderComparisonText(const std::vector<FabricTrial>& trials) {
  std::string text;
  std::vector<Table::Column> columns = {{"", Align::kLeft}};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    text += fmt::format("{}: {}\n", Letter(i), Printable(trials[i].name));
    columns.push_back({Letter(i)});
  }
  Table table(std::move(columns));
  for (const Measure& measure : Measures()) {
    std::vector<std::string> cells = {measure.name};
    bool any = false;
    for (const FabricTrial& trial : trials) {
      cells.push_back(measure.of(trial));
      any |= cells.back() != "-";
    }
    if (any) table.Add(std::move(cells));
  }
  text += "\n" + table.Text("  ") + "\n";
  if (!std::ranges::all_of(trials, [](const FabricTrial& t) { return t.cost.complete(); })) {
    text += kWithoutParts;
  }
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const std::string notes = NotesOf(trials[i]);
    if (!notes.empty()) text += Wrap(fmt::format("{}: {}", Letter(i), Printable(notes)), "", 100);
  }
  return text;
}

std::string RenderComparisonJson(const std::vector<FabricTrial>& trials) {
  std::string fabrics;
  for (const FabricTrial& trial : trials) {
    fabrics += (fabrics.empty() ? "" : ",\n") +
               RenderFabricJson(*trial.built, trial.analysis, nullptr, &trial.cost);
  }
  JsonWriter json(1);
  json.BeginArray();
  for (const FabricTrial& trial : trials) json.Object([&] { WriteTrial(json, trial); });
  json.EndArray();
  return "{\"fabrics\": [\n" + fabrics + "],\n\"trials\": " + std::move(json).Take() + "}\n";
}

std::string RenderAdviceText(const AdviceRequest& request, const Advice& advice) {
  std::string text = fmt::format(
      "{} GPUs in {}, switches of {} ports{}\n\n", GroupedCount(request.gpus),
      Printable(request.node), request.radix,
      request.budget
          ? fmt::format(", at most {}", Money(*request.budget, request.trial.prices.currency))
          : "");
  Table table({{"", Align::kLeft},
               {"fabric", Align::kLeft},
               {"switches"},
               {"price"},
               {"per GPU"},
               {"AllReduce"},
               {"AllToAll"},
               {"step"},
               {"slowdown"}});
  std::string reasons;
  bool complete = true;
  for (std::size_t i = 0; i < advice.candidates.size(); ++i) {
    const Candidate& candidate = advice.candidates[i];
    const std::string place = fmt::to_string(i + 1);
    if (candidate.trial) {
      const FabricTrial& trial = *candidate.trial;
      complete &= trial.cost.complete();
      table.Add({place, candidate.kind, GroupedCount(SwitchesOf(trial)),
                 MoneyOr(trial.cost.price(), trial.cost), MoneyOr(trial.cost.per_end(), trial.cost),
                 TimeOf(trial.all_reduce), TimeOf(trial.all_to_all), TimeOf(trial.step),
                 candidate.slowdown ? fmt::format("{:.2f}", *candidate.slowdown) : "-"});
    }
    reasons +=
        "\n" + Wrap(fmt::format("{}. {}: {}", place, candidate.kind, candidate.reason), "", 100);
    if (!candidate.spec.empty()) reasons += fmt::format("   {}\n", Printable(candidate.spec));
    if (candidate.trial) {
      reasons += Wrap(fmt::format("for {}", candidate.suits), "   ", 100);
      if (!candidate.fails_at.empty()) {
        reasons += Wrap(fmt::format("slow at {}", candidate.fails_at), "   ", 100);
      }
      reasons += Wrap(fmt::format("not measured: {}", candidate.risks), "   ", 100) +
                 Wrap(NotesOf(*candidate.trial), "   ", 100);
    }
  }
  if (table.empty()) {
    text += "None of the candidates can be built.";
    if (!advice.would_work.empty()) text += fmt::format(" One could with {}.", advice.would_work);
    text += "\n";
  } else {
    text += table.Text("  ") + (complete ? "" : kWithoutParts);
  }
  return text + NoneWithin(request, advice) + reasons;
}

std::string RenderAdviceJson(const AdviceRequest& request, const Advice& advice) {
  JsonWriter json(2);
  json.BeginObject();
  json.Field("schema", "trunkline.advice/1");
  json.Field("status", advice.stopped ? "interrupted" : "finished");
  json.Field("gpus", request.gpus);
  json.Field("node", request.node);
  json.Field("radix", request.radix);
  json.Key("budget");
  if (request.budget) {
    json.Value(*request.budget);
  } else {
    json.Null();
  }
  json.Field("would_work", advice.would_work);
  json.Key("candidates");
  json.Objects(advice.candidates, [&](const Candidate& candidate) {
    json.Field("kind", candidate.kind);
    json.Field("spec", candidate.spec);
    json.Field("within_budget", candidate.within_budget);
    json.Key("slowdown");
    if (candidate.slowdown) {
      json.Value(*candidate.slowdown);
    } else {
      json.Null();
    }
    json.Field("reason", candidate.reason);
    json.Field("suits", candidate.suits);
    json.Field("fails_at", candidate.fails_at);
    json.Field("risks", candidate.risks);
    json.Key("trial");
    if (candidate.trial) {
      json.Object([&] {
        WriteTrial(json, *candidate.trial);
        json.Field("bisection_Bps", candidate.trial->analysis.bisection.lower.bytes_per_second());
        json.Key("cost");
        WriteCost(json, candidate.trial->cost);
      });
    } else {
      json.Null();
    }
  });
  json.EndObject();
  return std::move(json).Take() + "\n";
}

}  // namespace trunkline
