#pragma once

#include <cstdint>

#include "trunkline/base/units.h"
#include "trunkline/training/model.h"

namespace trunkline {

// Tokens a query attends to on average under causal attention, within the model's sliding window.
[[nodiscard]] double MeanContext(const ModelConfig& model, std::int64_t sequence);

// Model FLOPs of one token, forward and backward, by NVIDIA's convention: causal attention counted
// half, logits counted, no recomputation, unpadded vocabulary.
[[nodiscard]] Flops ModelFlopsPerToken(const ModelConfig& model, std::int64_t sequence);

}  // namespace trunkline
