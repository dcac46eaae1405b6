#include <map>
#include <string>

#include "report/json_writer.h"
#include "report/lanes.h"
#include "report/names.h"
#include "trunkline/report/report.h"

// Chrome's trace event format: "X" events with a start and a duration in microseconds, "M" events
// that name processes (ranks) and threads (streams). Spans of one stream follow one another, so
// every thread is well nested. Microseconds are written as exact decimals of picoseconds.
namespace trunkline {
namespace {

// Names of chrome://tracing's palette; Perfetto colours by name.
const char* ColorName(const std::string& category) {
  static const std::map<std::string, const char*> kColors = {
      {"forward", "thread_state_running"}, {"backward", "rail_response"},
      {"recompute", "rail_idle"},          {"optimizer", "rail_animation"},
      {"communication", "rail_load"},      {"receive", "grey"},
  };
  return kColors.at(category);
}

void WriteName(JsonWriter& json, const char* what, std::uint64_t process, std::uint64_t thread,
               const std::string& name) {
  json.BeginObject();
  json.Field("ph", "M");
  json.Field("name", what);
  json.Field("pid", process);
  json.Field("tid", thread);
  json.Key("args");
  json.BeginObject();
  json.Field("name", name);
  json.EndObject();
  json.EndObject();
}

void WriteSpan(JsonWriter& json, const TaskSpan& span, const SpanMeaning& meaning) {
  json.BeginObject();
  json.Field("ph", "X");
  json.Field("name", meaning.name);
  json.Field("cat", meaning.category);
  json.Field("cname", ColorName(meaning.category));
  json.Field("pid", static_cast<std::uint64_t>(Index(span.rank)));
  json.Field("tid", std::uint32_t{span.stream});
  json.Key("ts");
  json.Raw(ExactMicroseconds(span.start));
  json.Key("dur");
  json.Raw(ExactMicroseconds(span.end - span.start));
  json.Key("args");
  json.BeginObject();
  json.Field("task", span.task);
  json.EndObject();
  json.EndObject();
}

}  // namespace

std::string RenderTrace(const RunResult& result) {
  JsonWriter json(2);
  json.BeginObject();
  json.Field("displayTimeUnit", "ns");
  json.Key("otherData");
  json.BeginObject();
  json.Field("title", result.title);
  json.Field("engine", result.engine);
  json.Field("seed", result.seed);
  json.EndObject();
  json.Key("traceEvents");
  json.BeginArray();
  for (const TimelineLane& lane : LanesOf(result)) {
    const std::uint64_t process = Index(lane.rank);
    if (lane.first_of_rank) {
      WriteName(json, "process_name", process, 0, RankName(result, lane.rank));
    }
    WriteName(json, "thread_name", process, lane.stream, StreamName(result, lane.stream));
  }
  for (const TaskSpan& span : result.timeline.spans) {
    WriteSpan(json, span, MeaningOf(result, span));
  }
  json.EndArray();
  json.EndObject();
  return std::move(json).Take() + "\n";
}

}  // namespace trunkline
