#include "training/stage_model.h"

#include <algorithm>
#include <utility>

#include "training/layer_parameters.h"
#include "training/step_kernels.h"

namespace trunkline {
namespace {

struct ShardParameters {
  std::int64_t layer = 0;
  std::int64_t embedding = 0;
  std::int64_t positions = 0;
  std::int64_t final_norm = 0;
};

ShardParameters CountShard(const ModelConfig& model, const TrainingPlan& plan) {
  const LayerParameters layer = CountLayerParameters(model);
  const std::int64_t cut = layer.attention_matrices + layer.attention_column_biases +
                           layer.mlp_matrices + layer.mlp_column_biases;
  ShardParameters shard;
  shard.layer = cut / plan.tp + layer.attention_row_biases + layer.mlp_row_biases + layer.norms;
  shard.embedding = PaddedVocabulary(model, plan) / plan.tp * model.hidden;
  shard.positions = model.learned_positions ? model.max_positions * model.hidden : 0;
  shard.final_norm = NormParameters(model);
  return shard;
}

}  // namespace

std::int64_t Chunk::layers() const {
  std::int64_t count = 0;
  for (const Unit& unit : units) count += unit.kind == Unit::Kind::kLayer ? 1 : 0;
  return count;
}

std::int64_t Chunk::parameters() const {
  std::int64_t sum = 0;
  for (const Unit& unit : units) sum += unit.parameters;
  return sum;
}

std::int64_t Stage::parameters() const {
  std::int64_t sum = 0;
  for (const Chunk& chunk : chunks) sum += chunk.parameters();
  return sum;
}

std::int64_t OwnParameters(const TrainingPlan& plan, const Stage& stage) {
  const std::int64_t shard = plan.zero > 0 ? ShardSize(plan) : 1;
  return (stage.parameters() + shard - 1) / shard;
}

std::int64_t BucketParameters(const TrainingPlan& plan, std::uint32_t stage_index) {
  constexpr std::int64_t kLeast = 40'000'000;
  return stage_index == 0 ? std::max(kLeast, 1'000'000 * plan.dp) : INT64_MAX;
}

std::int64_t LargestBucket(const Stage& stage, const TrainingPlan& plan,
                           std::uint32_t stage_index) {
  const std::int64_t full = BucketParameters(plan, stage_index);
  std::int64_t largest = 0;
  for (const Chunk& chunk : stage.chunks) {
    std::int64_t bucket = 0;
    for (std::size_t i = chunk.units.size(); i-- > 0;) {  // as backward goes
      bucket += chunk.units[i].parameters;
      largest = std::max(largest, bucket);
      if (bucket >= full) bucket = 0;
    }
  }
  return largest;
}

std::vector<Stage> CutIntoStages(const ModelConfig& model, const TrainingPlan& plan) {
  const ShardParameters shard = CountShard(model, plan);
  const auto stages = static_cast<std::size_t>(plan.pp);
  const std::size_t chunks = stages * static_cast<std::size_t>(plan.vp);
  // A head of its own when untied, or when the embedding sits on another stage.
  const bool own_head = !model.tied_embeddings || plan.pp > 1;
  std::vector<Stage> result(stages);
  std::uint32_t next_layer = 0;
  for (std::size_t i = 0; i < chunks; ++i) {
    Chunk chunk;
    chunk.first = i == 0;
    chunk.last = i + 1 == chunks;
    if (chunk.first) {
      chunk.units.push_back({Unit::Kind::kEmbedding, shard.embedding + shard.positions});
    }
    const std::int64_t layers =
        plan.layout.empty() ? model.layers / static_cast<std::int64_t>(chunks) : plan.layout[i];
    for (std::int64_t l = 0; l < layers; ++l) {
      chunk.units.push_back({Unit::Kind::kLayer, shard.layer, next_layer++});
    }
    if (chunk.last) {
      chunk.units.push_back(
          {Unit::Kind::kHead, shard.final_norm + (own_head ? shard.embedding : 0)});
    }
    result[i % stages].chunks.push_back(std::move(chunk));
  }
  if (model.tied_embeddings && plan.pp > 1) {
    result.front().shared_embedding = shard.embedding;
    result.back().shared_embedding = shard.embedding;
  }
  return result;
}

}  // namespace trunkline
