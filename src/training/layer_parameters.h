#pragma once

#include <cstdint>

#include "trunkline/training/model.h"

namespace trunkline {

// Parameters of one transformer layer, by how tensor parallelism treats them: matrices and the
// biases of column-parallel projections are cut, the biases of row-parallel ones and norms are
// replicated.
struct LayerParameters {
  std::int64_t attention_matrices = 0;
  std::int64_t attention_column_biases = 0;
  std::int64_t attention_row_biases = 0;
  std::int64_t mlp_matrices = 0;  // of a mixture of experts: all experts and the router
  std::int64_t mlp_column_biases = 0;
  std::int64_t mlp_row_biases = 0;
  std::int64_t norms = 0;

  [[nodiscard]] std::int64_t total() const;
};

[[nodiscard]] LayerParameters CountLayerParameters(const ModelConfig& model);
// Of one norm over the hidden dimension.
[[nodiscard]] std::int64_t NormParameters(const ModelConfig& model);

}  // namespace trunkline
