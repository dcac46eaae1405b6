#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/plural.h"
#include "report/cost_report.h"
#include "report/json_writer.h"
#include "report/page.h"
#include "report/table.h"
#include "trunkline/report/planner_report.h"

namespace trunkline {
namespace {

constexpr double kCostWidth = 20;
constexpr std::size_t kMostTroubles = 5;

std::string TimeOf(const std::optional<Time>& time) { return time ? Humanize(*time) : "-"; }

void WriteTime(JsonWriter& json, const char* key, const std::optional<Time>& time) {
  if (time) {
    json.Field(key, *time);
  } else {
    json.NullField(key);
  }
}

const char* EndOf(const Growth& growth) { return growth.of_gpus ? "GPU" : "host"; }

// Why times are missing, each reason once.
std::string TroublesText(const Growth& growth) {
  std::string text;
  std::set<std::string> told;
  for (const GrowthPoint& point : growth.points) {
    for (const std::string& trouble : point.troubles) {
      if (!told.insert(trouble).second) continue;
      if (told.size() > kMostTroubles) return text + "… and other reasons: --json has all\n";
      text += fmt::format("not at {}: {}\n", Plural(point.gpus, EndOf(growth)), Printable(trouble));
    }
  }
  return text;
}

}  // namespace

std::string RenderGrowthText(const Growth& growth) {
  double dearest = 0;
  for (const GrowthPoint& point : growth.points) dearest = std::max(dearest, point.per_gpu());
  const std::string end = EndOf(growth);
  Table table({{"nodes"},
               {end + "s"},
               {"tiers"},
               {"switches"},
               {"cables"},
               {"price"},
               {"per " + end},
               {"AllReduce"},
               {"AllToAll"},
               {"step"},
               {"", Align::kLeft}});
  std::uint32_t tiers = 0;
  bool complete = true;
  for (const GrowthPoint& point : growth.points) {
    std::string bar;
    const double cells = dearest > 0 ? kCostWidth * point.per_gpu() / dearest + 0.5 : 0;
    for (int i = 0; i < static_cast<int>(cells); ++i) bar += "█";
    const bool steps_up = tiers > 0 && point.tiers > tiers;
    table.Add({GroupedCount(point.nodes), GroupedCount(point.gpus), fmt::to_string(point.tiers),
               GroupedCount(point.switches), GroupedCount(point.cables), Money(point.price, ""),
               Money(point.per_gpu(), ""), TimeOf(point.all_reduce), TimeOf(point.all_to_all),
               TimeOf(point.step),
               bar + (steps_up ? " a tier more" : "") + (point.complete ? "" : " *")});
    tiers = point.tiers;
    complete &= point.complete;
  }
  std::string text =
      fmt::format("{} as it grows; prices: {} ({})\n\n{}", Printable(growth.name),
                  Printable(growth.prices), Printable(growth.currency), table.Text("  "));
  text += fmt::format(
      "collectives of {} over all {}s, by the analytic engine{}\n", Humanize(growth.size), end,
      growth.step.empty() ? ""
                          : fmt::format("; the step of {}, with a replica for every "
                                        "so many GPUs",
                                        Printable(growth.step)));
  if (!complete) text += "* without parts that the list does not sell\n";
  text += TroublesText(growth);
  if (!growth.stopped_by.empty()) {
    text += fmt::format("It grows no further: {}\n", Printable(growth.stopped_by));
  }
  return text;
}

std::string RenderGrowthJson(const Growth& growth) {
  JsonWriter json(1);
  json.BeginObject();
  json.Field("schema", "trunkline.growth/1");
  json.Field("fabric", growth.name);
  json.Field("prices", growth.prices);
  json.Field("currency", growth.currency);
  json.Field("end", EndOf(growth));
  json.Field("stopped_by", growth.stopped_by);
  json.Field("collective_bytes", growth.size);
  if (growth.step.empty()) {
    json.NullField("step");
  } else {
    json.Field("step", growth.step);
  }
  json.Key("points");
  json.Objects(growth.points, [&](const GrowthPoint& point) {
    json.Field("nodes", point.nodes);
    json.Field("gpus", point.gpus);
    json.Field("tiers", point.tiers);
    json.Field("switches", point.switches);
    json.Field("cables", point.cables);
    json.Field("price", point.price);
    json.Field("per_gpu", point.per_gpu());
    json.Field("watts", point.watts);
    json.Field("complete", point.complete);
    WriteTime(json, "all_reduce_s", point.all_reduce);
    WriteTime(json, "all_to_all_s", point.all_to_all);
    WriteTime(json, "step_s", point.step);
    if (const auto gpu_seconds = point.step_gpu_seconds()) {
      json.Field("step_gpu_s", *gpu_seconds);
    } else {
      json.NullField("step_gpu_s");
    }
    json.Key("troubles");
    json.Values(point.troubles);
  });
  json.EndObject();
  return std::move(json).Take() + "\n";
}

Result<std::string> RenderGrowthHtml(const Growth& growth) {
  return FillPage({{"growth", RenderGrowthJson(growth)}});
}

}  // namespace trunkline
