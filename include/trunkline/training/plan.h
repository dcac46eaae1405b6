#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/training/model.h"

namespace trunkline {

enum class PipelineSchedule : std::uint8_t { kGpipe, kOneFOneB, kInterleaved };
enum class Precision : std::uint8_t { kBf16, kFp16, kFp32, kFp8 };
enum class Recompute : std::uint8_t { kNone, kSelective, kFull };
enum class Optimizer : std::uint8_t { kAdam, kSgd };

// How a model is spread over ranks: `workload.training` of a scenario.
struct TrainingPlan {
  std::int64_t tp = 1;
  std::int64_t pp = 1;
  std::int64_t dp = 1;
  std::int64_t cp = 1;
  std::int64_t vp = 1;               // virtual pipeline chunks per rank (interleaved)
  int zero = 0;                      // ZeRO stage 0-3; 3 is FSDP
  std::int64_t fsdp_shard_size = 0;  // HSDP: ranks of one shard group; 0: all of dp
  bool sequence_parallel = true;     // with tp > 1
  PipelineSchedule schedule = PipelineSchedule::kOneFOneB;
  std::string order = "tp-cp-dp-pp";  // fastest-varying first, as Megatron's --use-tp-pp-dp-mapping
  std::vector<std::int64_t> layout;   // layers of each stage (pp x vp entries); empty: even
  std::int64_t micro_batch = 1;       // sequences
  std::int64_t global_batch = 1;      // sequences
  std::int64_t sequence = 0;          // tokens; 0: max_positions
  Precision precision = Precision::kBf16;
  Recompute recompute = Recompute::kNone;
  Optimizer optimizer = Optimizer::kAdam;
  bool flash_attention = true;
  bool grad_fp32 = true;  // gradients accumulated and reduced in fp32
  // Overlap switches (training.overlap): gradient reduction behind the last backward, parameter
  // all-gather behind the first forward, tensor-parallel traffic behind GEMMs, p2p behind compute.
  bool overlap_grad_reduce = true;
  bool overlap_param_gather = true;
  bool overlap_tp = false;
  bool overlap_p2p = true;
  // Algorithms per dimension; "auto": chosen by cost.
  std::string tp_algorithm = "auto";
  std::string dp_algorithm = "auto";

  [[nodiscard]] std::int64_t ranks() const { return tp * pp * dp * cp; }
  // Micro-batches of one step per data-parallel replica. REQUIRES: a checked plan.
  [[nodiscard]] std::int64_t micro_batches() const { return global_batch / (micro_batch * dp); }
};

// How remedies may change the number of nodes; not at all by default.
struct NodeNumbers {
  std::int64_t gpus_per_node = 0;
  std::function<bool(std::int64_t)> possible;  // whether the cluster can have so many
};

// Whether the plan fits the model and the cluster: every violation with the values that would work
// (tp divides heads, pp x vp divides layers or a layout is given, tp·cp·pp·dp = gpus with its
// factorisations, global_batch = micro_batch · dp · m, …). TL13xx.
[[nodiscard]] Diagnostics CheckPlan(const ModelConfig& model, const TrainingPlan& plan,
                                    std::int64_t gpus, const NodeNumbers& nodes = {});

}  // namespace trunkline
