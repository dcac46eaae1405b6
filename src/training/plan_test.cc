#include "trunkline/training/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "training/test_models.h"

namespace trunkline {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Plan70B;

// The hint of the diagnostic with `code`, or "absent".
std::string HintOf(const Diagnostics& found, std::string_view code) {
  for (const Diagnostic& diagnostic : found) {
    if (diagnostic.code == code) return diagnostic.hint;
  }
  return "absent";
}

TEST(CheckPlan, AcceptsLlama70BOn512Gpus) {
  EXPECT_THAT(CheckPlan(testing::Llama70B(), Plan70B(), 512), IsEmpty());
}

TEST(CheckPlan, NamesTheDataParallelSizeThatFillsTheCluster) {
  TrainingPlan plan = Plan70B();
  plan.dp = 8;
  EXPECT_THAT(HintOf(CheckPlan(testing::Llama70B(), plan, 512), "TL1321"), HasSubstr("dp 16"));
}

TEST(CheckPlan, ListsFactorisationsThatFillTheClusterWhenNoDataParallelSizeDoes) {
  TrainingPlan plan = Plan70B();
  plan.pp = 3;
  const std::string hint = HintOf(CheckPlan(testing::Llama70B(), plan, 512), "TL1321");
  EXPECT_THAT(hint, HasSubstr("tp 8 x pp 4 x dp 16"));
}

TEST(CheckPlan, OffersOnlyFactorisationsThatItAccepts) {
  TrainingPlan plan = Plan70B();
  plan.tp = 16;  // 8 key-value heads
  const Diagnostics found = CheckPlan(testing::Llama70B(), plan, 512);
  ASSERT_GE(found.size(), 2U);
  EXPECT_EQ(found.front().code, "TL1322");
  const std::string hint = HintOf(found, "TL1321");
  EXPECT_THAT(hint, Not(HasSubstr("tp 16")));
  std::istringstream words(hint.substr(hint.find(": ") + 1));
  int offered = 0;
  for (std::string tp, x, pp, y, dp, value;
       words >> tp >> plan.tp >> x >> pp >> plan.pp >> y >> dp >> value;) {
    plan.dp = std::stoll(value);
    EXPECT_THAT(CheckPlan(testing::Llama70B(), plan, 512), IsEmpty()) << plan.tp << ' ' << plan.pp;
    ++offered;
  }
  EXPECT_GE(offered, 2);
}

// vp 1 cuts no interleaved schedule, whatever the extents: that alone is wrong, not the nodes.
TEST(CheckPlan, ListsFactorisationsWhereTheScheduleIsToBeMendedToo) {
  using enum PipelineSchedule;
  struct Case {
    PipelineSchedule schedule;
    std::int64_t tp, pp, vp;
    const char* code;
    const char* hint;
  };
  const Case cases[] = {
      {kInterleaved, 8, 8, 1, "TL1321", "with vp 2: with tp 8 and pp 8, dp 8 fills the cluster"},
      {kInterleaved, 6, 8, 1, "TL1322", "with vp 2: use tp 4 or 8"},
      // 80 layers are no multiple of 16 x 2 chunks, but of 16 x 5.
      {kInterleaved, 8, 16, 1, "TL1321", "with vp 5: with tp 8 and pp 16, dp 4 fills the cluster"},
      {kInterleaved, 8, 1, 1, "TL1321",
       "with schedule 1f1b: with tp 8 and pp 1, dp 64 fills the cluster"},
      {kOneFOneB, 8, 8, 2, "TL1321",
       "with schedule interleaved: with tp 8 and pp 8, dp 8 fills the cluster"}};
  TrainingPlan plan = Plan70B();
  for (const Case& c : cases) {
    plan.schedule = c.schedule;
    plan.tp = c.tp;
    plan.pp = c.pp;
    plan.vp = c.vp;
    EXPECT_EQ(HintOf(CheckPlan(testing::Llama70B(), plan, 512), c.code), c.hint);
  }
}

// 7 chunks a rank cut no 20 layers, but vp is what 1f1b does not have: pp is right as it is.
TEST(CheckPlan, AsksForNoOtherStagesWhereVpAloneIsWrong) {
  TrainingPlan plan = Plan70B();
  plan.pp = 4;
  plan.dp = 4;
  plan.vp = 7;
  plan.schedule = PipelineSchedule::kOneFOneB;
  EXPECT_EQ(HintOf(CheckPlan(testing::Llama70B(), plan, 128), "TL1324"),
            "with vp 1: with tp 8 and pp 4, dp 4 fills the cluster");
  plan.vp = 1;
  EXPECT_THAT(CheckPlan(testing::Llama70B(), plan, 128), IsEmpty());
}

// What such a hint lists has no fault.
TEST(CheckPlan, ListsFactorisationsThatHold) {
  TrainingPlan plan = Plan70B();
  plan.schedule = PipelineSchedule::kInterleaved;
  plan.pp = 3;
  const std::string hint = HintOf(CheckPlan(testing::Llama70B(), plan, 512), "TL1321");
  EXPECT_THAT(hint, HasSubstr("with vp 2: these fill 512 GPUs: "));
  EXPECT_THAT(hint, HasSubstr("tp 8 x pp 4 x dp 16"));
  plan.pp = 4;
  plan.vp = 2;
  EXPECT_THAT(CheckPlan(testing::Llama70B(), plan, 512), IsEmpty());
}

TEST(CheckPlan, RefusesTensorParallelismThatDoesNotDivideTheHeads) {
  TrainingPlan plan = Plan70B();
  plan.tp = 6;
  EXPECT_THAT(HintOf(CheckPlan(testing::Llama70B(), plan, 384), "TL1322"), HasSubstr("4 or 8"));
}

// 25 heads: of 1, 5 and 25 only 1 divides 512 GPUs.
TEST(CheckPlan, SuggestsNoTensorParallelismThatTheClusterCannotHold) {
  ModelConfig model = testing::Llama70B();
  model.heads = model.kv_heads = 25;
  model.ffn = 6400;
  TrainingPlan plan = Plan70B();
  const std::string hint = HintOf(CheckPlan(model, plan, 512), "TL1322");
  EXPECT_EQ(hint, "use tp 1, which dp 128 fills the cluster with");
  plan.tp = 1;
  plan.dp = 128;
  EXPECT_THAT(CheckPlan(model, plan, 512), IsEmpty());
}

TEST(CheckPlan, RefusesTensorParallelismBeyondTheKeyValueHeads) {
  TrainingPlan plan = Plan70B();
  plan.tp = 16;
  EXPECT_THAT(HintOf(CheckPlan(testing::Llama70B(), plan, 1024), "TL1322"), HasSubstr("tp 8"));
}

TEST(CheckPlan, SuggestsALayoutWhenStagesDoNotDivideTheLayers) {
  TrainingPlan plan = Plan70B();
  plan.pp = 16;
  plan.dp = 128;
  plan.global_batch = 2048;
  const Diagnostics found = CheckPlan(testing::Llama405B(), plan, 16384);
  // 126 layers over 16 stages: two of 7 beside embedding and head, 14 of 8.
  EXPECT_THAT(HintOf(found, "TL1324"),
              HasSubstr("[7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7]"));
}

TEST(CheckPlan, AcceptsALayoutThatAddsUpToTheLayers) {
  TrainingPlan plan = Plan70B();
  plan.pp = 16;
  plan.dp = 128;
  plan.global_batch = 2048;
  plan.layout = {7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7};
  EXPECT_THAT(CheckPlan(testing::Llama405B(), plan, 16384), IsEmpty());
  plan.layout.back() = 8;
  EXPECT_THAT(CheckPlan(testing::Llama405B(), plan, 16384),
              Contains(Field(&Diagnostic::code, "TL1325")));
}

TEST(CheckPlan, NamesTheBatchesAroundOneThatDoesNotDivide) {
  TrainingPlan plan = Plan70B();
  plan.global_batch = 500;
  EXPECT_THAT(HintOf(CheckPlan(testing::Llama70B(), plan, 512), "TL1326"), HasSubstr("496 or 512"));
}

TEST(CheckPlan, ReportsEveryViolationAtOnce) {
  TrainingPlan plan = Plan70B();
  plan.global_batch = 500;
  plan.sequence = 1'000'000;
  plan.order = "tp-dp";
  EXPECT_EQ(CheckPlan(testing::Llama70B(), plan, 512).size(), 3U);
}

TEST(CheckPlan, SurvivesAbsurdExtentsWithoutOverflow) {
  for (const std::int64_t absurd : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, INT64_MAX}) {
    TrainingPlan plan = Plan70B();
    plan.tp = absurd;
    plan.pp = absurd;
    plan.dp = absurd;
    plan.micro_batch = absurd;
    plan.global_batch = absurd;
    EXPECT_THAT(CheckPlan(testing::Llama70B(), plan, 512),
                Contains(Field(&Diagnostic::code, "TL1320")));
  }
}

TEST(CheckPlan, InterleavingNeedsSeveralChunksAndStages) {
  TrainingPlan plan = Plan70B();
  plan.schedule = PipelineSchedule::kInterleaved;
  EXPECT_NE(HintOf(CheckPlan(testing::Llama70B(), plan, 512), "TL1323"), "absent");
  plan.vp = 5;
  EXPECT_THAT(CheckPlan(testing::Llama70B(), plan, 512), IsEmpty());
}

TEST(CheckPlan, RefusesMoreTasksThanFitInMemory) {
  TrainingPlan plan = Plan70B();
  plan.global_batch = 16 * 60'000;
  EXPECT_THAT(HintOf(CheckPlan(testing::Llama70B(), plan, 512), "TL1332"),
              HasSubstr("at most 7575 micro-batches"));
}

TEST(CheckPlan, RefusesActivationsThatCannotBeCounted) {
  ModelConfig model = testing::Llama70B();
  model.max_positions = 1'000'000'000;
  TrainingPlan plan = Plan70B();
  plan.sequence = 1'000'000'000;
  plan.flash_attention = false;
  EXPECT_NE(HintOf(CheckPlan(model, plan, 512), "TL1333"), "absent");
}

TEST(CheckPlan, RefusesHeadsTooWideForTheirActivationsToBeCounted) {
  ModelConfig model = testing::Llama70B();
  model.max_positions = 100'000'000;
  TrainingPlan plan = Plan70B();
  plan.sequence = 100'000'000;
  EXPECT_THAT(CheckPlan(model, plan, 512), IsEmpty());
  model.head_dim = 1'000'000;
  EXPECT_NE(HintOf(CheckPlan(model, plan, 512), "TL1333"), "absent");
}

TEST(CheckPlan, SuggestsOnlyTensorParallelismThatDividesHeadsAndMlpAlike) {
  ModelConfig model = testing::Llama70B();
  model.ffn = 28674;  // 2 x 3^5 x 59
  // 512 / (2 x 4)
  EXPECT_EQ(HintOf(CheckPlan(model, Plan70B(), 512), "TL1322"),
            "use tp 2, which dp 64 fills the cluster with");
  TrainingPlan plan = Plan70B();
  plan.pp = 3;
  EXPECT_THAT(HintOf(CheckPlan(model, plan, 512), "TL1321"), Not(HasSubstr("tp 4 x")));
}

TEST(CheckPlan, TensorParallelOverlapNeedsSequenceParallelism) {
  TrainingPlan plan = Plan70B();
  plan.overlap_tp = true;
  EXPECT_THAT(CheckPlan(testing::Llama70B(), plan, 512), IsEmpty());
  plan.sequence_parallel = false;
  EXPECT_NE(HintOf(CheckPlan(testing::Llama70B(), plan, 512), "TL1331"), "absent");
}

TEST(CheckPlan, ShardGroupsMustDivideTheReplicas) {
  TrainingPlan plan = Plan70B();
  plan.zero = 3;
  plan.fsdp_shard_size = 5;
  EXPECT_THAT(HintOf(CheckPlan(testing::Llama70B(), plan, 512), "TL1327"), HasSubstr("4 or 8"));
}

}  // namespace
}  // namespace trunkline
