#include <map>
#include <ranges>

#include "base/embedded_files.h"
#include "report/json_writer.h"
#include "report/lanes.h"
#include "report/names.h"
#include "report/page.h"
#include "report/samples_json.h"
#include "trunkline/report/report.h"

namespace trunkline {

#ifdef TRUNKLINE_REPORT_PAGE

extern const EmbeddedTable k_trunkline_report_page;

namespace {

// The page (web/) has this where the data goes.
constexpr std::string_view kSlot = "<!--trunkline:data-->";

// The distinct meanings of recorded spans, and each one's place in the list.
using Meanings = std::map<SpanMeaning, std::uint32_t>;

Meanings MeaningsOf(const RunResult& result) {
  Meanings meanings;
  for (const TaskSpan& span : result.timeline.spans) meanings[MeaningOf(result, span)] = 0;
  std::uint32_t place = 0;
  for (auto& [meaning, index] : meanings) index = place++;
  return meanings;
}

// Spans of a lane as place of the meaning, gap since the last end and duration, in picoseconds:
// short numbers, and exact in a browser's doubles.
void WriteLane(JsonWriter& json, const RunResult& result, const Meanings& meanings,
               const TimelineLane& lane) {
  json.Field("stream", StreamName(result, lane.stream));
  json.Key("spans");
  json.BeginArray();
  Time last;
  for (const TaskSpan& span : result.timeline.spans) {
    if (span.rank != lane.rank || span.stream != lane.stream) continue;
    json.Value(meanings.at(MeaningOf(result, span)));
    json.Value((span.start - last).ps());
    json.Value((span.end - span.start).ps());
    last = span.end;
  }
  json.EndArray();
}

std::string TimelineJson(const RunResult& result) {
  const Meanings meanings = MeaningsOf(result);
  const std::vector<TimelineLane> lanes = LanesOf(result);
  JsonWriter json;
  json.BeginObject();
  json.Field("end", result.timeline.end.ps());
  json.Key("labels");
  json.Objects(meanings, [&](const Meanings::value_type& entry) {
    json.Field("name", entry.first.name);
    json.Field("category", entry.first.category);
  });
  json.Key("ranks");
  json.Objects(
      std::views::filter(lanes, &TimelineLane::first_of_rank), [&](const TimelineLane& first) {
        json.Field("name", RankName(result, first.rank));
        json.Key("lanes");
        const auto own = [&](const TimelineLane& lane) { return lane.rank == first.rank; };
        json.Objects(std::views::filter(lanes, own),
                     [&](const TimelineLane& lane) { WriteLane(json, result, meanings, lane); });
      });
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

Result<std::string> FillPage(
    std::initializer_list<std::pair<std::string_view, std::string>> documents) {
  const EmbeddedFile* page = k_trunkline_report_page.Find("report.html");
  TL_CHECK(page != nullptr, "the report page is not embedded");
  const std::string_view text = page->text();
  const std::size_t slot = text.find(kSlot);
  TL_CHECK(slot != std::string_view::npos, "the report page has no slot for data");
  std::string out(text.substr(0, slot));
  for (const auto& [id, json] : documents) out += DataElement(id, json);
  return out.append(text.substr(slot + kSlot.size()));
}

Result<std::string> RenderHtml(const RunResult& result) {
  return FillPage({{"result", RenderJson(result)},
                   {"timeline", TimelineJson(result)},
                   {"samples", result.samples != nullptr ? SeriesJson(result) : "null"}});
}

#else

bool HtmlAvailable() { return false; }

Result<std::string> FillPage(std::initializer_list<std::pair<std::string_view, std::string>>) {
  return Error(
      "TL1901", "this build of trunkline has no HTML report",
      "install Node.js, run `npm ci` in web/, configure and build again; or use --json and "
      "trace.json, which need neither");
}

Result<std::string> RenderHtml(const RunResult&) { return FillPage({}); }

#endif

}  // namespace trunkline
