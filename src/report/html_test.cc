#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/test_result.h"
#include "trunkline/report/report.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The text of the script element with that id.
std::string DataOf(const std::string& html, const std::string& id) {
  const std::string open = "<script type=\"application/json\" id=\"" + id + "\">";
  const std::size_t begin = html.find(open) + open.size();
  return html.substr(begin, html.find("</script>", begin) - begin);
}

TEST(RenderHtml, CarriesTheResultAndItsSpans) {
  if (!HtmlAvailable()) GTEST_SKIP() << "built without the HTML report";
  const RunResult result = testing::PipelineResult();
  const std::string html = RenderHtml(result).value();
  EXPECT_EQ(nlohmann::json::parse(DataOf(html, "result")),
            nlohmann::json::parse(RenderJson(result)));
  const auto timeline = nlohmann::json::parse(DataOf(html, "timeline"));
  EXPECT_EQ(timeline["end"], result.timeline.end.ps());
  ASSERT_EQ(timeline["ranks"].size(), 4);
  // Stage 1's first forward: after 10 ms, for 10 ms.
  const auto& spans = timeline["ranks"][1]["lanes"][0]["spans"];
  EXPECT_EQ(timeline["labels"][spans[0].get<std::size_t>()]["name"], "forward");
  EXPECT_EQ(spans[1], 10'000'000'000);
  EXPECT_EQ(spans[2], 10'000'000'000);
}

TEST(RenderHtml, LetsNoNameOutOfItsScriptElement) {
  if (!HtmlAvailable()) GTEST_SKIP() << "built without the HTML report";
  RunResult result = testing::PipelineResult();
  result.title = "</script><img src=x onerror=alert(1)><!--<script>";
  const std::string html = RenderHtml(result).value();
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_EQ(nlohmann::json::parse(DataOf(html, "result"))["title"], result.title);
}

TEST(RenderHtml, RefersToNothingOutsideItself) {
  if (!HtmlAvailable()) GTEST_SKIP() << "built without the HTML report";
  const std::string html = RenderHtml(testing::PipelineResult()).value();
  EXPECT_THAT(html, Not(HasSubstr("src=")));
  EXPECT_THAT(html, Not(HasSubstr("@import")));
}

TEST(RenderHtml, IsRefusedWithARemedyInABuildWithoutThePage) {
  if (HtmlAvailable()) GTEST_SKIP() << "built with the HTML report";
  EXPECT_EQ(RenderHtml(testing::PipelineResult()).error().front().code, "TL1901");
}

}  // namespace
}  // namespace trunkline
