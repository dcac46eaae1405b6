#include "report/jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/test_result.h"
#include "trunkline/report/report.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;

// Two jobs of 2 ms and 1 ms alone, 3 ms and 2 ms together, and a link that carries 3 to 1 of them.
JobsResult TwoJobs() {
  JobsResult jobs;
  for (const std::int64_t ms : {2, 1}) {
    JobResult job;
    job.name = ms == 2 ? "pre\x1btrain" : "finetune";
    job.workload = "training";
    job.alone.time = Time::Microseconds(1'000 * ms);
    job.together = JobTimes{};
    job.together->time = Time::Microseconds(1'000 * (ms + 1));
    jobs.jobs.push_back(std::move(job));
  }
  SharedLink link;
  link.from = "leaf-3";
  link.to = "spine-1";
  link.utilisation = 0.5;
  link.bytes = 4'000;
  link.users = {{.job = 0, .bytes = 3'000}, {.job = 1, .bytes = 1'000}};
  jobs.shared.push_back(link);
  jobs.shared_total = 1;
  return jobs;
}

TEST(JobsReport, TellsTimesSlowdownsAndWhoTakesHowMuchWhere) {
  const std::string times = JobsTable(TwoJobs()).Text("");
  EXPECT_THAT(times, HasSubstr("pre?train"));
  EXPECT_THAT(times, HasSubstr("1.50"));
  EXPECT_THAT(times, HasSubstr("2.00"));
  const std::string links = SharedLinksTable(TwoJobs(), 8).Text("");
  EXPECT_THAT(links, HasSubstr("leaf-3 -> spine-1"));
  EXPECT_THAT(links, HasSubstr("75.0 %, finetune 25.0 %"));
}

TEST(JobsReport, ExplainsASlowdownWithItsNumbers) {
  const auto figures = JobsFigures(TwoJobs());
  ASSERT_EQ(figures.size(), 4U);  // two slowdowns, two shares
  EXPECT_EQ(figures[1].numbers, "2 ms / 1 ms");
  EXPECT_EQ(figures[1].value, "2.0000");
  EXPECT_EQ(figures[3].value, "25.0 %");
}

TEST(JobsReport, IsInTextAndJson) {
  RunResult result = testing::CollectiveResult();
  auto jobs = std::make_shared<JobsResult>(TwoJobs());
  jobs->jobs[0].ranks = 1;
  jobs->jobs[1].ranks = 2;
  jobs->jobs[1].first_rank = RankId{1};
  result.jobs = jobs;
  EXPECT_THAT(RenderJson(result), HasSubstr("\"slowdown\": 1.5"));
  EXPECT_THAT(RenderText(result), HasSubstr("Jobs on one fabric"));
}

}  // namespace
}  // namespace trunkline
