#include <fmt/format.h>

#include "base/plural.h"
#include "scenario/reader.h"
#include "trunkline/trace/goal.h"

namespace trunkline {

void ReadTrace(const std::string& file, const YamlValue& trace, std::int64_t endpoints,
               Scenario& scenario) {
  const auto map = trace.AsMap();
  const auto name = map ? map->Required("file") : std::nullopt;
  if (!name) return;
  if (scenario.engine == EngineKind::kAnalytic) {
    trace.Error("TL1623", "there is no closed form for a GOAL schedule", "engine: flow or packet");
  }
  std::string text;
  if (!name->Read(text)) return;
  const auto path = FindFile(file, *name);
  if (!path) return;
  auto goal = ReadGoal(*path);
  if (!goal) {
    name->Adopt(goal.error());
    return;
  }
  name->Adopt(goal->warnings);
  const std::uint32_t ranks = goal->graph->ranks();
  if (endpoints > 0 && ranks > endpoints) {
    name->Error("TL1420",
                fmt::format("{} on {}", Plural(ranks, "rank"),
                            Plural(static_cast<std::uint64_t>(endpoints), "endpoint")),
                "give the cluster an endpoint, a GPU or a plain host, for each rank");
    return;
  }
  scenario.assumptions.emplace_back(
      "messages of a rank share its link; LogGOPSim would send one after another");
  scenario.workload = TraceJob{std::move(goal->graph)};
}

}  // namespace trunkline
