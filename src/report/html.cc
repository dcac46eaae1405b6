#include <algorithm>
#include <ranges>

#include "base/embedded_files.h"
#include "report/json_writer.h"
#include "report/lanes.h"
#include "report/names.h"
#include "trunkline/report/report.h"

namespace trunkline {

#ifdef TRUNKLINE_REPORT_PAGE

extern const EmbeddedTable k_trunkline_report_page;

namespace {

// The page (web/) has this where the data goes.
constexpr std::string_view kSlot = "<!--trunkline:data-->";

// Spans of a lane as label, gap since the last end and duration, in picoseconds: short numbers, and
// exact in a browser's doubles.
void WriteLane(JsonWriter& json, const RunResult& result, const Lane& lane) {
  json.BeginObject();
  json.Field("stream", StreamName(result, lane.stream));
  json.Key("spans");
  json.BeginArray();
  Time last;
  for (const TaskSpan& span : result.timeline.spans) {
    if (span.rank != lane.rank || span.stream != lane.stream) continue;
    json.Value(std::uint32_t{span.label});
    json.Value((span.start - last).ps());
    json.Value((span.end - span.start).ps());
    last = span.end;
  }
  json.EndArray();
  json.EndObject();
}

void WriteLabels(JsonWriter& json, const RunResult& result) {
  std::uint16_t labels = 0;
  for (const TaskSpan& span : result.timeline.spans) {
    labels = std::max(labels, static_cast<std::uint16_t>(span.label + 1));
  }
  json.Objects(std::views::iota(std::uint16_t{0}, labels), [&](std::uint16_t label) {
    const SpanMeaning meaning = MeaningOf(result, label);
    json.Field("name", meaning.name);
    json.Field("phase", PhaseName(meaning.phase));
  });
}

std::string TimelineJson(const RunResult& result) {
  JsonWriter json;
  json.BeginObject();
  json.Field("end", result.timeline.end.ps());
  json.Key("labels");
  WriteLabels(json, result);
  json.Key("ranks");
  json.BeginArray();
  const std::vector<Lane> lanes = LanesOf(result);
  for (auto lane = lanes.begin(); lane != lanes.end();) {
    json.BeginObject();
    json.Field("name", RankName(result, lane->rank));
    json.Key("lanes");
    json.BeginArray();
    const RankId rank = lane->rank;
    for (; lane != lanes.end() && lane->rank == rank; ++lane) WriteLane(json, result, *lane);
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return std::move(json).Take();
}

// JSON inside a script element: no text of the result may end the element. '<' occurs in strings
// only, where JSON lets it be written as an escape.
std::string DataElement(std::string_view id, std::string_view json) {
  std::string out = "<script type=\"application/json\" id=\"";
  out.append(id) += "\">";
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out += "</script>\n";
}

}  // namespace

bool HtmlAvailable() { return true; }

Result<std::string> RenderHtml(const RunResult& result) {
  const EmbeddedFile* page = k_trunkline_report_page.Find("report.html");
  TL_CHECK(page != nullptr, "the report page is not embedded");
  const std::string_view text = page->text();
  const std::size_t slot = text.find(kSlot);
  TL_CHECK(slot != std::string_view::npos, "the report page has no slot for data");
  std::string out(text.substr(0, slot));
  out += DataElement("result", RenderJson(result));
  out += DataElement("timeline", TimelineJson(result));
  out += text.substr(slot + kSlot.size());
  return out;
}

#else

bool HtmlAvailable() { return false; }

Result<std::string> RenderHtml(const RunResult&) {
  return Error(
      "TL1901", "this build of trunkline has no HTML report",
      "install Node.js, run `npm ci` in web/, configure and build again; or use --json and "
      "trace.json, which need neither");
}

#endif

}  // namespace trunkline
