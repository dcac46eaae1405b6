#include "report/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/critical_path.h"
#include "report/names.h"
#include "report/traffic_json.h"
#include "trunkline/engine/packet_window.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/training/training.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {
namespace {

// Links whose queues are told of.
constexpr std::size_t kLinks = 20;

std::string Seconds(double seconds) { return Humanize(Time::FromSeconds(seconds)); }

std::string Signed(Time time) {
  return time < Time() ? "-" + Humanize(Time() - time) : "+" + Humanize(time);
}

std::vector<const PacketLinkUse*> FullestLinks(const WindowReport& window) {
  std::vector<const PacketLinkUse*> links;
  for (const PacketLinkUse& use : window.packets.links) links.push_back(&use);
  std::ranges::stable_sort(links, std::greater<>(), &PacketLinkUse::max_queue_bytes);
  if (links.size() > kLinks) links.resize(kLinks);
  return links;
}

}  // namespace

std::string TaskLabelOf(const RunResult& result, std::uint16_t label) {
  const TaskGraph* graph = result.training ? result.training->graph.get() : result.trace.get();
  return graph == nullptr ? "" : graph->labels()[label].name;
}

std::string WindowHeading(const RunResult& result) {
  const WindowReport& window = *result.window;
  return fmt::format("From {} to {} as packets, beside the same as flows", Humanize(window.from),
                     Humanize(window.until));
}

Table WindowTable(const RunResult& result) {
  Table table({{"communication", Align::kLeft},
               {"tasks"},
               {"in part"},
               {"as flows"},
               {"as packets"},
               {"x flows"},
               {"latest"},
               {"on", Align::kLeft}});
  for (const WindowKind& kind : result.window->kinds) {
    table.Add({TaskLabelOf(result, kind.label), Grouped(static_cast<double>(kind.tasks)),
               Grouped(static_cast<double>(kind.cut)), Seconds(kind.flow_s), Seconds(kind.packet_s),
               kind.flow_s > 0 ? fmt::format("{:.3f}", kind.packet_s / kind.flow_s) : "",
               Signed(kind.delay), RankName(result, kind.rank)});
  }
  return table;
}

std::vector<std::string> WindowFindings(const RunResult& result) {
  const WindowReport& window = *result.window;
  if (window.status != RunStatus::kFinished) {
    return {fmt::format("The packets of the window are {}: nothing follows for the step.",
                        ToString(window.status))};
  }
  std::vector<std::string> findings = {
      fmt::format("All that is in the window takes {} as packets, {} as flows.",
                  Humanize(window.packet_time), Humanize(window.flow_time)),
      fmt::format("The whole takes {} with the window as packets: {} as flows, and {} by which the "
                  "end moves if what follows takes as long as it did.",
                  Humanize(result.time + window.step_delay), Humanize(result.time),
                  Humanize(window.step_delay)),
      fmt::format("Cut out, the window as flows is at most {} from what it is in the whole.",
                  Humanize(window.cut_error))};
  const auto links = FullestLinks(window);
  if (!links.empty()) {
    const PacketLinkUse& use = *links.front();
    findings.push_back(fmt::format("The longest queue is {}, at {}.",
                                   Humanize(Bytes(use.max_queue_bytes)),
                                   LinkName(*result.fabric, use.link)));
  }
  return findings;
}

void WriteWindow(JsonWriter& json, const RunResult& result) {
  const WindowReport& window = *result.window;
  const bool finished = window.status == RunStatus::kFinished;
  const auto known = [&](const char* key, Time time) {
    if (finished) {
      json.Field(key, time);
    } else {
      json.NullField(key);
    }
  };
  json.BeginObject();
  json.Field("engine", "packet");
  json.Field("status", ToString(window.status));
  json.Field("from_s", window.from);
  json.Field("until_s", window.until);
  json.Field("tasks", window.tasks);
  known("flow_s", window.flow_time);
  known("packet_s", window.packet_time);
  known("cut_error_s", window.cut_error);
  known("step_delay_s", window.step_delay);
  known("step_time_s", result.time + window.step_delay);
  json.Key("kinds");
  json.Objects(window.kinds, [&](const WindowKind& kind) {
    json.Field("name", TaskLabelOf(result, kind.label));
    json.Field("tasks", kind.tasks);
    json.Field("cut", kind.cut);
    json.Field("flow_s", kind.flow_s);
    json.Field("packet_s", kind.packet_s);
    json.Field("latest_rank", static_cast<std::uint64_t>(Index(kind.rank)));
    json.Field("latest_task", kind.task);
    json.Field("latest_start_s", kind.start);
    json.Field("latest_delay_s", kind.delay);
  });
  WriteCounters(json, window.packets.counters);
  json.Key("links");
  json.Objects(FullestLinks(window), [&](const PacketLinkUse* use) {
    json.Field("from", result.fabric->name(result.fabric->link(use->link).from));
    json.Field("to", result.fabric->name(result.fabric->link(use->link).to));
    json.Field("bytes", use->wire_bytes);
    json.Field("packets", use->packets);
    json.Field("max_queue_bytes", use->max_queue_bytes);
    json.Field("ecn_marks", use->marks);
    json.Field("pauses", use->pauses);
  });
  json.Key("critical_path");
  WriteCriticalPath(json, result, window.packets);
  json.Key("stuck");
  json.Values(window.packets.stuck);
  json.EndObject();
}

}  // namespace trunkline
