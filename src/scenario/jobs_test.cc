#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "scenario/testing.h"
#include "trunkline/base/check.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/scenario/jobs_result.h"
#include "trunkline/scenario/run.h"

// Several jobs on one fabric, and background traffic, from a scenario to its result.
namespace trunkline {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Two leaves of four hosts; the uplink of a leaf is as fast as the cable of one host.
const std::string kTwoLeaves =
    "cluster:\n"
    "  fabric: {kind: tree, arity: [4, 2], taper: [4], link: 100 Gb/s, routing: ecmp}\n"
    "  transport: {kind: ideal}\n";

std::string Ring(const std::string& name, const std::string& nodes, const std::string& size,
                 const std::string& more = "") {
  return "  - {name: " + name + ", placement: {nodelist: '" + nodes + "'}" + more +
         ", workload: {collective: {primitive: all_reduce, algorithm: ring, channels: 1, "
         "protocol: simple, size: " +
         size + "}}}\n";
}

std::string JobProblems(const std::string& text) {
  const auto scenario = ParseScenario(text, "s.yaml");
  std::string out;
  for (const Diagnostic& problem : scenario ? scenario->warnings : scenario.error()) {
    out += Format(problem);
  }
  if (!scenario) return out;
  const auto result = RunScenario(*scenario);
  if (result) return out;
  for (const Diagnostic& problem : result.error()) out += Format(problem);
  return out;
}

RunResult RunJobsText(const std::string& text, const RunOptions& options = {}) {
  return MustRun(ParseScenario(text, "s.yaml"), options);
}

const JobResult& JobNamed(const RunResult& result, const std::string& name) {
  const auto found = std::ranges::find(result.jobs->jobs, name, &JobResult::name);
  TL_CHECK(found != result.jobs->jobs.end(), "no such job");
  return *found;
}

std::vector<Time> TimesOf(const RunResult& result) {
  std::vector<Time> times = {result.time};
  for (const JobResult& job : result.jobs->jobs) {
    times.push_back(job.alone.time);
    times.push_back(job.together.value().time);
  }
  return times;
}

TEST(Jobs, OnDisjointLeavesTakeExactlyTheirTimeAlone) {
  const RunResult result = RunJobsText(kTwoLeaves + "jobs:\n" + Ring("a", "n[0-3]", "64 MB") +
                                       Ring("b", "n[4-7]", "64 MB"));
  for (const JobResult& job : result.jobs->jobs) {
    EXPECT_EQ(job.together.value().time, job.alone.time) << job.name;
  }
  EXPECT_THAT(result.jobs->shared, IsEmpty());
  EXPECT_EQ(JobNamed(result, "a").alone.time, JobNamed(result, "b").alone.time);
}

TEST(Jobs, ALoneOneTakesThePicosecondsOfTheWorkload) {
  const std::string workload =
      "workload: {collective: {primitive: all_reduce, size: 4 MB, ranks: 6}}\n";
  for (const std::string engine : {"engine: flow\n", "engine: packet\n"}) {
    const RunResult lone = RunJobsText(kTwoLeaves + workload + engine);
    const RunResult job = RunJobsText(kTwoLeaves + "jobs:\n  - " +
                                      workload.substr(0, workload.size() - 1) + "\n" + engine);
    EXPECT_EQ(job.time, lone.time);
    EXPECT_EQ(job.jobs->jobs[0].alone.time, lone.time);
    EXPECT_EQ(job.events, 2 * lone.events);
  }
}

// The same draws: of its pairs, sizes and moments, alone or beside another job.
TEST(Jobs, RandomTrafficIsThatOfTheLoneWorkload) {
  const std::string workload =
      "workload: {traffic: {pattern: permutation, sizes: web-search, ranks: 4}}";
  const RunResult lone = RunJobsText(kTwoLeaves + workload + "\n");
  for (const std::string& beside : {std::string(), Ring("b", "n[4-7]", "1 MB")}) {
    const RunResult job =
        RunJobsText(kTwoLeaves + "jobs:\n  - {name: a, nodes: 4, " + workload + "}\n" + beside);
    const double alone = JobNamed(job, "a").alone.time.seconds();
    EXPECT_NEAR(alone / lone.time.seconds(), 1, 1e-6) << beside;
  }
}

// A ring of two sends 2 x n/2 each way; two of them share the uplink of 12.5 GB/s.
TEST(Jobs, TwoRingsAcrossOneLinkShareItMaxMinFairly) {
  const RunResult result = RunJobsText(kTwoLeaves + "jobs:\n" + Ring("a", "n[0,4]", "100 MB") +
                                       Ring("b", "n[1,5]", "100 MB"));
  for (const JobResult& job : result.jobs->jobs) {
    const Time gained = job.together.value().time - job.alone.time;
    EXPECT_NEAR(gained.seconds(), 100e6 / 12.5e9, 1e-9) << job.name;
    EXPECT_EQ(job.together->exposed_comm, job.together->time);
  }
  ASSERT_EQ(result.jobs->shared.size(), 4U);  // two uplinks, two downlinks
  for (const SharedLink& link : result.jobs->shared) {
    EXPECT_THAT(link.from + " " + link.to, AllOf(HasSubstr("leaf"), HasSubstr("spine")));
    ASSERT_EQ(link.users.size(), 2U);
    EXPECT_EQ(link.users[0].bytes, 100'000'000);
    EXPECT_EQ(link.users[1].bytes, 100'000'000);
    EXPECT_EQ(link.bytes, 200'000'000);
    EXPECT_GT(link.utilisation, 0.99);
  }
}

// While both run each has half; then the longer one has all that is left to it.
TEST(Jobs, TheShorterOfTwoTakesTwiceAsLongAndTheLongerAsMuchMore) {
  const RunResult result = RunJobsText(kTwoLeaves + "jobs:\n" + Ring("short", "n[0,4]", "100 MB") +
                                       Ring("long", "n[1,5]", "300 MB"));
  EXPECT_NEAR(JobNamed(result, "short").slowdown(), 2, 0.002);
  const JobResult& longer = JobNamed(result, "long");
  EXPECT_NEAR((longer.together.value().time - longer.alone.time).seconds(), 8e-3, 8e-5);
}

TEST(Jobs, OneThatStartsWhenTheOtherIsDoneIsNotSlowed) {
  const RunResult result = RunJobsText(kTwoLeaves + "jobs:\n" + Ring("a", "n[0,4]", "100 MB") +
                                       Ring("b", "n[1,5]", "100 MB", ", start: 9 ms"));
  const JobResult& late = JobNamed(result, "b");
  EXPECT_EQ(late.together.value().time, late.alone.time);
  EXPECT_EQ(late.together->compute, Time());
  EXPECT_EQ(result.time, Time::Microseconds(9'000) + late.alone.time);
  EXPECT_EQ(JobNamed(result, "a").slowdown(), 1);
}

TEST(Jobs, NobodyElseIsOnTheNodesThatOneTakes) {
  const std::string ring =
      "workload: {collective: {primitive: all_reduce, size: 1 MB, ranks: 2}}}\n";
  const RunResult result =
      RunJobsText(kTwoLeaves + "jobs:\n  - {name: a, nodes: 3, " + ring + "  - {name: b, " + ring);
  const DeviceId first = result.placement.endpoint(JobNamed(result, "b").first_rank);
  EXPECT_EQ(result.fabric->name(first), "host-3");
}

TEST(Jobs, RepetitionsFollowOneAnother) {
  const std::string once = kTwoLeaves + "jobs:\n" + Ring("a", "n[0,4]", "10 MB");
  const RunResult one = RunJobsText(once);
  const RunResult three =
      RunJobsText(kTwoLeaves + "jobs:\n" + Ring("a", "n[0,4]", "10 MB", ", repetitions: 3"));
  EXPECT_EQ(three.time, one.time * 3);
}

TEST(Jobs, TheirOrderInTheFileDoesNotMatter) {
  const std::string a = Ring("a", "n[0,4,5]", "10 MB");
  const std::string b = Ring("b", "n[1,6]", "3 MB", ", start: 100 us");
  const std::string c = Ring("c", "n[2,3,7]", "7 MB");
  for (const std::string engine : {"engine: flow\n", "engine: packet\n"}) {
    const RunResult forth = RunJobsText(kTwoLeaves + engine + "jobs:\n" + a + b + c);
    const RunResult back = RunJobsText(kTwoLeaves + engine + "jobs:\n" + c + b + a);
    EXPECT_EQ(forth.events, back.events);
    for (const JobResult& job : forth.jobs->jobs) {
      EXPECT_EQ(job.together.value().time, JobNamed(back, job.name).together.value().time);
      EXPECT_EQ(job.alone.time, JobNamed(back, job.name).alone.time);
    }
  }
}

TEST(Jobs, FlowsAndPacketsAgreeOnTwoRingsAcrossOneLink) {
  const std::string jobs = "jobs:\n" + Ring("a", "n[0,4]", "8 MB") + Ring("b", "n[1,5]", "8 MB");
  const RunResult flow = RunJobsText(kTwoLeaves + "engine: flow\n" + jobs);
  const RunResult packet = RunJobsText(kTwoLeaves + "engine: packet\n" + jobs);
  for (const char* name : {"a", "b"}) {
    const double expected = JobNamed(flow, name).together.value().time.seconds();
    EXPECT_NEAR(JobNamed(packet, name).together.value().time.seconds(), expected, 0.03 * expected);
    EXPECT_NEAR(JobNamed(packet, name).slowdown(), JobNamed(flow, name).slowdown(), 0.06);
  }
}

// Eight hosts a leaf at 4:1.
TEST(Jobs, ScatteredOverAnOversubscribedFabricTakeLonger) {
  const std::string cluster =
      "cluster:\n"
      "  fabric: {kind: tree, arity: [8, 2], taper: [4], link: 100 Gb/s, routing: ecmp}\n"
      "  transport: {kind: ideal}\n";
  const auto longest = [&](const std::string& placement) {
    std::string jobs = "jobs:\n";
    for (const char* name : {"a", "b"}) {
      jobs += std::string("  - {name: ") + name + ", placement: " + placement +
              ", workload: {collective: {primitive: all_to_all, algorithm: pairwise, size: 64 MB, "
              "ranks: 8}}}\n";
    }
    return RunJobsText(cluster + jobs).time;
  };
  const Time packed = longest("packed");
  EXPECT_GT(longest("{kind: by-block, block: 4}"), packed * 2);
  EXPECT_GT(longest("{kind: random, seed: 3}"), packed * 2);
}

TEST(Jobs, FoldingAndTheMemoChangeNothing) {
  const std::string text = kTwoLeaves + "jobs:\n" +
                           Ring("a", "n[0,1,4,5]", "10 MB", ", repetitions: 5") +
                           Ring("b", "n[2,6]", "25 MB", ", repetitions: 3, start: 700 us");
  RunOptions plain;
  plain.fold = plain.memo = false;
  EXPECT_EQ(TimesOf(RunJobsText(text)), TimesOf(RunJobsText(text, plain)));
}

TEST(Jobs, TrafficAndCollectivesRunBesideEachOther) {
  const std::string text =
      kTwoLeaves + "jobs:\n" + Ring("ring", "n[0,4]", "50 MB") +
      "  - {name: storage, placement: {nodelist: 'n[1,5]'}, workload: {traffic: {pattern: "
      "permutation, size: 50 MB}}}\n";
  const RunResult result = RunJobsText(text);
  EXPECT_GT(JobNamed(result, "ring").slowdown(), 1.5);
  const JobResult& storage = JobNamed(result, "storage");
  EXPECT_GT(storage.slowdown(), 1.5);
  // Two messages of 50 MB, one each way; the last one's arrival is the end.
  EXPECT_EQ(storage.alone.fct_s.count, 2U);
  EXPECT_NEAR(storage.alone.fct_s.max, storage.alone.time.seconds(), 1e-12);
  EXPECT_NEAR(storage.together->fct_s.max, storage.together->time.seconds(), 1e-12);
}

// --- Background ---------------------------------------------------------------------------------

const std::string kRingJob =
    "workload: {collective: {primitive: all_reduce, algorithm: ring, size: 100 MB, ranks: 2}}\n";
const std::string kAcross = "  placement: {nodelist: 'n[0,4]'}\n";

TEST(Background, OfNoLoadChangesNothing) {
  for (const std::string engine : {"engine: flow\n", "engine: packet\n"}) {
    const std::string text = kTwoLeaves + kAcross + kRingJob + engine;
    const RunResult alone = RunJobsText(text);
    const RunResult result =
        RunJobsText(text + "background: {pattern: uniform, size: 1 MB, load: 0}\n");
    EXPECT_EQ(result.time, alone.time);
    EXPECT_EQ(result.jobs->background.value().messages, 0U);
    EXPECT_THAT(result.jobs->shared, IsEmpty());
  }
}

// Of 4 hosts left, 3 to a leaf: 3 x 0.2 of a cable cross the uplink half of the time or more.
TEST(Background, SlowsTheJobUntilItEndsAndNoLonger) {
  const std::string text = kTwoLeaves + kAcross + kRingJob;
  const auto with_load = [&](const std::string& load) {
    return RunJobsText(text + "background: {pattern: uniform, size: 1 MB, load: " + load + "}\n");
  };
  const RunResult light = with_load("0.2");
  const RunResult heavy = with_load("0.4");
  EXPECT_GT(light.jobs->jobs[0].slowdown(), 1.2);
  EXPECT_GT(heavy.jobs->jobs[0].slowdown(), light.jobs->jobs[0].slowdown());
  EXPECT_EQ(heavy.time, heavy.jobs->jobs[0].together.value().time);
  // Six senders at 12.5 GB/s post so many messages of 1 MB.
  const double expected = 6 * 0.4 * 12.5e9 * heavy.time.seconds() / 1e6;
  EXPECT_NEAR(static_cast<double>(heavy.jobs->background.value().messages), expected,
              4 * std::sqrt(expected));
  for (const SharedLink& link : heavy.jobs->shared) {
    EXPECT_GT(link.background_bytes, 0);
    EXPECT_LE(link.utilisation, 1.0);
  }
}

TEST(Background, BesideTheJobsSharesTheirCablesToo) {
  const std::string text = kTwoLeaves + "  placement: {nodelist: 'n[0-1]'}\n" + kRingJob +
                           "background: {pattern: uniform, size: 1 MB, load: 0.5, endpoints: ";
  EXPECT_EQ(RunJobsText(text + "free}\n").jobs->jobs[0].slowdown(), 1);
  EXPECT_GT(RunJobsText(text + "all}\n").jobs->jobs[0].slowdown(), 1.2);
}

TEST(Background, SlowsPacketsAboutAsMuchAsFlows) {
  const std::string text =
      kTwoLeaves + kAcross +
      "workload: {collective: {primitive: all_reduce, algorithm: ring, size: 20 MB, ranks: 2}}\n"
      "background: {pattern: permutation, size: 64 kB, load: 0.15}\n";
  const double flow = RunJobsText(text + "engine: flow\n").jobs->jobs[0].slowdown();
  const double packet = RunJobsText(text + "engine: packet\n").jobs->jobs[0].slowdown();
  EXPECT_GT(flow, 1.1);
  EXPECT_NEAR(packet, flow, 0.15 * flow);
}

// The background's own messages arrive until the end, and are no part of what led to it.
TEST(Background, IsNotInTheChainOfMessagesThatLedToTheEnd) {
  const RunResult result = RunJobsText(
      kTwoLeaves + kAcross +
      "workload: {collective: {primitive: all_reduce, algorithm: ring, size: 2 MB, ranks: "
      "2}}\n"
      "background: {pattern: uniform, size: 64 kB, load: 0.6}\nengine: packet\n");
  ASSERT_NE(result.packets, nullptr);
  ASSERT_FALSE(result.packets->critical.empty());
  EXPECT_GT(result.jobs->background.value().messages, 0U);
  for (const CriticalMessage& message : result.packets->critical) {
    EXPECT_LT(Index(message.source), 2U);
    EXPECT_LT(Index(message.destination), 2U);
  }
}

class Notes final : public ProgressSink {
 public:
  void Update(double /*fraction*/, std::string_view /*what*/) override {}
  void Note(std::string_view text) override { all.emplace_back(text); }
  std::vector<std::string> all;
};

// Four hosts of a leaf post 0.6 of what its one uplink carries each, more than half of it across.
TEST(Background, IsToldOfBeforePacketsRunWhereFlowsSayThatTheNetworkDoesNotCarryIt) {
  const std::string text =
      kTwoLeaves + kAcross +
      "workload: {collective: {primitive: all_reduce, algorithm: ring, size: 2 MB, ranks: 2}}\n"
      "engine: packet\nbackground: {pattern: uniform, size: 64 kB, load: ";
  Notes notes;
  RunJobsText(text + "0.6}\n", {.progress = &notes});
  EXPECT_THAT(notes.all, Contains(AllOf(HasSubstr("as flows, under the background"),
                                        HasSubstr("32 times as long"))));
  notes.all.clear();
  RunJobsText(text + "0.05}\n", {.progress = &notes});
  EXPECT_THAT(notes.all, Not(Contains(HasSubstr("as flows"))));
}

// --- Bad input ----------------------------------------------------------------------------------

TEST(JobsInput, OverlappingGpusAreNamed) {
  EXPECT_THAT(JobProblems(kTwoLeaves + "jobs:\n" + Ring("a", "n[0-3]", "1 MB") +
                          Ring("b", "n[2-5]", "1 MB")),
              AllOf(HasSubstr("TL1221"), HasSubstr("s.yaml:6"),
                    HasSubstr("'a' and 'b' are both on host-2, host-3")));
}

TEST(JobsInput, TrafficBesideTrafficNeedsRoom) {
  const std::string job = "  - {workload: {traffic: {pattern: uniform, size: 1 KB}}}\n";
  EXPECT_THAT(JobProblems(kTwoLeaves + "jobs:\n" + job + job),
              AllOf(HasSubstr("TL1420"), HasSubstr("job 'job 2'"), HasSubstr("`nodes`")));
}

TEST(JobsInput, MoreGpusThanThereAreIsAnErrorAtTheJob) {
  const std::string job =
      "  - {nodes: 5, workload: {collective: {primitive: all_reduce, size: 1 MB}}}\n";
  EXPECT_THAT(JobProblems(kTwoLeaves + "jobs:\n" + job + job),
              AllOf(HasSubstr("TL1420"), HasSubstr("s.yaml:6"), HasSubstr("job 'job 2'")));
  EXPECT_THAT(JobProblems(kTwoLeaves + "jobs:\n  - {nodes: 9, workload: {collective: {primitive: "
                                       "all_reduce, size: 1 MB}}}\n"),
              AllOf(HasSubstr("TL1206"), HasSubstr("9 nodes of 8")));
}

TEST(JobsInput, ListsOfNoneAndOfTenThousandAreRefused) {
  EXPECT_THAT(JobProblems(kTwoLeaves + "jobs: []\n"), HasSubstr("TL1220"));
  std::string many = kTwoLeaves + "jobs:\n";
  for (int i = 0; i < 10'000; ++i) many += "  - {workload: {collective: {}}}\n";
  EXPECT_THAT(JobProblems(many), AllOf(HasSubstr("TL1220"), HasSubstr("10000 jobs")));
}

TEST(JobsInput, AListWithoutValueIsNoMissingWorkload) {
  EXPECT_THAT(JobProblems(kTwoLeaves + "jobs: null\n"),
              AllOf(HasSubstr("'jobs' has no value"), Not(HasSubstr("'workload'"))));
}

TEST(JobsInput, NamesAreUnique) {
  EXPECT_THAT(JobProblems(kTwoLeaves + "jobs:\n" + Ring("a", "n[0-3]", "1 MB") +
                          Ring("a", "n[4-5]", "1 MB")),
              AllOf(HasSubstr("TL1220"), HasSubstr("the job of line 5 is called 'a', too")));
}

TEST(JobsInput, WhatGoesWithALoneWorkloadIsRefused) {
  const std::string jobs = "jobs:\n" + Ring("a", "n[0-3]", "1 MB");
  EXPECT_THAT(JobProblems(kTwoLeaves + jobs + kRingJob), HasSubstr("TL1203"));
  EXPECT_THAT(JobProblems(kTwoLeaves + "  placement: random\n" + jobs), HasSubstr("TL1207"));
  EXPECT_THAT(JobProblems(kTwoLeaves + jobs + "engine: analytic\n"), HasSubstr("TL1212"));
  EXPECT_THAT(JobProblems(kTwoLeaves + jobs + "packet: {window: {time: [0 s, 1 ms]}}\n"),
              HasSubstr("TL1207"));
  EXPECT_THAT(JobProblems(kTwoLeaves + "jobs:\n" + Ring("a", "n[0-3]", "1 MB", ", colour: red")),
              HasSubstr("TL1104"));
  EXPECT_THAT(JobProblems(kTwoLeaves + "jobs:\n" + Ring("a", "n[0-3]", "1 MB", ", nodes: 4")),
              HasSubstr("TL1207"));
}

TEST(JobsInput, WorkloadsThatCannotRunBesideOthersAreRefused) {
  const auto with = [](const std::string& workload) {
    return JobProblems(kTwoLeaves + "jobs:\n  - {nodes: 4, workload: {" + workload + "}}\n");
  };
  EXPECT_THAT(with("collective: {primitive: all_reduce, from: 1 MB, to: 4 MB}"),
              HasSubstr("TL1222"));
  EXPECT_THAT(with("traffic: {pattern: permutation, size: 1 MB, verb: read}"), HasSubstr("TL1222"));
  EXPECT_THAT(with("traffic: {pattern: all-to-all, size: 1 MB, parallel: 1}"), HasSubstr("TL1222"));
}

TEST(JobsInput, TooManyRepetitionsAreRefused) {
  EXPECT_THAT(JobProblems(kTwoLeaves + "jobs:\n" + Ring("a", "n[0-3]", "1 MB", ", repetitions: 0")),
              HasSubstr("TL1108"));
  EXPECT_THAT(JobProblems(kTwoLeaves +
                          "jobs:\n  - {nodes: 4, repetitions: 10000, workload: {traffic: {pattern: "
                          "permutation, size: 1 kB, rounds: 10000}}}\n"),
              AllOf(HasSubstr("TL1220"), HasSubstr("at most")));
}

// Seven post what one cable takes each, to the host of the job: what waits there only grows.
TEST(BackgroundInput, ThatTheNetworkDoesNotCarryIsRefusedWhenTheJobsWouldHardlyEnd) {
  EXPECT_THAT(
      JobProblems(kTwoLeaves + kAcross +
                  "workload: {collective: {primitive: all_reduce, algorithm: ring, size: 10 MB, "
                  "ranks: 2}}\n"
                  "background: {pattern: incast, size: 1 MB, load: 1, endpoints: all}\n"),
      AllOf(HasSubstr("TL1223"), HasSubstr("s.yaml:6"), HasSubstr("32 times as long")));
}

TEST(BackgroundInput, NeedsTwoEndpointsAndAPossibleLoad) {
  const std::string text = kTwoLeaves + "  placement: {nodelist: 'n[0-6]'}\n" +
                           "workload: {collective: {primitive: all_reduce, size: 1 MB}}\n";
  const auto with = [&](const std::string& keys) {
    return JobProblems(text + "background: {pattern: uniform, size: 1 MB, " + keys + "}\n");
  };
  EXPECT_THAT(with("load: 0.5"),
              AllOf(HasSubstr("TL1223"), HasSubstr("s.yaml:6"), HasSubstr("on the 1 endpoints")));
  EXPECT_THAT(with("load: nan"), HasSubstr("s.yaml:6"));
  EXPECT_THAT(with("load: 1.5"), HasSubstr("TL1108"));
  EXPECT_THAT(with("load: 0.5, arrivals: at_once"), HasSubstr("TL1109"));
  EXPECT_THAT(with("load: 0.5, rounds: 3"), HasSubstr("TL1104"));
  EXPECT_THAT(with("load: 0.5, endpoints: all, size: 1 MB"), HasSubstr("s.yaml:6"));
}

}  // namespace
}  // namespace trunkline
