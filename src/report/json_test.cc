#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "report/json_writer.h"
#include "report/test_result.h"
#include "trunkline/report/report.h"
#include "trunkline/scenario/traffic_result.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(JsonWriter, PrintsTimesExactly) {
  EXPECT_EQ(ExactSeconds(Time::Picoseconds(1)), "0.000000000001");
  EXPECT_EQ(ExactSeconds(Time::Picoseconds(8'640'000'000'000'000'001)), "8640000.000000000001");
  EXPECT_EQ(ExactSeconds(Time::Microseconds(1'500'000)), "1.5");
  EXPECT_EQ(ExactSeconds(Time::Picoseconds(-2)), "-0.000000000002");
  EXPECT_EQ(ExactMicroseconds(Time::Picoseconds(1'234'567)), "1.234567");
  EXPECT_EQ(ExactSeconds(Time()), "0");
}

TEST(JsonWriter, WritesNullForWhatIsNotANumber) {
  JsonWriter json;
  json.BeginArray();
  json.Value(std::numeric_limits<double>::quiet_NaN());
  json.Value(std::numeric_limits<double>::infinity());
  json.Value(0.1);
  json.EndArray();
  EXPECT_EQ(std::move(json).Take(), "[null, null, 0.1]");
}

TEST(JsonWriter, ReplacesInvalidUtf8) {
  JsonWriter json;
  json.Value("a\xff\"\n");
  EXPECT_EQ(std::move(json).Take(), "\"a\xef\xbf\xbd\\\"\\n\"");
}

// A hundred flows of 1 to 100 us: percentiles are their ranks.
TEST(RenderJson, HasTheFlowsOfTraffic) {
  const Json json = Json::parse(RenderJson(testing::MessagesResult()));
  const Json& flows = json["flows"];
  EXPECT_EQ(flows["count"], 100);
  EXPECT_EQ(flows["unfinished"], 0);
  EXPECT_DOUBLE_EQ(flows["fct_s"]["mean"], 50.5e-6);
  EXPECT_DOUBLE_EQ(flows["fct_s"]["p50"], 50e-6);
  EXPECT_DOUBLE_EQ(flows["fct_s"]["p99"], 99e-6);
  EXPECT_DOUBLE_EQ(flows["fct_ack_s"]["max"], 101e-6);
  EXPECT_DOUBLE_EQ(flows["slowdown"]["p95"], 95);
  ASSERT_EQ(flows["sizes"].size(), 2);
  EXPECT_EQ(flows["sizes"][0]["up_to_bytes"], 1'000);
  EXPECT_DOUBLE_EQ(flows["sizes"][0]["slowdown"]["max"], 50);
  EXPECT_EQ(flows["completion"].size(), 100);
  EXPECT_EQ(json["packets"]["data"], 1'300);
  EXPECT_EQ(json["link_hops"]["control"], 7);
  EXPECT_EQ(json["ecn_marks"], 12);
  EXPECT_EQ(json["pauses"], 3);
  EXPECT_EQ(json["drops"], 0);
  EXPECT_EQ(json["links"][0]["packets"], 5'607);
  EXPECT_EQ(json["links"][0]["max_queue_bytes"], 65'536);
  EXPECT_EQ(json["repeat"]["seeds"], Json({1, 2, 3}));
  EXPECT_DOUBLE_EQ(json["repeat"]["figures"][0]["half_width_95"], 1e-5);
}

TEST(RenderJson, LeavesPacketsOutWhereNoneAreSimulated) {
  RunResult result = testing::MessagesResult();
  auto summary = std::make_shared<TrafficResult>(*result.traffic);
  summary->counters.reset();
  result.traffic = summary;
  const Json json = Json::parse(RenderJson(result));
  for (const char* key : {"drops", "pauses", "ecn_marks", "packets", "link_hops", "timeouts"}) {
    EXPECT_TRUE(json[key].is_null()) << key;
  }
  EXPECT_EQ(json["flows"]["count"], 100);
}

TEST(RenderJson, WritesNullForWhatThereIsNoneOf) {
  RunResult result = testing::PipelineResult();
  Json json = Json::parse(RenderJson(result));
  EXPECT_DOUBLE_EQ(json["training"]["kernels"][0]["efficiency"], 0.7);
  EXPECT_TRUE(json["training"]["kernels"][1]["efficiency"].is_null());
  EXPECT_TRUE(json["iteration"]["serial_s"].is_null());
  result.iteration->serial = Time::Microseconds(1'500'000);
  json = Json::parse(RenderJson(result));
  EXPECT_DOUBLE_EQ(json["iteration"]["serial_s"], 1.5);
  EXPECT_EQ(json["links_total"], result.links_total);
  result.engine = "analytic";
  EXPECT_TRUE(Json::parse(RenderJson(result))["links_total"].is_null());
}

TEST(RenderJson, HasEveryKeyOfTheContract) {
  const Json training = Json::parse(RenderJson(testing::PipelineResult()));
  for (const char* key :
       {"schema",      "status",      "engine", "seed",   "time_s",    "bound_s",   "assumptions",
        "warnings",    "events",      "wall_s", "cpu_s",  "threads",   "iteration", "memory",
        "collectives", "flows",       "drops",  "pauses", "ecn_marks", "packets",   "link_hops",
        "links",       "links_total", "flow",   "rows"}) {
    EXPECT_TRUE(training.contains(key)) << key;
  }
  for (const char* key : {"time_s", "compute_s", "exposed_comm_s", "bubble_s", "other_s",
                          "tokens_per_s", "mfu", "model_flops_per_gpu_s"}) {
    EXPECT_TRUE(training["iteration"].contains(key)) << key;
  }
  EXPECT_TRUE(training["memory"].contains("per_gpu_bytes"));
  for (const char* key :
       {"primitive", "algorithm", "protocol", "group_size", "bytes", "count", "time_s", "waiting_s",
        "exposed_s", "timed_calls", "timed_s", "busbw_Bps"}) {
    EXPECT_TRUE(training["collectives"][0].contains(key)) << key;
  }
  for (const char* key : {"from", "to", "utilisation", "bytes", "packets", "max_queue_bytes"}) {
    EXPECT_TRUE(training["links"][0].contains(key)) << key;
  }
  for (const char* key :
       {"solves", "reuses", "transfers_simulated", "transfers_represented", "fold_classes"}) {
    EXPECT_TRUE(training["flow"].contains(key)) << key;
  }
  const Json collective = Json::parse(RenderJson(testing::CollectiveResult()));
  for (const char* key : {"primitive", "bytes", "count", "dtype", "algorithm", "protocol",
                          "channels", "time_s", "bound_s", "algbw_Bps", "busbw_Bps"}) {
    EXPECT_TRUE(collective["rows"][0].contains(key)) << key;
  }
}

TEST(RenderJson, WritesNullForWhatWasNotComputed) {
  const Json training = Json::parse(RenderJson(testing::PipelineResult()));
  EXPECT_TRUE(training["drops"].is_null());
  EXPECT_TRUE(training["rows"].is_null());
  EXPECT_TRUE(training["links"][0]["packets"].is_null());
  const Json collective = Json::parse(RenderJson(testing::CollectiveResult()));
  EXPECT_TRUE(collective["iteration"].is_null());
  EXPECT_TRUE(collective["memory"].is_null());
  EXPECT_TRUE(collective["collectives"].is_null());
}

TEST(RenderJson, GathersLinksThatDoTheSameJob) {
  const Json classes = Json::parse(RenderJson(testing::PipelineResult()))["link_classes"];
  ASSERT_EQ(classes.size(), 2);
  EXPECT_EQ(classes[0]["name"], "leaf -> spine");
  EXPECT_EQ(classes[1]["name"], "nic -> leaf");
  EXPECT_EQ(classes[1]["from"], "nic:0/0");
  EXPECT_EQ(classes[1]["links"], 2);
  // NICs of 400 Gb/s at 20 % and 10 %.
  EXPECT_EQ(classes[1]["rate_Bps"], 50e9);
  EXPECT_NEAR(classes[1]["utilisation"].get<double>(), 0.2, 1e-9);
  EXPECT_NEAR(classes[1]["mean_utilisation"].get<double>(), 0.15, 1e-9);
}

TEST(RenderJson, PartsOfTheIterationAddUpToItsTime) {
  const Json iteration = Json::parse(RenderJson(testing::PipelineResult()))["iteration"];
  EXPECT_DOUBLE_EQ(iteration["time_s"].get<double>(), 0.365);
  EXPECT_DOUBLE_EQ(iteration["compute_s"].get<double>() +
                       iteration["exposed_comm_s"].get<double>() +
                       iteration["bubble_s"].get<double>() + iteration["other_s"].get<double>(),
                   iteration["time_s"].get<double>());
}

TEST(RenderJson, SurvivesHostileNames) {
  RunResult result = testing::PipelineResult();
  result.title = "</script><script>alert(1)</script>\xff\"\\\n";
  result.links[0].from = "leaf\"-0";
  const Json json = Json::parse(RenderJson(result));
  EXPECT_EQ(json["title"], "</script><script>alert(1)</script>\xef\xbf\xbd\"\\\n");
  EXPECT_EQ(json["links"][0]["from"], "leaf\"-0");
}

TEST(RenderJson, IsTheSameForTheSameResult) {
  EXPECT_EQ(RenderJson(testing::PipelineResult()), RenderJson(testing::PipelineResult()));
}

TEST(RenderTrace, NamesRanksAndStreamsAndKeepsSpans) {
  const RunResult result = testing::PipelineResult();
  const Json trace = Json::parse(RenderTrace(result));
  std::size_t spans = 0;
  std::map<std::pair<int, int>, double> last_end;
  std::set<int> named;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "M") {
      if (event["name"] == "process_name") named.insert(event["pid"].get<int>());
      continue;
    }
    ASSERT_EQ(event["ph"], "X");
    ++spans;
    EXPECT_TRUE(named.contains(event["pid"].get<int>()));
    // Spans of one thread follow one another: well nested.
    double& end = last_end[{event["pid"].get<int>(), event["tid"].get<int>()}];
    EXPECT_GE(event["ts"].get<double>(), end);
    end = event["ts"].get<double>() + event["dur"].get<double>();
  }
  EXPECT_EQ(spans, result.timeline.spans.size());
  EXPECT_EQ(named, (std::set<int>{0, 2, 4, 6}));
  // Stage 1's first forward starts after stage 0's, 10 ms; in microseconds.
  const std::string text = RenderTrace(result);
  EXPECT_THAT(text, HasSubstr(R"("pid": 2, "tid": 0, "ts": 10000, "dur": 10000)"));
}

TEST(RenderTrace, SetsWaitingForAMessageApartFromMovingBytes) {
  const Json trace = Json::parse(RenderTrace(testing::PipelineResult()));
  std::set<std::string> categories;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") categories.insert(event["cat"].get<std::string>());
  }
  EXPECT_EQ(categories, (std::set<std::string>{"forward", "backward", "communication", "optimizer",
                                               "receive"}));
}

TEST(RenderTrace, WritesPicosecondsWithoutLoss) {
  RunResult result = testing::PipelineResult();
  result.timeline.spans.front().start = Time::Picoseconds(1'234'567'891);
  EXPECT_THAT(RenderTrace(result), HasSubstr("\"ts\": 1234.567891"));
}

}  // namespace
}  // namespace trunkline
