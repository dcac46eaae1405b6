#include "trunkline/training/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "training/graph_runner.h"
#include "training/rank_grid.h"
#include "training/test_models.h"
#include "trunkline/base/random.h"
#include "trunkline/fabric/accelerator.h"

namespace trunkline {
namespace {

Accelerator Sxm5() {
  Accelerator h100;
  h100.name = "H100-SXM5-80GB";
  h100.bf16 = FlopRate(989e12);
  h100.fp8 = FlopRate(1979e12);
  h100.best_matmul_bf16 = FlopRate(794.5e12);
  h100.memory = Bytes(80'000'000'000);
  h100.memory_bandwidth = Rate::GigabytesPerSecond(3350);
  return h100;
}

// A Llama of four layers, small enough to run every rank of many plans.
ModelConfig SmallLlama() {
  ModelConfig model = testing::Llama31(4, 1024, 2048, 8);
  model.vocab = 4096;
  return model;
}

TrainingPlan SmallPlan(std::int64_t tp, std::int64_t pp, std::int64_t dp, std::int64_t batches) {
  TrainingPlan plan;
  plan.tp = tp;
  plan.pp = pp;
  plan.dp = dp;
  plan.global_batch = dp * batches;
  plan.sequence = 1024;
  return plan;
}

TrainingWorkload Build(const ModelConfig& model, const TrainingPlan& plan) {
  EXPECT_THAT(CheckPlan(model, plan, plan.ranks()), ::testing::IsEmpty());
  Result<TrainingWorkload> workload = BuildTraining(model, plan, Sxm5());
  EXPECT_TRUE(workload.has_value());
  return std::move(*workload);
}

// What engines ask of a layout: the group of every rank in every role that its program uses, and
// its neighbours.
std::vector<std::uint64_t> GroupsOf(const TaskGraph& graph) {
  std::vector<std::uint64_t> answers;
  for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
    const RankId rank{r};
    answers.push_back(graph.program_of(rank));
    std::set<std::uint32_t> roles;
    for (const Task& task : graph.program(graph.program_of(rank)).tasks) {
      if (task.kind == TaskKind::kCollective) roles.insert(task.role);
    }
    for (const std::uint32_t role : roles) {
      for (const RankId member : graph.members(graph.communicator(rank, role))) {
        answers.push_back(role);
        answers.push_back(Index(member));
      }
    }
    for (const PeerRole role : {PeerRole::kNextStage, PeerRole::kPreviousStage}) {
      answers.push_back(Index(graph.peer(rank, std::to_underlying(role))));
    }
  }
  return answers;
}

TEST(BuildTraining, LayoutsOfOneNameGroupTheirRanksAlike) {
  std::map<std::string, std::vector<std::uint64_t>> of_name;
  for (const char* order : {"tp-cp-dp-pp", "dp-tp-cp-pp", "tp-cp-pp-dp"}) {
    for (const auto& [tp, pp, dp] : {std::array{2, 2, 4}, {2, 4, 2}, {4, 2, 2}, {1, 4, 4}}) {
      for (const std::int64_t batches : {4, 8}) {
        TrainingPlan plan = SmallPlan(tp, pp, dp, batches);
        plan.order = order;
        plan.overlap_tp = batches == 8;
        const TrainingWorkload workload = Build(SmallLlama(), plan);
        const auto groups = GroupsOf(*workload.graph);
        const auto [known, added] = of_name.try_emplace(workload.graph->layout(), groups);
        EXPECT_EQ(added, batches == 4) << workload.graph->layout();
        EXPECT_EQ(known->second, groups) << workload.graph->layout();
      }
    }
  }
}

TEST(BuildTraining, EveryPlanRunsToItsEndWithMatchingCollectivesAndMessages) {
  std::vector<TrainingPlan> plans;
  for (const std::int64_t tp : {1, 2}) {
    for (const std::int64_t pp : {1, 2, 4}) {
      for (const std::int64_t dp : {1, 4}) {
        for (const std::int64_t batches : {1, 3, 8}) {
          for (const int zero : {0, 1, 2, 3}) {
            TrainingPlan plan = SmallPlan(tp, pp, dp, batches);
            plan.zero = zero;
            plan.schedule = batches == 3 ? PipelineSchedule::kGpipe : PipelineSchedule::kOneFOneB;
            if (pp == 2) {
              plan.schedule = PipelineSchedule::kInterleaved;
              plan.vp = 2;
            }
            plans.push_back(plan);
          }
        }
      }
    }
  }
  for (const TrainingPlan& plan : plans) {
    for (const bool other : {false, true}) {
      TrainingPlan varied = plan;
      if (other) {
        varied.sequence_parallel = false;
        varied.overlap_grad_reduce = false;
        varied.overlap_param_gather = false;
        varied.overlap_p2p = false;
        varied.order = "dp-cp-pp-tp";
        varied.recompute = Recompute::kFull;
        if (varied.zero == 3 && varied.dp == 4) varied.fsdp_shard_size = 2;
      }
      ModelConfig model = SmallLlama();
      model.tied_embeddings = other;
      const TrainingWorkload workload = Build(model, varied);
      const Time end = GraphRunner(*workload.graph).Run();
      const Time busiest = *std::ranges::max_element(workload.stage_compute);
      EXPECT_GE(end, busiest);
      if (HasFailure()) {
        FAIL() << "tp " << plan.tp << " pp " << plan.pp << " dp " << plan.dp << " zero "
               << plan.zero << " m " << plan.micro_batches() << " other " << other;
      }
    }
  }
}

TEST(BuildTraining, OverlappedTensorTrafficRunsBesideTheComputeItFeeds) {
  TrainingPlan plan = SmallPlan(4, 4, 1, 2);
  plan.overlap_tp = true;
  const TrainingWorkload workload = Build(SmallLlama(), plan);
  EXPECT_GE(GraphRunner(*workload.graph).Run(), workload.stage_compute.front());
  // No compute task depends on the AllGather that feeds it.
  const Program& program = workload.graph->program(1);
  std::size_t gathers_waited_for = 0;
  for (const Task& task : program.tasks) {
    if (workload.graph->labels()[task.label].name != "forward attention") continue;
    for (const std::uint32_t dependency : program.dependencies_of(task)) {
      const Task& before = program.tasks[dependency];
      gathers_waited_for += workload.graph->labels()[before.label].name == "tp all_gather" ? 1 : 0;
    }
  }
  EXPECT_EQ(gathers_waited_for, 0U);
}

TEST(BuildTraining, WithoutPipelineAFreeNetworkLeavesOnlyCompute) {
  for (const int zero : {0, 1, 3}) {
    TrainingPlan plan = SmallPlan(2, 1, 2, 4);
    plan.zero = zero;
    const TrainingWorkload workload = Build(SmallLlama(), plan);
    EXPECT_EQ(GraphRunner(*workload.graph).Run(), workload.stage_compute.front());
  }
}

// An engine chooses the algorithm of a collective for the groups that run it.
TEST(BuildTraining, EachCollectiveIsRunByOneRoleOnly) {
  TrainingPlan plan = SmallPlan(2, 2, 4, 2);
  plan.zero = 3;
  plan.fsdp_shard_size = 2;
  ModelConfig model = SmallLlama();
  model.tied_embeddings = true;
  const TrainingWorkload workload = Build(model, plan);
  std::map<std::uint32_t, std::uint32_t> role_of;
  for (std::uint32_t stage = 0; stage < 2; ++stage) {
    for (const Task& task : workload.graph->program(stage).tasks) {
      if (task.kind != TaskKind::kCollective) continue;
      EXPECT_EQ(role_of.emplace(task.collective, task.role).first->second, task.role);
    }
  }
  EXPECT_EQ(role_of.size(), workload.graph->collectives().size());
}

TEST(BuildTraining, CommunicatorsPartitionTheRanksOfTheirRole) {
  TrainingPlan plan = SmallPlan(2, 2, 4, 2);
  plan.zero = 3;
  plan.fsdp_shard_size = 2;
  plan.order = "dp-tp-cp-pp";
  ModelConfig model = SmallLlama();
  model.tied_embeddings = true;
  const TrainingWorkload workload = Build(model, plan);
  const TaskGraph& graph = *workload.graph;
  // tensor 8, shard 8, replicate 8, embedding 8 groups of two, and the world.
  ASSERT_EQ(graph.communicator_count(), 33U);
  for (std::uint32_t role = 0; role < 5; ++role) {
    for (std::uint32_t rank = 0; rank < graph.ranks(); ++rank) {
      const CommunicatorId id = graph.communicator(RankId{rank}, role);
      const std::vector<RankId> members = graph.members(id);
      EXPECT_EQ(members.size(), role == 4 ? 16U : 2U);
      EXPECT_THAT(members, ::testing::Contains(RankId{rank}));
      for (const RankId member : members) EXPECT_EQ(graph.communicator(member, role), id);
    }
  }
}

TEST(BuildTraining, TensorParallelRanksAreNeighboursInMegatronsOrder) {
  const TrainingWorkload workload = Build(SmallLlama(), SmallPlan(4, 2, 2, 2));
  const auto members = workload.graph->members(workload.graph->communicator(RankId{5}, 0));
  EXPECT_THAT(members, ::testing::ElementsAre(RankId{4}, RankId{5}, RankId{6}, RankId{7}));
}

// Counts the collectives of one label in a program.
std::size_t CountLabel(const TrainingWorkload& workload, std::uint32_t program, const char* name) {
  const Program& tasks = workload.graph->program(program);
  return static_cast<std::size_t>(std::ranges::count_if(tasks.tasks, [&](const Task& task) {
    return workload.graph->labels()[task.label].name == name;
  }));
}

// Per layer and micro-batch (arXiv 2205.05198, section 4.2; Megatron-LM): forward 2 AllGather and 2
// ReduceScatter; backward 4 AllGather (two of them inputs gathered again) and 2 ReduceScatter.
TEST(BuildTraining, SequenceParallelLayersGatherSixTimesAndScatterFour) {
  TrainingPlan plan = SmallPlan(4, 4, 1, 3);  // one layer a stage; stage 1 has only a layer
  TrainingWorkload workload = Build(SmallLlama(), plan);
  EXPECT_EQ(CountLabel(workload, 1, "tp all_gather"), 3 * 6U);
  EXPECT_EQ(CountLabel(workload, 1, "tp reduce_scatter"), 3 * 4U);
  plan.sequence_parallel = false;
  workload = Build(SmallLlama(), plan);
  EXPECT_EQ(CountLabel(workload, 1, "tp all_reduce"), 3 * 4U);
  plan.recompute = Recompute::kFull;
  workload = Build(SmallLlama(), plan);
  EXPECT_EQ(CountLabel(workload, 1, "tp all_reduce"), 3 * 6U);
}

TEST(BuildTraining, ShardedDataParallelGathersTwiceAMicroBatchAndScattersOnce) {
  TrainingPlan plan = SmallPlan(1, 1, 4, 3);
  plan.zero = 3;
  const TrainingWorkload workload = Build(SmallLlama(), plan);
  const std::size_t units = 4 + 2;  // layers, embedding, head
  EXPECT_EQ(CountLabel(workload, 0, "dp all_gather"), 3 * 2 * units);
  EXPECT_EQ(CountLabel(workload, 0, "dp reduce_scatter"), 3 * units);
}

TEST(BuildTraining, GradientsAreReducedOnceAStepWhateverTheMicroBatches) {
  for (const std::int64_t batches : {1, 2, 8}) {
    TrainingPlan plan = SmallPlan(1, 2, 4, batches);
    plan.zero = 1;
    const TrainingWorkload workload = Build(SmallLlama(), plan);
    EXPECT_EQ(CountLabel(workload, 1, "dp reduce_scatter"), 1U);
    EXPECT_EQ(CountLabel(workload, 1, "dp all_gather"), 1U);
  }
}

TEST(BuildTraining, Llama405BOn16384GpusStaysSmall) {
  TrainingPlan plan;
  plan.tp = 8;
  plan.pp = 16;
  plan.dp = 128;
  plan.zero = 1;
  plan.global_batch = 2048;
  plan.sequence = 8192;
  plan.layout = {7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7};
  const TrainingWorkload workload = Build(testing::Llama405B(), plan);
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i < 16; ++i) {
    const Program& program = workload.graph->program(i);
    EXPECT_LE(program.tasks.size(), 16 * (8 * 23 + 20) + 50U);
    bytes += program.tasks.size() * sizeof(Task) + program.dependencies.size() * sizeof(int);
  }
  EXPECT_LT(bytes, 8U << 20U);
}

// The fullest stage and the busiest one.
std::pair<std::int64_t, Time> Peaks(const TrainingWorkload& workload) {
  std::int64_t memory = 0;
  for (const StageMemory& stage : workload.memory) memory = std::max(memory, stage.total().count());
  return {memory, *std::ranges::max_element(workload.stage_compute)};
}

TEST(BuildTraining, EachKnobMovesMemoryAndComputeTheRightWay) {
  const ModelConfig model = testing::Llama70B();
  TrainingPlan base = SmallPlan(8, 4, 16, 32);
  base.sequence = 8192;
  const auto [memory, compute] = Peaks(Build(model, base));
  const auto with = [&](auto change) {
    TrainingPlan plan = base;
    change(plan);
    return Peaks(Build(model, plan));
  };
  const auto recomputed = with([](TrainingPlan& plan) { plan.recompute = Recompute::kFull; });
  EXPECT_LT(recomputed.first, memory);
  EXPECT_GT(recomputed.second, compute);
  const auto materialised = with([](TrainingPlan& plan) { plan.flash_attention = false; });
  EXPECT_GT(materialised.first, memory);
  EXPECT_GT(materialised.second, compute);
  const auto unsplit = with([](TrainingPlan& plan) { plan.sequence_parallel = false; });
  EXPECT_GT(unsplit.first, memory);
  EXPECT_GT(unsplit.second, compute);
  const auto eighth = with([](TrainingPlan& plan) { plan.precision = Precision::kFp8; });
  EXPECT_LT(eighth.second, compute);
  const auto sgd = with([](TrainingPlan& plan) { plan.optimizer = Optimizer::kSgd; });
  EXPECT_LT(sgd.first, memory);
  EXPECT_LT(sgd.second, compute);
  std::int64_t last = memory;
  for (const int zero : {1, 2}) {
    const auto sharded = with([zero](TrainingPlan& plan) { plan.zero = zero; });
    EXPECT_LT(sharded.first, last);
    last = sharded.first;
  }
}

// Whatever CheckPlan lets through, BuildTraining builds or refuses.
TEST(BuildTraining, AnyPlanThatIsAcceptedIsBuiltOrRefused) {
  std::uint64_t drawn = 0;
  const auto pick = [&](std::initializer_list<std::int64_t> values) {
    return values.begin()[Below(Draw(7, 0, drawn++), values.size())];
  };
  int built = 0;
  for (int i = 0; i < 3'000; ++i) {
    ModelConfig model =
        testing::Llama31(pick({1, 4, 7}), pick({128, 1024}), pick({1, 8, 4096}), pick({1, 8, 24}));
    model.kv_heads = pick({1, 8, 24});
    model.head_dim = pick({1, 64, 100'000});
    model.vocab = pick({1, 4096, 100'000'000});
    model.sliding_window = pick({0, 1, 100'000});
    TrainingPlan plan =
        SmallPlan(pick({1, 2, 8}), pick({1, 2, 7}), pick({1, 3}), pick({1, 5, 100}));
    plan.sequence = pick({1, 8, 1024, 131'072});
    plan.micro_batch = pick({1, 1, 5});
    plan.zero = static_cast<int>(pick({0, 1, 2, 3}));
    plan.vp = pick({1, 1, 2});
    plan.schedule = plan.vp > 1 ? PipelineSchedule::kInterleaved : PipelineSchedule::kGpipe;
    plan.flash_attention = pick({0, 1}) != 0;
    plan.grad_fp32 = pick({0, 1}) != 0;
    plan.recompute = static_cast<Recompute>(pick({0, 1, 2}));
    if (model.heads % model.kv_heads != 0) continue;
    if (!CheckPlan(model, plan, plan.ranks()).empty()) continue;
    const auto workload = BuildTraining(model, plan, Sxm5());
    if (!workload) continue;
    ++built;
    for (const Time& compute : workload->stage_compute) EXPECT_GT(compute, Time());
    for (const StageMemory& stage : workload->memory) EXPECT_GT(stage.total(), Bytes(0));
  }
  EXPECT_GT(built, 100);
}

TEST(BuildTraining, RefusesMixturesOfExperts) {
  ModelConfig model = SmallLlama();
  model.experts = 8;
  const auto workload = BuildTraining(model, SmallPlan(1, 1, 1, 1), Sxm5());
  ASSERT_FALSE(workload.has_value());
  EXPECT_EQ(workload.error().front().code, "TL1310");
}

TEST(BuildTraining, RefusesAPrecisionThatTheAcceleratorLacks) {
  TrainingPlan plan = SmallPlan(1, 1, 1, 1);
  plan.precision = Precision::kFp8;
  Accelerator a100 = Sxm5();
  a100.fp8.reset();
  const auto workload = BuildTraining(SmallLlama(), plan, a100);
  ASSERT_FALSE(workload.has_value());
  EXPECT_EQ(workload.error().front().code, "TL1311");
}

TEST(BuildTraining, RefusesAStepLongerThanTheHorizon) {
  ModelConfig model = testing::Llama405B();
  model.max_positions = 4'000'000;
  TrainingPlan plan = SmallPlan(1, 1, 1, 1'000);
  plan.sequence = 4'000'000;
  ASSERT_THAT(CheckPlan(model, plan, 1), ::testing::IsEmpty());
  const auto workload = BuildTraining(model, plan, Sxm5());
  ASSERT_FALSE(workload.has_value());
  EXPECT_EQ(workload.error().front().code, "TL1334");
}

TEST(BuildTraining, CountsEveryListedKernelInItsAssumptions) {
  const TrainingWorkload workload = Build(SmallLlama(), SmallPlan(2, 2, 2, 4));
  const auto borrowed = std::ranges::count_if(workload.kernels, &KernelCost::extrapolated);
  EXPECT_THAT(workload.assumptions,
              ::testing::Contains(::testing::StartsWith(std::to_string(borrowed) + " of " +
                                                        std::to_string(workload.kernels.size()))));
}

TEST(BuildTraining, OnlyKernelsThatComputeHaveAnEfficiency) {
  std::size_t moving = 0;
  for (const KernelCost& kernel : Build(SmallLlama(), SmallPlan(2, 2, 2, 4)).kernels) {
    EXPECT_EQ(kernel.efficiency.has_value(), kernel.flops > Flops()) << kernel.name;
    if (!kernel.efficiency) ++moving;
  }
  EXPECT_GT(moving, 0U);  // norms, the optimizer
}

// The up projection of a gated layer is one matrix with the gate, in all three of its GEMMs.
TEST(BuildTraining, AMatrixHasOneName) {
  std::map<std::string, int> gemms;
  for (const KernelCost& kernel : Build(SmallLlama(), SmallPlan(2, 2, 2, 4)).kernels) {
    if (const auto end = kernel.name.find(" GEMM "); end != std::string::npos) {
      ++gemms[kernel.name.substr(0, end)];
    }
  }
  EXPECT_EQ(gemms["mlp gate+up"], 3);
  for (const auto& [matrix, count] : gemms) EXPECT_EQ(count, 3) << matrix;
}

TEST(BuildTraining, NoKernelBeatsThePeakOfTheDevice) {
  TrainingPlan plan = SmallPlan(8, 4, 16, 32);
  plan.sequence = 8192;
  const TrainingWorkload workload = Build(testing::Llama70B(), plan);
  for (const KernelCost& kernel : workload.kernels) {
    EXPECT_LT(kernel.efficiency.value_or(0), 1.0) << kernel.name;
    EXPECT_GT(kernel.time, Time()) << kernel.name;
  }
}

}  // namespace
}  // namespace trunkline
