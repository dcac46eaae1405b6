#include "trunkline/training/model.h"

#include "training/layer_parameters.h"

namespace trunkline {

std::int64_t LayerParameters::total() const {
  return attention_matrices + attention_column_biases + attention_row_biases + mlp_matrices +
         mlp_column_biases + mlp_row_biases + norms;
}

LayerParameters CountLayerParameters(const ModelConfig& model) {
  const std::int64_t hidden = model.hidden;
  const std::int64_t qkv = model.head_dim * (model.heads + 2 * model.kv_heads);
  const std::int64_t gates = model.gated_mlp ? 2 : 1;
  LayerParameters count;
  count.attention_matrices = hidden * qkv + model.heads * model.head_dim * hidden;
  if (model.linear_bias || model.qkv_bias) count.attention_column_biases = qkv;
  if (model.linear_bias) count.attention_row_biases = hidden;
  if (model.is_moe()) {
    count.mlp_matrices = model.experts * ((gates + 1) * hidden * model.expert_ffn + hidden);
  } else {
    count.mlp_matrices = (gates + 1) * hidden * model.ffn;
    if (model.linear_bias) {
      count.mlp_column_biases = gates * model.ffn;
      count.mlp_row_biases = hidden;
    }
  }
  count.norms = 2 * NormParameters(model) + (model.qk_norm ? 2 * model.head_dim : 0);
  return count;
}

std::int64_t NormParameters(const ModelConfig& model) {
  return model.layer_norm ? 2 * model.hidden : model.hidden;
}

std::int64_t ModelConfig::parameters() const {
  const std::int64_t embeddings = vocab * hidden * (tied_embeddings ? 1 : 2);
  const std::int64_t positions = learned_positions ? max_positions * hidden : 0;
  return embeddings + positions + layers * CountLayerParameters(*this).total() +
         NormParameters(*this);
}

}  // namespace trunkline
