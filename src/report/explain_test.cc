#include "report/explain.h"

#include <gmock/gmock.h>

#include <map>

#include "report/advice.h"
#include "report/test_result.h"
#include "trunkline/fabric/build.h"
#include "trunkline/report/report.h"

namespace trunkline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::map<std::string, Figure> FiguresOf(const RunResult& result) {
  std::map<std::string, Figure> figures;
  for (const Question& question : Explain(result)) {
    for (const Figure& figure : question.figures) figures[figure.name] = figure;
  }
  return figures;
}

TEST(Explain, AsksTheSevenQuestionsInCausalOrder) {
  std::vector<std::string> layers;
  for (const Question& question : Explain(testing::PipelineResult())) {
    layers.push_back(question.layer);
    EXPECT_FALSE(question.answer.empty()) << question.layer;
  }
  EXPECT_THAT(layers,
              ElementsAre("Parallelism", "Primitives", "Algorithms", "Data transport",
                          "Network stack", "Topology and routing", "System-level optimisation"));
}

TEST(Explain, PutsTheNumbersOfTheRunIntoItsFormulas) {
  auto figures = FiguresOf(testing::PipelineResult());
  EXPECT_EQ(figures["GPUs"].numbers, "1 × 4 × 2 × 1");
  EXPECT_EQ(figures["GPUs"].value, "8");
  EXPECT_EQ(figures["micro-batches a replica"].value, "8");
  EXPECT_EQ(figures["tokens a step"].value, "32,768");
  // 10^9 x 1/2 bytes.
  EXPECT_EQ(figures["dp reduce_scatter of 953.7 MiB: sent by a rank"].value, "476.837 MiB");
  // 5 x 10^8 bytes in 30 ms.
  EXPECT_EQ(figures["dp reduce_scatter of 953.7 MiB: bus bandwidth"].value, "16.67 GB/s");
  EXPECT_EQ(figures["dp reduce_scatter of 953.7 MiB: against its lower bound"].value, "1.5000");
  // 4096 / 4122.
  EXPECT_EQ(figures["payload share of a full packet"].value, "99.37 %");
  // Four NICs of 400 Gb/s below, one cable of 800 Gb/s above.
  EXPECT_EQ(figures["oversubscription of the leaf tier"].value, "2");
  // 300 + 500 + 600 + 600 + 500 + 300 ns of links, three times 400 ns of switches.
  EXPECT_EQ(figures["latency of that path"].value, "4 us");
  EXPECT_EQ(figures["use of the narrowest link, leaf-0 -> spine-0"].value, "25.0 %");
  // 3 / (8 + 3) in the closed form, 90 of 365 ms in the run.
  EXPECT_EQ(figures["bubble of equal stages and free transfers"].value, "27.3 %");
  EXPECT_EQ(figures["bubble of this run"].value, "24.7 %");
  // 5.2e14 / (0.365 x 8 x 989e12).
  EXPECT_EQ(figures["MFU"].value, "18.0 %");
  // 30 of 60 ms in flight are exposed.
  EXPECT_EQ(figures["communication hidden behind compute"].value, "50.0 %");
}

TEST(Explain, CountsWhatAStageSendsToTheNext) {
  RunResult result = testing::PipelineResult();
  result.iteration->critical_rank = RankId(0);
  // Eight micro-batches of 8,000,000 bytes.
  EXPECT_EQ(FiguresOf(result)["sent to pipeline neighbours"].value, "61.0352 MiB");
  EXPECT_EQ(FiguresOf(result)["sent to pipeline neighbours"].numbers, "8 × 7.62939 MiB");
  result.iteration->critical_rank = RankId(6);
  EXPECT_EQ(FiguresOf(result)["sent to pipeline neighbours"].numbers, "0 sends");
}

TEST(Explain, KeepsTheFractionsOfAFewBytes) {
  RunResult result = testing::CollectiveResult();
  result.rows.back().bytes = Bytes(4);  // 2 x 7/8 of them
  EXPECT_EQ(FiguresOf(result)["all_reduce of 4 B: sent by a rank"].value, "7 B");
  result.rows.back().bytes = Bytes(6);
  EXPECT_EQ(FiguresOf(result)["all_reduce of 6 B: sent by a rank"].value, "10.5 B");
}

TEST(Explain, ExplainsALoneCollective) {
  auto figures = FiguresOf(testing::CollectiveResult());
  // 2 x 7/8 of 1 MiB, and that in 100 us.
  EXPECT_EQ(figures["all_reduce of 1 MiB: sent by a rank"].value, "1.75 MiB");
  EXPECT_EQ(figures["all_reduce of 1 MiB: bus bandwidth"].value, "18.35 GB/s");
}

TEST(Explain, HoldsWithoutFabricRouterOrTraining) {
  EXPECT_EQ(Explain(RunResult{}).size(), 7);
  EXPECT_THAT(RenderExplain(RunResult{}), HasSubstr("7. System-level optimisation"));
}

TEST(Explain, DoesNotCallTcpRdma) {
  RunResult result = testing::MessagesResult();
  EXPECT_THAT(RenderExplain(result), HasSubstr("queue pair"));
  result.transport.kind = TransportKind::kTcp;
  const std::string text = RenderExplain(result);
  EXPECT_THAT(text, HasSubstr("kernel's TCP"));
  EXPECT_THAT(text, Not(HasSubstr("queue pair")));
}

TEST(Explain, CallsTheIdealTransportNoStack) {
  RunResult result = testing::CollectiveResult();
  EXPECT_THAT(RenderExplain(result), HasSubstr("infiniband, with packets"));
  result.transport_name = "ideal";
  const std::string text = RenderExplain(result);
  EXPECT_THAT(text, HasSubstr("None is modelled"));
  EXPECT_THAT(text, Not(HasSubstr("infiniband, with packets")));
}

TEST(Explain, NamesTheRunnerUpOfAChoiceAndTheBestOtherAlgorithm) {
  const auto candidate = [](const char* algorithm, Protocol protocol, int us, bool in_nccl = true) {
    return TunerCandidate{.algorithm = algorithm,
                          .protocol = protocol,
                          .transfer = Time::Microseconds(us),
                          .chosen_by_default = in_nccl};
  };
  RunResult result = testing::CollectiveResult();
  CollectiveRow& row = result.rows.back();
  row.candidates = {candidate("ring", Protocol::kSimple, 10), candidate("ring", Protocol::kLl, 12),
                    candidate("tree", Protocol::kSimple, 13)};
  const std::string three = RenderExplain(result);
  EXPECT_THAT(three, HasSubstr("ring ll, 1 channel, the runner-up"));
  EXPECT_THAT(three, HasSubstr("tree simple, 1 channel, the best other algorithm"));
  row.candidates = {candidate("ring", Protocol::kSimple, 10),
                    candidate("direct", Protocol::kSimple, 9, false)};
  const std::string two = RenderExplain(result);
  EXPECT_THAT(two, HasSubstr("direct simple, 1 channel, which NCCL does not run by itself"));
  EXPECT_THAT(two, Not(HasSubstr("runner-up")));
  row.candidates.resize(1);
  EXPECT_THAT(RenderExplain(result), Not(HasSubstr("runner-up")));
}

TEST(Advice, GivesTheClosedFormOfTheBubble) {
  const std::vector<std::string> advice = AdviceOf(testing::PipelineResult());
  ASSERT_EQ(advice.size(), 3);
  // 3 / (8 + 3) and 3 / (16 + 3).
  EXPECT_THAT(advice[0], HasSubstr("3/(8+3) = 27.3 %"));
  EXPECT_THAT(advice[0], HasSubstr("(global_batch 32) make that 15.8 %"));
}

TEST(Advice, PromisesNoBubbleThatTheRunHasNot) {
  RunResult result = testing::PipelineResult();
  // 15 % of the step, and twice the micro-batches would have 15.8 %.
  result.iteration->bubble = Time::Microseconds(54'750);
  for (const std::string& advice : AdviceOf(result)) {
    EXPECT_THAT(advice, Not(HasSubstr("make that")));
  }
  // Nor is it told of where it is not the largest loss.
  result.iteration->bubble = result.iteration->exposed_comm;
  for (const std::string& advice : AdviceOf(result)) {
    EXPECT_THAT(advice, Not(HasSubstr("pipeline is idle")));
  }
}

// A micro-batch for each replica: all but one stage wait for the last one's update at the end.
TEST(Advice, NamesTheBubbleAndNotTheWaitThatComesOfIt) {
  RunResult result = testing::PipelineResult(1);
  result.iteration->bubble = result.iteration->time - result.iteration->compute -
                             result.iteration->exposed_comm - result.iteration->other;
  StepCollective& world = result.step_collectives.emplace_back(result.step_collectives[0]);
  world.role = "world";
  world.waiting = result.iteration->bubble;
  world.time = world.waiting + world.timed;
  result.tried = {{.change = "", .time = Time::Microseconds(200'000)},
                  {.change = "workload.training.global_batch: 4",
                   .time = Time::Microseconds(300'000),
                   .batches = 2,
                   .of_pipeline = true},
                  {.change = "workload.training.parallel: {vp: 4}",
                   .time = Time::Microseconds(170'000),
                   .of_pipeline = true},
                  {.change = "workload.training.parallel: {vp: 2}",
                   .time = Time::Microseconds(180'000),
                   .of_pipeline = true},
                  {.change = "workload.training.parallel: {pp: 2}",
                   .time = Time::Microseconds(250'000),
                   .of_pipeline = true}};
  const std::vector<std::string> advice = AdviceOf(result);
  EXPECT_THAT(advice.front(), HasSubstr("The pipeline is idle for"));
  // 300 ms for two batches are 150 ms for one, the fastest; slower ones and the second of a kind
  // are not told of.
  EXPECT_THAT(
      advice.front(),
      HasSubstr("The analytic engine, which takes 200 ms as it is, takes 300 ms for 2 times "
                "the tokens with workload.training.global_batch: 4; 170 ms with "
                "workload.training.parallel: {vp: 4}."));
  for (const std::string& text : advice) EXPECT_THAT(text, Not(HasSubstr("last member")));
}

TEST(Advice, HoldsNoCollectiveAgainstItsBoundInWhichEarlyMembersHadMovedBytes) {
  RunResult result = testing::PipelineResult();
  StepCollective& early = result.step_collectives[0];
  early.timed_count = 0;
  early.timed = Time();
  early.row.busbw_Bps = 0;
  for (const std::string& text : AdviceOf(result)) EXPECT_THAT(text, Not(HasSubstr("lower bound")));
  EXPECT_THAT(RenderText(result),
              HasSubstr("leave out: 1 of 1 of dp reduce_scatter of 953.7 MiB. Members"));
  EXPECT_THAT(RenderText(result), Not(HasSubstr("bus bandwidth\n")));  // no call, no column
}

TEST(Advice, SaysWhatAChangeGainedWhenItWasTried) {
  const std::vector<std::string> advice = AdviceOf(testing::PipelineResult());
  ASSERT_EQ(advice.size(), 3);
  EXPECT_THAT(advice[1], HasSubstr("workload.training.overlap.grad_reduce: true shortens "
                                   "the step by about 6.9 %: it takes 335 ms instead of 360 ms"));
}

TEST(Advice, NamesChangesThatFitAndWhatTheyComeTo) {
  RunResult result = testing::PipelineResult();
  result.fits_memory = false;
  result.tried = {{"", Time::Microseconds(360'000), Bytes(90)},
                  {"slower", Time::Microseconds(400'000), Bytes(70)}};
  EXPECT_THAT(AdviceOf(result).front(), HasSubstr("It fits with slower (70 B, a step of 400 ms)"));
  result.tried.pop_back();
  EXPECT_THAT(AdviceOf(result).front(), HasSubstr("alone makes it fit"));
}

TEST(Advice, NamesTheLinkThatIsSlowerThanItsLike) {
  auto spec = ParseFabricSpec("single-switch:link=400Gb/s").value_or(FabricSpec());
  spec.nodes = 8;
  const auto run = [&spec] {
    RunResult result;
    auto built = BuildFabric(spec);
    EXPECT_TRUE(built.has_value());
    result.fabric = std::make_shared<const Fabric>(std::move(built->fabric));
    result.time = Time::Microseconds(1'000);
    for (std::uint32_t i = 0; i < result.fabric->link_count(); i += 2) {  // one direction
      result.timeline.links.push_back({LinkId(i), 1'000'000});
    }
    return result;
  };
  EXPECT_THAT(AdviceOf(run()), IsEmpty());
  spec.faults.push_back({.target = "host-3", .kind = StaticFault::Kind::kDegrade, .fraction = 0.1});
  EXPECT_THAT(AdviceOf(run()),
              ElementsAre(HasSubstr("host-3 -> leaf-0 runs at 40 Gb/s, 7 like it at 400 Gb/s")));
}

TEST(Advice, NamesTheRunnerUpOfTheChoice) {
  RunResult result = testing::CollectiveResult();
  CollectiveRow& row = result.rows.back();
  row.candidates = {{.algorithm = "ring", .latency = Time::Microseconds(90)},
                    {.algorithm = "tree", .latency = Time::Microseconds(95)}};
  EXPECT_THAT(AdviceOf(result).front(),
              HasSubstr("tree simple is estimated at 95 us, ring simple at 90 us."));
}

TEST(Advice, HoldsACollectiveAgainstItsLowerBound) {
  RunResult result = testing::PipelineResult();
  result.tried.clear();
  result.step_collectives[0].role = "shard";
  const std::vector<std::string> advice = AdviceOf(result);
  ASSERT_EQ(advice.size(), 2);
  EXPECT_THAT(advice[1], HasSubstr("1.50 times its lower bound"));
  EXPECT_THAT(advice[1], HasSubstr("(30 ms against 20 ms)"));
}

TEST(Advice, TellsLatencyFromBandwidth) {
  RunResult result = testing::PipelineResult();
  result.tried.clear();
  result.step_collectives[0].role = "world";
  result.step_collectives[0].row.bound = Time::Microseconds(10);
  // 30 ms against 10 us.
  EXPECT_THAT(AdviceOf(result)[1], HasSubstr("takes 3,000 times its lower bound"));
  EXPECT_THAT(AdviceOf(result)[1], HasSubstr("not bandwidth but latency"));
}

TEST(Advice, HoldsACollectiveAgainstItsBoundFromTheLastArrivalOn) {
  RunResult result = testing::PipelineResult();
  result.tried.clear();
  StepCollective& reduce = result.step_collectives[0];
  reduce.waiting = Time::Microseconds(100'000);
  reduce.time += reduce.waiting;
  // Still 30 ms against 20 ms, and what to gain is no wait.
  const std::vector<std::string> advice = AdviceOf(result);
  ASSERT_EQ(advice.size(), 2);  // the pipeline's bubble is none of its own then
  EXPECT_THAT(advice[0], HasSubstr("waits 100 ms for its last member"));
  EXPECT_THAT(advice[1], HasSubstr("1.50 times its lower bound"));
  EXPECT_THAT(advice[1], HasSubstr("(30 ms against 20 ms)"));
}

TEST(Advice, HoldsALoneCollectiveAgainstItsBound) {
  // 100 us against 50 us.
  EXPECT_THAT(AdviceOf(testing::CollectiveResult()),
              ElementsAre(HasSubstr("2.00 times its lower bound")));
}

TEST(Advice, SaysThatAFullLinkLeavesNothingToASchedule) {
  RunResult result = testing::PipelineResult();
  // leaf-0 -> spine-0 at 25 % becomes 95 %.
  std::int64_t& bytes = result.timeline.links.front().wire_bytes;
  bytes = bytes / 25 * 95;
  EXPECT_THAT(AdviceOf(result).front(),
              HasSubstr("leaf-0 -> spine-0 is busy for 95.0 % of the run"));
}

TEST(Advice, SaysNothingWhenNothingFollows) { EXPECT_THAT(AdviceOf(RunResult{}), IsEmpty()); }

}  // namespace
}  // namespace trunkline
