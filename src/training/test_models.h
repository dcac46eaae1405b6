#pragma once

#include "trunkline/training/model.h"
#include "trunkline/training/plan.h"

// Shapes that tests share, as their owners publish them.
namespace trunkline::testing {

// arXiv 2407.21783, Table 3.
inline ModelConfig Llama31(std::int64_t layers, std::int64_t hidden, std::int64_t ffn,
                           std::int64_t heads) {
  ModelConfig model;
  model.name = "llama-3.1";
  model.model_type = "llama";
  model.layers = layers;
  model.hidden = hidden;
  model.ffn = ffn;
  model.heads = heads;
  model.kv_heads = 8;
  model.head_dim = 128;
  model.vocab = 128256;
  model.max_positions = 131072;
  return model;
}
inline ModelConfig Llama8B() { return Llama31(32, 4096, 14336, 32); }
inline ModelConfig Llama70B() { return Llama31(80, 8192, 28672, 64); }
inline ModelConfig Llama405B() { return Llama31(126, 16384, 53248, 128); }

// The plan of examples/llama3.1-70b-512xh100.yaml.
inline TrainingPlan Plan70B() {
  TrainingPlan plan;
  plan.tp = 8;
  plan.pp = 4;
  plan.dp = 16;
  plan.global_batch = 512;
  plan.sequence = 8192;
  return plan;
}

// The GPT shape of Megatron-LM's papers: 4h MLP, LayerNorm, biases, dropout, tied embeddings
// (arXiv 2104.04473, arXiv 2205.05198).
inline ModelConfig MegatronGpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  ModelConfig model;
  model.name = "megatron-gpt";
  model.model_type = "gpt2";
  model.layers = layers;
  model.hidden = hidden;
  model.ffn = 4 * hidden;
  model.gated_mlp = false;
  model.heads = heads;
  model.kv_heads = heads;
  model.head_dim = hidden / heads;
  model.vocab = 51200;
  model.max_positions = 2048;
  model.tied_embeddings = true;
  model.learned_positions = true;
  model.layer_norm = true;
  model.linear_bias = true;
  model.dropout = true;
  return model;
}

}  // namespace trunkline::testing
