#include "report/critical_path.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/test_result.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/report/report.h"
#include "trunkline/scenario/jobs_result.h"

namespace trunkline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

// Two messages, of which the second waited 30 us at the first link of the fabric.
RunResult WithChain() {
  RunResult result = testing::CollectiveResult();
  PacketReport packets;
  packets.critical.push_back({.source = RankId(4),
                              .destination = RankId(2),
                              .begin = Time(),
                              .taken = Time::Microseconds(10),
                              .alone = Time::Microseconds(10),
                              .queue = LinkId(0)});
  packets.critical.push_back({.source = RankId(2),
                              .destination = RankId(5),
                              .begin = Time::Microseconds(12),
                              .taken = Time::Microseconds(40),
                              .alone = Time::Microseconds(10),
                              .queue = LinkId(0),
                              .max_queue_bytes = 65'536});
  result.packets = std::make_shared<const PacketReport>(std::move(packets));
  return result;
}

TEST(CriticalPath, NamesTheWaitTheRanksAndTheQueue) {
  const RunResult result = WithChain();
  const auto findings = CriticalPathFindings(result, *result.packets);
  ASSERT_EQ(findings.size(), 2U);
  // The parts add up to the whole: 52 = 20 + 30 + 2.
  EXPECT_THAT(findings[0], AllOf(HasSubstr("rank 5"), HasSubstr("Of the 52 us"),
                                 HasSubstr("take 20 us on idle paths and waited 30 us"),
                                 HasSubstr("; 2 us passed before")));
  const std::string to = result.fabric->name(result.fabric->link(LinkId(0)).to);
  EXPECT_THAT(findings[1],
              AllOf(HasSubstr("From rank 2 to rank 5"), HasSubstr("64 KiB"), HasSubstr(to)));
  EXPECT_THAT(RenderText(result), HasSubstr("What the end waited for"));
}

// 64 KiB at the 100 or 400 Gb/s of that link, and 40 us of which an idle path takes 10.
TEST(CriticalPath, IsExplainedByItsQueues) {
  RunResult result = WithChain();
  result.time = Time::Microseconds(60);
  const std::string text = RenderExplain(result);
  EXPECT_THAT(text, HasSubstr("= 20 us + 30 us + 10 us = 60 us\n"));
  EXPECT_THAT(text, HasSubstr("= 40 us - 10 us = 30 us\n"));
  const double rate = result.fabric->link(LinkId(0)).rate.bytes_per_second();
  EXPECT_THAT(text, HasSubstr("= 64 KiB / " + Humanize(result.fabric->link(LinkId(0)).rate) +
                              " = " + Humanize(Time::FromSeconds(65'536 / rate), 6)));
  result.status = RunStatus::kUnfinished;
  EXPECT_TRUE(CriticalPathFigures(result, *result.packets).empty());
}

TEST(CriticalPath, NamesRanksByTheirJobs) {
  RunResult result = WithChain();
  JobsResult jobs;
  jobs.jobs = {JobResult(), JobResult()};
  jobs.jobs[0].name = "first";
  jobs.jobs[0].ranks = 2;
  jobs.jobs[1].name = "second";
  jobs.jobs[1].ranks = 6;
  jobs.jobs[1].first_rank = RankId(2);
  result.jobs = std::make_shared<const JobsResult>(std::move(jobs));
  EXPECT_THAT(CriticalPathFindings(result, *result.packets)[1],
              HasSubstr("From rank 0 of second to rank 3 of second"));
  EXPECT_EQ(Json::parse(RenderJson(result))["critical_path"]["worst"][0]["job"], "second");
}

TEST(CriticalPath, IsInJsonWorstFirst) {
  const RunResult result = WithChain();
  const Json path = Json::parse(RenderJson(result))["critical_path"];
  EXPECT_EQ(path["messages"], 2);
  EXPECT_DOUBLE_EQ(path["end_s"], 52e-6);
  EXPECT_DOUBLE_EQ(path["idle_paths_s"], 20e-6);
  EXPECT_DOUBLE_EQ(path["waited_s"], 30e-6);
  EXPECT_DOUBLE_EQ(path["before_begin_s"], 2e-6);
  EXPECT_EQ(path["worst"][0]["to_rank"], 5);
  EXPECT_EQ(path["worst"][0]["max_queue_bytes"], 65'536);
  EXPECT_TRUE(Json::parse(RenderJson(testing::CollectiveResult()))["critical_path"].is_null());
}

}  // namespace
}  // namespace trunkline
