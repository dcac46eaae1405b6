#include "training/model_flops.h"

namespace trunkline {

double MeanContext(const ModelConfig& model, std::int64_t sequence) {
  const auto s = static_cast<double>(sequence);
  if (model.sliding_window == 0 || model.sliding_window >= sequence) return s / 2;
  const auto window = static_cast<double>(model.sliding_window);
  return window - window * window / (2 * s);
}

Flops ModelFlopsPerToken(const ModelConfig& model, std::int64_t sequence) {
  const auto hidden = static_cast<double>(model.hidden);
  const auto head_dim = static_cast<double>(model.head_dim);
  const auto heads = static_cast<double>(model.heads);
  const double projections =
      2 * hidden * head_dim * static_cast<double>(2 * model.heads + 2 * model.kv_heads);
  const double attention = 4 * heads * head_dim * MeanContext(model, sequence);
  const double mlp = (model.gated_mlp ? 6.0 : 4.0) * hidden * static_cast<double>(model.ffn);
  const double logits = 2 * hidden * static_cast<double>(model.vocab);
  const double forward =
      static_cast<double>(model.layers) * (projections + attention + mlp) + logits;
  return Flops(3 * forward);
}

}  // namespace trunkline
