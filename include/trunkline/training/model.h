#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trunkline/base/diagnostics.h"

namespace trunkline {

// The shape of a decoder-only transformer, as read from a Hugging Face config.json.
struct ModelConfig {
  std::string name;        // file stem
  std::string model_type;  // "llama"
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t ffn = 0;   // intermediate_size
  bool gated_mlp = true;  // SwiGLU: three matrices instead of two
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t vocab = 0;
  std::int64_t max_positions = 0;
  bool tied_embeddings = false;
  bool learned_positions = false;   // GPT-2: a position embedding table
  bool layer_norm = false;          // LayerNorm (weight and bias) instead of RMSNorm
  bool linear_bias = false;         // biases on attention and MLP projections
  bool qkv_bias = false;            // Qwen2
  bool qk_norm = false;             // Qwen3: RMSNorm of each query and key head
  bool dropout = false;             // trained with dropout (GPT-2): masks are kept for backward
  std::int64_t sliding_window = 0;  // 0: full attention
  // Mixture of experts: read and reported; training of such models is refused (TL1310).
  std::int64_t experts = 0;
  std::int64_t experts_per_token = 0;
  std::int64_t expert_ffn = 0;

  [[nodiscard]] bool is_moe() const { return experts > 0; }
  // All parameters, embeddings and norms included (vocabulary unpadded).
  [[nodiscard]] std::int64_t parameters() const;
};

// `file` is used in diagnostics and for the name. Every missing, mistyped or contradictory field is
// reported with its position.
[[nodiscard]] Result<ModelConfig> ParseModelConfig(std::string_view text, std::string file);
[[nodiscard]] Result<ModelConfig> ReadModelConfig(const std::string& path);

}  // namespace trunkline
