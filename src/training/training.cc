#include "trunkline/training/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "training/kernel_model.h"
#include "training/model_flops.h"
#include "training/rank_grid.h"
#include "training/stage_memory.h"
#include "training/stage_model.h"
#include "training/stage_program.h"
#include "training/step_kernels.h"

namespace trunkline {
namespace {

class TrainingGraph : public TaskGraph {
 public:
  TrainingGraph(RankGrid grid, std::vector<Program> programs,
                std::vector<CollectiveChoice> collectives)
      : grid_(grid), programs_(std::move(programs)), collectives_(std::move(collectives)) {
    stage_of_rank_.reserve(grid_.ranks());
    for (std::uint32_t r = 0; r < grid_.ranks(); ++r) {
      stage_of_rank_.push_back(grid_.stage(RankId{r}));
    }
  }

  [[nodiscard]] std::uint32_t ranks() const override { return grid_.ranks(); }
  [[nodiscard]] std::uint32_t program_count() const override { return grid_.stages(); }
  [[nodiscard]] std::uint32_t program_of(RankId rank) const override {
    return stage_of_rank_[Index(rank)];
  }
  [[nodiscard]] const Program& program(std::uint32_t index) const override {
    return programs_[index];
  }
  [[nodiscard]] std::span<const CollectiveChoice> collectives() const override {
    return collectives_;
  }
  [[nodiscard]] std::span<const TaskLabel> labels() const override { return TrainingLabels(); }
  [[nodiscard]] std::span<const std::string> streams() const override { return StreamNames(); }

  [[nodiscard]] std::uint32_t communicator_count() const override {
    return grid_.communicator_count();
  }
  [[nodiscard]] CommunicatorId communicator(RankId rank, std::uint32_t role) const override {
    return grid_.communicator(rank, static_cast<GroupRole>(role));
  }
  [[nodiscard]] std::vector<RankId> members(CommunicatorId communicator) const override {
    return grid_.members(communicator);
  }
  [[nodiscard]] RankId peer(RankId rank, std::uint32_t role) const override {
    return grid_.peer(rank, static_cast<PeerRole>(role));
  }
  [[nodiscard]] std::string layout() const override { return grid_.name(); }
  [[nodiscard]] std::uint32_t reverse_role(std::uint32_t role) const override {
    return std::to_underlying(static_cast<PeerRole>(role) == PeerRole::kNextStage
                                  ? PeerRole::kPreviousStage
                                  : PeerRole::kNextStage);
  }

 private:
  RankGrid grid_;
  std::vector<std::uint32_t> stage_of_rank_;
  std::vector<Program> programs_;
  std::vector<CollectiveChoice> collectives_;
};

std::vector<std::string> Assumptions(const ModelConfig& model, const TrainingPlan& plan,
                                     const std::vector<KernelCost>& kernels) {
  std::vector<std::string> list = {
      "MFU counts causal attention half, logits once and no recomputation",
      "kernels follow each other without launch gaps",
      "kernels are not slowed by communication beside them"};
  const auto extrapolated =
      std::ranges::count_if(kernels, [](const KernelCost& kernel) { return kernel.extrapolated; });
  if (extrapolated > 0) {
    list.push_back(fmt::format(
        "{} of {} kernel times are extrapolated from other devices or shapes (see kernels)",
        extrapolated, kernels.size()));
  }
  if (const std::int64_t padded = PaddedVocabulary(model, plan); padded != model.vocab) {
    list.push_back(
        fmt::format("vocabulary padded from {} to {} (a multiple of 128 tp)", model.vocab, padded));
  }
  if (plan.overlap_tp && plan.tp > 1) {
    list.emplace_back("overlap of tensor-parallel traffic with its GEMMs is ideal");
  }
  const std::int64_t last_group = plan.micro_batches() % plan.pp;
  if (plan.schedule == PipelineSchedule::kInterleaved && last_group != 0) {
    list.push_back(fmt::format(
        "the last group of the interleaved schedule has {} of {} micro-batches, which Megatron-LM "
        "refuses",
        last_group, plan.pp));
  }
  return list;
}

// Compute of a step as if one GPU held every layer: no stage's is longer.
double RoughSeconds(const StepKernels& costs, const ModelConfig& model, const TrainingPlan& plan) {
  double seconds = 0;
  for (const Time& piece : costs.time) seconds += piece.seconds();
  // Recomputation repeats a forward at most.
  return 2 * seconds * static_cast<double>(model.layers + 1) *
         static_cast<double>(plan.micro_batches());
}

Diagnostics Warnings(const TrainingPlan& plan) {
  Diagnostics warnings;
  if (plan.recompute == Recompute::kSelective && plan.flash_attention) {
    warnings.push_back(Warning(
        "TL1340",
        "selective recompute with FlashAttention repeats the attention core and saves no memory",
        "use recompute: none, or full where memory is short"));
  }
  return warnings;
}

}  // namespace

Result<void> CheckDense(const ModelConfig& model) {
  if (!model.is_moe()) return {};
  return Error("TL1310",
               fmt::format("{} is a mixture of {} experts, which cannot be trained here",
                           model.name, model.experts),
               "use a dense model of the llama, mistral, qwen2, qwen3, gpt2 or gpt_neox family");
}

std::vector<StageMemory> PlanMemory(const ModelConfig& model, const TrainingPlan& given) {
  TrainingPlan plan = given;
  if (plan.sequence == 0) plan.sequence = model.max_positions;
  const std::vector<Stage> stages = CutIntoStages(model, plan);
  std::vector<StageMemory> memory;
  for (std::uint32_t i = 0; i < stages.size(); ++i) {
    memory.push_back(ComputeStageMemory(model, plan, stages[i], i));
  }
  return memory;
}

Result<TrainingWorkload> BuildTraining(const ModelConfig& model, const TrainingPlan& given,
                                       const Accelerator& accelerator) {
  if (const auto dense = CheckDense(model); !dense) return std::unexpected(dense.error());
  TrainingWorkload workload;
  workload.model = model;
  workload.plan = given;
  TrainingPlan& plan = workload.plan;
  if (plan.sequence == 0) plan.sequence = model.max_positions;

  const Result<KernelModel> kernels = KernelModel::Make(accelerator, plan.precision);
  if (!kernels) return std::unexpected(kernels.error());
  const StepKernels costs = ComputeStepKernels(model, plan, *kernels);
  if (RoughSeconds(costs, model, plan) >= kLongestKernel) {
    return Error("TL1334", "one step computes for more than 10^6 s",
                 "shorten sequence or global_batch, or check the model for a slip");
  }
  const std::vector<Stage> stages = CutIntoStages(model, plan);
  const RankGrid grid(plan, model.tied_embeddings);
  CollectiveTable collectives;
  const StepContext context{model, plan, *kernels, costs, grid, collectives};

  std::vector<Program> programs;
  for (std::uint32_t i = 0; i < grid.stages(); ++i) {
    StageProgram stage = WriteStageProgram(context, stages[i], i);
    programs.push_back(std::move(stage.program));
    workload.stage_compute.push_back(stage.compute);
    workload.forward_compute += stage.forward;
    workload.backward_compute += stage.backward;
    workload.last_backward.insert(workload.last_backward.end(), stage.last_backward.begin(),
                                  stage.last_backward.end());
  }

  workload.memory = PlanMemory(model, plan);
  workload.tokens_per_step = plan.global_batch * plan.sequence;
  workload.model_flops_per_step =
      ModelFlopsPerToken(model, plan.sequence) * static_cast<double>(workload.tokens_per_step);
  workload.peak_per_gpu = kernels->peak();
  workload.kernels = costs.kernels;
  workload.kernels.push_back(OptimizerCost(*kernels, plan, OwnParameters(plan, stages.front())));
  workload.assumptions = Assumptions(model, plan, workload.kernels);
  workload.warnings = Warnings(plan);
  workload.graph =
      std::make_unique<TrainingGraph>(grid, std::move(programs), std::move(collectives).Take());
  return workload;
}

}  // namespace trunkline
