#include "training/stage_memory.h"

#include <gtest/gtest.h>

#include "training/test_models.h"

namespace trunkline {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

struct KorthikantiCase {
  const char* name;
  std::int64_t layers, hidden, heads, pp, vp, micro_batch, micro_batches;
  double none_gib;       // tensor parallelism alone
  double selective_gib;  // sequence parallelism and selective recompute
};

// arXiv 2205.05198, Figure 1 and Table 3: activations of the first stage, tp 8, sequence 2048.
constexpr KorthikantiCase kFigure1[] = {
    {"22B", 48, 6144, 64, 1, 1, 4, 1, 59.25, 9.5625},
    {"175B", 96, 12288, 96, 8, 3, 1, 64, 66.84375, 12.3515625},
    {"530B", 105, 20480, 128, 35, 3, 1, 280, 114.0234375, 23.076171875},
    {"1T", 128, 25600, 160, 64, 1, 1, 512, 131.25, 26.5625},
};

TrainingPlan PlanOf(const KorthikantiCase& row) {
  TrainingPlan plan;
  plan.tp = 8;
  plan.pp = row.pp;
  plan.vp = row.vp;
  plan.schedule = row.vp > 1 ? PipelineSchedule::kInterleaved : PipelineSchedule::kOneFOneB;
  plan.micro_batch = row.micro_batch;
  plan.global_batch = row.micro_batch * row.micro_batches;
  plan.sequence = 2048;
  plan.flash_attention = false;
  return plan;
}

double ActivationGib(const KorthikantiCase& row, TrainingPlan plan) {
  const ModelConfig model = testing::MegatronGpt(row.layers, row.hidden, row.heads);
  const Stage stage = CutIntoStages(model, plan).front();
  return static_cast<double>(LayerActivationBytes(model, plan) *
                             PeakLayersInFlight(ShapeOf(plan), stage, 0)) /
         kGib;
}

TEST(StageMemory, MeetsTheActivationsOfKorthikantiEtAlFigure1) {
  for (const KorthikantiCase& row : kFigure1) {
    TrainingPlan plan = PlanOf(row);
    plan.sequence_parallel = false;
    EXPECT_DOUBLE_EQ(ActivationGib(row, plan), row.none_gib) << row.name;
    plan.sequence_parallel = true;
    plan.recompute = Recompute::kSelective;
    EXPECT_DOUBLE_EQ(ActivationGib(row, plan), row.selective_gib) << row.name;
  }
}

// The same paper, Table 2, per layer in units of sbh.
TEST(StageMemory, MeetsTheLayerFormulasOfKorthikantiEtAlTable2) {
  const ModelConfig model = testing::MegatronGpt(96, 12288, 96);
  TrainingPlan plan = PlanOf(kFigure1[1]);
  const std::int64_t sbh = 2048 * 12288;
  const std::int64_t scores = 5 * 96 * 2048 / 12288;  // 5as/h = 80
  plan.tp = 1;
  EXPECT_EQ(LayerActivationBytes(model, plan), sbh * (34 + scores));
  plan.tp = 8;
  EXPECT_EQ(LayerActivationBytes(model, plan), sbh * (34 + scores) / 8);
  plan.recompute = Recompute::kFull;
  plan.sequence_parallel = false;
  EXPECT_EQ(LayerActivationBytes(model, plan), 2 * sbh);
}

TEST(StageMemory, HoldsAsManyMicroBatchesAsTheScheduleSays) {
  TrainingPlan plan;
  plan.pp = 4;
  plan.global_batch = 8;
  plan.sequence = 4096;
  const std::vector<Stage> stages = CutIntoStages(testing::Llama8B(), plan);
  for (std::uint32_t i = 0; i < 4; ++i) {
    plan.schedule = PipelineSchedule::kGpipe;
    EXPECT_EQ(PeakLayersInFlight(ShapeOf(plan), stages[i], i), 8 * 8);
    plan.schedule = PipelineSchedule::kOneFOneB;
    EXPECT_EQ(PeakLayersInFlight(ShapeOf(plan), stages[i], i), (4 - i) * 8);
  }
}

// Megatron-LM, docs/source/api-guide/core/dist_optimizer.md: bytes a parameter.
TEST(StageMemory, ShardsModelStatesAsTheDistributedOptimizerDoes) {
  TrainingPlan plan;
  plan.dp = 8;
  plan.global_batch = 8;
  plan.sequence = 4096;
  const ModelConfig model = testing::Llama8B();
  const Stage stage = CutIntoStages(model, plan).front();
  const std::int64_t parameters = stage.parameters();
  const auto states = [&](int zero) {
    plan.zero = zero;
    const StageMemory memory = ComputeStageMemory(model, plan, stage, 0);
    return static_cast<double>((memory.weights + memory.gradients + memory.optimizer).count()) /
           static_cast<double>(parameters);
  };
  EXPECT_DOUBLE_EQ(states(0), 18.0);
  EXPECT_NEAR(states(1), 6 + 12.0 / 8, 1e-6);
  EXPECT_NEAR(states(2), 2 + 16.0 / 8, 1e-6);
  EXPECT_NEAR(states(3), 18.0 / 8, 1e-6);
  plan.grad_fp32 = false;
  EXPECT_DOUBLE_EQ(states(0), 20.0);
  EXPECT_NEAR(states(1), 4 + 16.0 / 8, 1e-6);
}

TEST(StageMemory, KeepsTheLogitsOfEveryMicroBatchInFlight) {
  TrainingPlan plan;
  plan.pp = 4;
  plan.global_batch = 8;
  plan.sequence = 4096;
  const ModelConfig model = testing::Llama8B();
  const Stage stage = CutIntoStages(model, plan).back();
  const auto other = [&](PipelineSchedule schedule) {
    plan.schedule = schedule;
    return ComputeStageMemory(model, plan, stage, 3).other.count();
  };
  // Llama 3's vocabulary of 128256 is a multiple of 128. 1F1B holds one micro-batch on the last
  // stage, GPipe all 8.
  EXPECT_EQ(other(PipelineSchedule::kGpipe) - other(PipelineSchedule::kOneFOneB),
            7 * 4 * std::int64_t{4096} * 128256);
}

TEST(StageMemory, HoldsAWholeBucketWhileZero2ReducesIt) {
  TrainingPlan plan;
  plan.dp = 64;
  plan.global_batch = 64;
  plan.sequence = 4096;
  const ModelConfig model = testing::Llama8B();
  const auto other = [&](int zero, std::size_t stage) {
    plan.zero = zero;
    const std::vector<Stage> stages = CutIntoStages(model, plan);
    return ComputeStageMemory(model, plan, stages[stage], static_cast<std::uint32_t>(stage))
        .other.count();
  };
  // A layer has 218,112,000 parameters, more than 64 million, so a bucket is a unit; the largest is
  // the head of 128256 x 4096 with the final norm.
  EXPECT_EQ(other(2, 0) - other(1, 0), 4 * (std::int64_t{128256} * 4096 + 4096));
  // All of the last stage: 16 layers, the final norm and the head.
  plan.pp = 2;
  EXPECT_EQ(other(2, 1) - other(1, 1),
            4 * (16 * std::int64_t{218'112'000} + 4096 + std::int64_t{128256} * 4096));
}

TEST(StageMemory, ShardsOverTheShardGroupOnly) {
  TrainingPlan plan;
  plan.dp = 8;
  plan.zero = 3;
  plan.fsdp_shard_size = 4;
  plan.global_batch = 8;
  plan.sequence = 4096;
  const ModelConfig model = testing::Llama8B();
  const Stage stage = CutIntoStages(model, plan).front();
  EXPECT_EQ(ComputeStageMemory(model, plan, stage, 0).weights.count(), stage.parameters() * 2 / 4);
}

// A lone replica has nothing to gather: its weights are whole anyway.
TEST(StageMemory, ShardingOverOneRankCostsNoMemory) {
  TrainingPlan plan;
  plan.global_batch = 8;
  plan.sequence = 4096;
  const ModelConfig model = testing::Llama8B();
  const Stage stage = CutIntoStages(model, plan).front();
  const Bytes plain = ComputeStageMemory(model, plan, stage, 0).total();
  plan.zero = 3;
  EXPECT_EQ(ComputeStageMemory(model, plan, stage, 0).total(), plain);
}

TEST(CutIntoStages, CutsEveryParameterOnce) {
  TrainingPlan plan;
  const ModelConfig model = testing::Llama70B();  // vocabulary and widths need no padding at tp 1
  EXPECT_EQ(CutIntoStages(model, plan).front().parameters(), model.parameters());
  plan.pp = 4;
  std::int64_t sum = 0;
  for (const Stage& stage : CutIntoStages(model, plan)) sum += stage.parameters();
  EXPECT_EQ(sum, model.parameters());
}

}  // namespace
}  // namespace trunkline
