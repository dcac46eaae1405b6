#include "trunkline/training/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "training/plan_remedies.h"
#include "training/plan_rules.h"
#include "training/rank_order.h"
#include "trunkline/base/int128.h"

namespace trunkline {
namespace {

class PlanChecker {
 public:
  PlanChecker(const ModelConfig& model, const TrainingPlan& plan, std::int64_t gpus,
              const NodeNumbers& nodes)
      : model_(model), plan_(plan), gpus_(gpus), remedies_(model, plan, gpus, nodes) {}

  Diagnostics Run() && {
    CheckExtents();
    if (!found_.empty()) return std::move(found_);  // the rest divides by these
    CheckTensorParallel();
    CheckProduct();
    CheckPipeline();
    CheckBatch();
    CheckDataParallel();
    CheckSequence();
    CheckSequenceCut();
    CheckOverlap();
    CheckOrder();
    CheckSize();
    return std::move(found_);
  }

 private:
  void Add(std::string code, std::string message, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.code = std::move(code);
    diagnostic.message = std::move(message);
    diagnostic.hint = std::move(hint);
    found_.push_back(std::move(diagnostic));
  }

  void CheckExtent(std::string_view name, std::int64_t value, std::int64_t low) {
    if (value >= low && value <= kMaxExtent) return;
    Add("TL1320", fmt::format("{} is {}", name, value),
        fmt::format("{} is a whole number from {} to {}", name, low, kMaxExtent));
  }

  void CheckExtents() {
    CheckExtent("parallel.tp", plan_.tp, 1);
    CheckExtent("parallel.pp", plan_.pp, 1);
    CheckExtent("parallel.dp", plan_.dp, 1);
    CheckExtent("parallel.cp", plan_.cp, 1);
    CheckExtent("parallel.vp", plan_.vp, 1);
    CheckExtent("parallel.fsdp.shard_size", plan_.fsdp_shard_size, 0);
    CheckExtent("micro_batch", plan_.micro_batch, 1);
    CheckExtent("global_batch", plan_.global_batch, 1);
    if (plan_.sequence < 0 || plan_.sequence > kMaxSequence) {
      Add("TL1320", fmt::format("sequence is {}", plan_.sequence),
          fmt::format("sequence is a whole number of tokens from 1 to {}", kMaxSequence));
    }
    if (plan_.zero < 0 || plan_.zero > 3) {
      Add("TL1320", fmt::format("parallel.zero is {}", plan_.zero),
          "ZeRO has stages 0 (replicated) to 3 (parameters sharded, as FSDP)");
    }
  }

  void CheckProduct() {
    const Int128 product = Int128{plan_.tp} * plan_.pp * plan_.dp * plan_.cp;
    if (product == gpus_) return;
    Add("TL1321",
        fmt::format("tp {} x pp {} x dp {} x cp {} = {} ranks, but the cluster has {} GPUs",
                    plan_.tp, plan_.pp, plan_.dp, plan_.cp, ProductText(product), gpus_),
        remedies_.ForProduct());
  }

  static std::string ProductText(Int128 product) {
    if (product > kMaxExtent * kMaxExtent) return "more than 10^12";
    return fmt::format("{}", static_cast<std::int64_t>(product));
  }

  void CheckTensorParallel() {
    const auto refuse = [&](const std::string& extent) {
      Add("TL1322", fmt::format("tp {} does not divide the {}", plan_.tp, extent),
          remedies_.ForTensor());
    };
    if (model_.heads % plan_.tp != 0) {
      refuse(fmt::format("{} attention heads", model_.heads));
    } else if (model_.kv_heads % plan_.tp != 0) {
      refuse(fmt::format("{} key-value heads", model_.kv_heads));
    }
    if (model_.ffn % plan_.tp != 0) refuse(fmt::format("MLP width {}", model_.ffn));
  }

  void CheckPipeline() {
    if (plan_.schedule == PipelineSchedule::kInterleaved) {
      if (plan_.vp < 2 || plan_.pp < 2) {
        Add("TL1323",
            fmt::format("the interleaved schedule with pp {} and vp {}", plan_.pp, plan_.vp),
            "interleaving needs pp >= 2 and vp >= 2 chunks a stage; else use schedule 1f1b");
      }
    } else if (plan_.vp > 1) {
      Add("TL1323", fmt::format("vp {} needs the interleaved schedule", plan_.vp),
          "set schedule: interleaved, or vp 1");
    }
    const std::int64_t chunks = plan_.pp * plan_.vp;
    if (!plan_.layout.empty()) {
      CheckLayout(chunks);
    } else if (model_.layers % chunks != 0) {
      Add("TL1324",
          fmt::format("pp {} x vp {} = {} chunks do not divide the {} layers", plan_.pp, plan_.vp,
                      chunks, model_.layers),
          remedies_.ForChunks());
    }
  }

  void CheckLayout(std::int64_t chunks) {
    if (std::cmp_not_equal(plan_.layout.size(), chunks)) {
      Add("TL1325",
          fmt::format("layout has {} entries, but pp {} x vp {} needs {}", plan_.layout.size(),
                      plan_.pp, plan_.vp, chunks),
          "give the number of layers of each chunk, in model order");
      return;
    }
    if (LayoutFits(model_, plan_)) return;
    const bool negative = std::ranges::any_of(
        plan_.layout, [&](std::int64_t layers) { return layers < 0 || layers > model_.layers; });
    const std::int64_t sum =
        negative ? -1 : std::accumulate(plan_.layout.begin(), plan_.layout.end(), std::int64_t{0});
    Add("TL1325",
        negative
            ? std::string("layout has an entry that is negative or above the model's layers")
            : fmt::format("layout adds up to {} layers, but the model has {}", sum, model_.layers),
        fmt::format("for example {}", remedies_.SuggestedLayout()));
  }

  void CheckBatch() {
    const std::int64_t step = plan_.micro_batch * plan_.dp;
    if (plan_.global_batch % step == 0) return;
    Add("TL1326",
        fmt::format("global_batch {} is not a multiple of micro_batch {} x dp {} = {}",
                    plan_.global_batch, plan_.micro_batch, plan_.dp, step),
        remedies_.ForBatch());
  }

  void CheckDataParallel() {
    if (plan_.fsdp_shard_size == 0) return;
    if (plan_.zero != 3) {
      Add("TL1327", "fsdp.shard_size is given without zero 3",
          "set zero: 3 (FSDP), or leave out fsdp.shard_size");
    }
    if (plan_.dp % plan_.fsdp_shard_size != 0) {
      Add("TL1327",
          fmt::format("fsdp.shard_size {} does not divide dp {}", plan_.fsdp_shard_size, plan_.dp),
          fmt::format("use {}", NearestDivisors(plan_.dp, plan_.fsdp_shard_size)));
    }
  }

  void CheckSequence() {
    const std::int64_t sequence = SequenceOf(model_, plan_);
    if (sequence > model_.max_positions) {
      Add("TL1328",
          fmt::format("sequence {} exceeds the model's {} positions", sequence,
                      model_.max_positions),
          "shorten the sequence, or raise max_position_embeddings in the model's config");
    }
    if (plan_.cp > 1) {
      Add("TL1329", fmt::format("cp {}: context parallelism is not modelled", plan_.cp),
          "use cp 1; sequence parallelism (tp > 1) and full recompute also save activation memory");
    }
  }

  void CheckSequenceCut() {
    const std::int64_t sequence = SequenceOf(model_, plan_);
    if (!plan_.sequence_parallel || sequence % plan_.tp == 0) return;
    Add("TL1328",
        fmt::format("sequence parallelism: tp {} does not divide sequence {}", plan_.tp, sequence),
        sequence < plan_.tp ? std::string("use a smaller tp, or sequence_parallel: false")
                            : fmt::format("use sequence {}, or sequence_parallel: false",
                                          sequence / plan_.tp * plan_.tp));
  }

  void CheckOverlap() {
    if (!plan_.overlap_tp || plan_.tp == 1 || plan_.sequence_parallel) return;
    Add("TL1331", "overlap of tensor-parallel traffic without sequence parallelism",
        "an AllReduce cannot be pipelined with its GEMM: set sequence_parallel: true, or drop the "
        "overlap");
  }

  void CheckOrder() {
    if (ParseRankOrder(plan_.order)) return;
    Add("TL1330", fmt::format("order '{}' is not an order of the parallel dimensions", plan_.order),
        "name tp, cp, dp and pp once each, fastest-varying first, such as tp-cp-dp-pp");
  }

  // Steps that could not be held or counted, in floating point, where nothing overflows.
  void CheckSize() {
    const auto sequence = static_cast<double>(SequenceOf(model_, plan_));
    const auto micro_batches =
        static_cast<double>(plan_.global_batch) / static_cast<double>(plan_.micro_batch * plan_.dp);
    const auto layers = static_cast<double>(model_.layers);
    if (micro_batches > MostMicroBatches(model_)) {
      Add("TL1332",
          fmt::format("{:.0f} micro-batches of {} layers are too many tasks to hold", micro_batches,
                      model_.layers),
          fmt::format("use at most {:.0f} micro-batches a step: a larger micro_batch or dp, or a "
                      "smaller global_batch",
                      std::max(1.0, std::floor(MostMicroBatches(model_)))));
    }
    const double scores = plan_.flash_attention ? 1 : sequence;
    const double head_width =
        static_cast<double>(model_.heads + model_.kv_heads) * static_cast<double>(model_.head_dim);
    const double token_bytes = 34 * static_cast<double>(model_.hidden) + 8 * head_width +
                               8 * static_cast<double>(model_.ffn) +
                               28 * static_cast<double>(model_.vocab) +
                               5 * static_cast<double>(model_.heads) * scores;
    constexpr double kMostBytes = 4e18;  // of 2^63
    if (static_cast<double>(plan_.micro_batch) * sequence * token_bytes * layers * micro_batches >
        kMostBytes) {
      Add("TL1333", "the activations of a step are more than 4 EB", "shorten sequence or batch");
    }
  }

  const ModelConfig& model_;
  const TrainingPlan& plan_;
  std::int64_t gpus_;
  PlanRemedies remedies_;
  Diagnostics found_;
};

}  // namespace

Diagnostics CheckPlan(const ModelConfig& model, const TrainingPlan& plan, std::int64_t gpus,
                      const NodeNumbers& nodes) {
  return PlanChecker(model, plan, gpus, nodes).Run();
}

}  // namespace trunkline
