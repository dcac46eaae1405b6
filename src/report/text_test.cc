#include <gmock/gmock.h>

#include "report/table.h"
#include "report/test_result.h"
#include "trunkline/report/report.h"
#include "trunkline/training/training.h"

namespace trunkline {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Table, AlignsColumnsByCodePoints) {
  Table table({{"name", Align::kLeft}, {"value"}});
  table.Add({"µ", "1"});
  table.Add({"abc", "1000"});
  EXPECT_EQ(table.Text("  "),
            "  name  value\n"
            "  µ         1\n"
            "  abc    1000\n");
}

TEST(Table, LeavesOutAColumnThatSaysNothing) {
  Table table({{"name", Align::kLeft}, {"step"}, {"balanced over"}, {"value"}});
  table.Add({"a", "-", "", "1"});
  table.Add({"b", "-", "", "-"});
  EXPECT_EQ(table.Text(""),
            "name  value\n"
            "a         1\n"
            "b         -\n");
}

TEST(RenderCollectiveTable, HasTheMeanOverSeedsAndItsInterval) {
  RunResult result = testing::CollectiveResult();
  EXPECT_THAT(RenderCollectiveTable(result), Not(HasSubstr("seeds")));
  RepeatResult repeat;
  repeat.seeds = {1, 2, 3};
  repeat.figures.push_back({.name = "time_s",
                            .interval = {.mean = 100e-6, .half_width = 10e-6},
                            .least = 95e-6,
                            .most = 105e-6});
  result.repeat = repeat;
  const std::string text = RenderCollectiveTable(result);
  EXPECT_THAT(text, HasSubstr("# Over 3 seeds, 1 to 3; the rest is of the first\n"));
  EXPECT_THAT(text, ContainsRegex("#   time_s +100 us +10 us +95 us +105 us"));
}

TEST(Table, CutsLongNamesInTheirMiddle) {
  Table table({{"name", Align::kLeft}, {"cables"}});
  const std::string name = "leaf-" + std::string(300, 'x') + "-ü7";
  table.Add({name, "3"});
  EXPECT_EQ(table.Text(""), "name" + std::string(68, ' ') + "  cables\nleaf-" +
                                std::string(35, 'x') + "…" + std::string(28, 'x') +
                                "-ü7       3\n");
}

TEST(Table, WrapsAtSpacesAndKeepsLongWords) {
  EXPECT_EQ(Wrap("one two three", "  ", 9), "  one two\n  three\n");
  EXPECT_EQ(Wrap("incomprehensible", "", 4), "incomprehensible\n");
}

TEST(Table, KeepsANumberWithItsUnit) {
  EXPECT_EQ(Wrap("it takes 12.5 %, or 3 ms", "", 13), "it takes\n12.5 %, or\n3 ms\n");
}

TEST(RenderText, AnswersAtAGlance) {
  EXPECT_EQ(RenderText(testing::PipelineResult()), R"(tiny on 8 GPUs
2 servers of 4 GPUs, 400 Gb/s, oversubscription 2; flow engine, seed 1
tiny, 0.1327 billion parameters: tp 1 x pp 4 x dp 2, ZeRO 1, micro-batch 1, global batch 16, sequence 2048

  step time    365 ms
  lower bound  355 ms                no run of this plan on this fabric is faster; this one takes 1.028 times it
  throughput   89,775 tokens/s       11,222 tokens/s a GPU
  MFU          18.0 %                178.1 TFLOP/s a GPU of 989 TFLOP/s
  memory       46.57 GiB             of 74.51 GiB on the fullest GPU: fits

Where the time goes on rank 6 (stage 3, gpu:1/2), the last to finish
                           time   share  mean rank
  compute                245 ms  67.1 %     245 ms  ███████████████████████████
  exposed communication   30 ms   8.2 %      30 ms  ███
  bubble                  90 ms  24.7 %      90 ms  ██████████
  other                     0 s   0.0 %        0 s

Collectives on that rank, most exposed first; time includes waiting
  collective         algorithm  protocol  ranks       size  calls   time  waiting  exposed  x bound  bus bandwidth
  dp reduce_scatter  ring       simple        2  953.7 MiB      1  30 ms      0 s    30 ms     1.50     16.67 GB/s

Narrowest link of each kind, by utilisation over the whole run
  narrowest          kind         rate    used    mean  of links
  leaf-0 -> spine-0  network  800 Gb/s  25.0 %  25.0 %         1  ██████████
  nic:0/0 -> leaf-0  network  400 Gb/s  20.0 %  15.0 %         2  ████████

What to change
  - The pipeline is idle for 24.7 % of the step. With equal stages and free transfers it is
    (pp−1)/(vp·m+pp−1) = 3/(8+3) = 27.3 %; twice as many micro-batches (global_batch 32) make that
    15.8 %.
  - workload.training.overlap.grad_reduce: true shortens the step by about 6.9 %: it takes 335 ms
    instead of 360 ms in the analytic engine.
  - dp reduce_scatter takes 1.50 times its lower bound (30 ms against 20 ms): another algorithm,
    placement or routing.

Assumptions
  - kernels overlap with nothing
  - every rank is equally fast

Warnings
  - the kernel table is made by hand [TL1399]
)");
}

TEST(RenderText, SaysThatAPlanDoesNotFitAndWhatWould) {
  RunResult result = testing::PipelineResult();
  result.fits_memory = false;
  result.memory_capacity = Bytes(40'000'000'000);
  result.tried = {
      {"", Time::Microseconds(360'000), result.memory_per_gpu},
      {"workload.training.parallel.zero: 2", Time::Microseconds(361'000), Bytes(39'000'000'000)}};
  const std::string text = RenderText(result);
  EXPECT_THAT(text, HasSubstr("DOES NOT FIT"));
  EXPECT_THAT(text, HasSubstr("workload.training.parallel.zero: 2 (36.32 GiB, a step of 361 ms)"));
}

TEST(RenderText, SaysWhyARunHasNoUpperBound) {
  RunResult result = testing::PipelineResult();
  result.iteration->without_overlap = Time::Microseconds(300'000);
  EXPECT_THAT(RenderText(result),
              ContainsRegex("upper bound +none +with nothing overlapped the analytic engine takes "
                            "300 ms, less than this run"));
}

TEST(RenderText, NamesWhoWaitsForWhom) {
  RunResult result = testing::CollectiveResult();
  result.status = RunStatus::kUnfinished;
  result.timeline.blocked.push_back({RankId(3), 7, "a message of rank 2"});
  const std::string text = RenderText(result);
  EXPECT_THAT(text, HasSubstr("a message of rank 2"));
  EXPECT_THAT(text, HasSubstr("unfinished"));
}

TEST(RenderText, DoesNotLetATitleDriveTheTerminal) {
  RunResult result = testing::PipelineResult();
  result.title = "evil\x1b[2J";
  result.assumptions = {"bad\x1b]0;title\x07"};
  EXPECT_THAT(RenderText(result), Not(HasSubstr("\x1b")));
}

TEST(RenderCollectiveTable, HasTheColumnsOfNcclTests) {
  EXPECT_EQ(RenderCollectiveTable(testing::CollectiveResult()),
            R"(# Collective test starting: all_reduce
# simulated: 2 servers of 4 GPUs, 400 Gb/s, oversubscription 2
# nThread 1 nGpus 1 minBytes 1024 maxBytes 1048576 ranks 8 validation: 0
# engine flow channels 1 seed 1
#
#                                                                  out-of-place                    in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong     bound  algorithm protocol
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)             (us)
        1024           256     float     sum      -1    10.00    0.10    0.18    N/A    10.00    0.10    0.18    N/A      5.00  ring simple
       65536         16384     float     sum      -1    20.00    3.28    5.73    N/A    20.00    3.28    5.73    N/A     10.00  ring simple
     1048576        262144     float     sum      -1   100.00   10.49   18.35    N/A   100.00   10.49   18.35    N/A     50.00  ring simple
# Avg bus bandwidth    : 8.08789
# Collective test concluded: all_reduce
)");
}

TEST(RenderText, SaysWhatBecameOfMessages) {
  const std::string text = RenderText(testing::MessagesResult());
  EXPECT_THAT(text, HasSubstr("100 flows, all delivered"));
  EXPECT_THAT(text, ContainsRegex("completion +100 +50.5 us +50 us +95 us +99 us +100 us"));
  EXPECT_THAT(text, ContainsRegex("up to 1 KB +50 +25.50 +25.00"));
  EXPECT_THAT(text, ContainsRegex("data +1,300 +5,200"));
  EXPECT_THAT(text, HasSubstr("12 marked by ECN, 3 PAUSE frames"));
  EXPECT_THAT(text, ContainsRegex("time_s +100 us +10 us +90 us +110 us"));
}

TEST(RenderText, SaysThatALoadIsNotCarried) {
  RunResult result = testing::MessagesResult();
  result.status = RunStatus::kSaturated;
  EXPECT_THAT(RenderText(result), HasSubstr("saturated: the network does not carry the load"));
  result.status = RunStatus::kInterrupted;
  const std::string text = RenderText(result);
  EXPECT_THAT(text, HasSubstr("interrupted: the figures cover what ran"));
  EXPECT_THAT(text, Not(HasSubstr("times it")));  // the bound is that of the whole
}

}  // namespace
}  // namespace trunkline
