#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/yaml_reader.h"
#include "trunkline/training/model.h"

namespace trunkline {
namespace {

// How a family of models names its fields and which values it leaves unsaid (the defaults of the
// family's configuration class in Hugging Face transformers).
struct Family {
  const char* model_type;
  const char* layers = "num_hidden_layers";
  const char* hidden = "hidden_size";
  const char* ffn = "intermediate_size";
  const char* heads = "num_attention_heads";
  const char* positions = "max_position_embeddings";
  const char* activation = "hidden_act";
  const char* rope_base = "rope_theta";
  const char* experts = nullptr;  // null: dense
  const char* expert_ffn = nullptr;
  const char* dropout = nullptr;  // null: trained without
  double default_dropout = 0;
  std::int64_t default_head_dim = 0;  // 0: hidden / heads
  bool grouped_heads = true;          // has num_key_value_heads and head_dim
  bool gated_mlp = true;
  bool layer_norm = false;
  bool linear_bias = false;
  bool qkv_bias = false;
  bool qk_norm = false;
  bool learned_positions = false;
  bool tied_by_default = false;
  bool default_ffn = false;  // absent or null: 4 x hidden
  bool sliding_window = false;
  bool sliding_window_switch = false;  // only with use_sliding_window: true
};

constexpr Family kFamilies[] = {
    {.model_type = "llama"},
    {.model_type = "mistral", .sliding_window = true},
    {.model_type = "mixtral",
     .experts = "num_local_experts",
     .expert_ffn = "intermediate_size",
     .sliding_window = true},
    {.model_type = "qwen2",
     .qkv_bias = true,
     .sliding_window = true,
     .sliding_window_switch = true},
    {.model_type = "qwen3",
     .default_head_dim = 128,
     .qk_norm = true,
     .sliding_window = true,
     .sliding_window_switch = true},
    {.model_type = "qwen3_moe",
     .experts = "num_experts",
     .expert_ffn = "moe_intermediate_size",
     .default_head_dim = 128,
     .qk_norm = true,
     .sliding_window = true,
     .sliding_window_switch = true},
    {.model_type = "gpt2",
     .layers = "n_layer",
     .hidden = "n_embd",
     .ffn = "n_inner",
     .heads = "n_head",
     .positions = "n_positions",
     .activation = "activation_function",
     .dropout = "resid_pdrop",
     .default_dropout = 0.1,
     .grouped_heads = false,
     .gated_mlp = false,
     .layer_norm = true,
     .linear_bias = true,
     .learned_positions = true,
     .tied_by_default = true,
     .default_ffn = true},
    {.model_type = "gpt_neox",
     .rope_base = "rotary_emb_base",
     .dropout = "hidden_dropout",
     .grouped_heads = false,
     .gated_mlp = false,
     .layer_norm = true,
     .linear_bias = true},
};

// Mixture-of-experts families whose attention or layer mix has no reader yet.
constexpr std::string_view kOtherMixtures[] = {
    "deepseek_v2", "deepseek_v3", "kimi_k2", "gpt_oss", "llama4", "minimax_m2", "glm_moe_dsa"};

constexpr IntRange kLayers{.min = 1, .max = 10'000};
constexpr IntRange kWidth{.min = 1, .max = 1'000'000};
constexpr IntRange kHeads{.min = 1, .max = 100'000};
constexpr IntRange kVocab{.min = 1, .max = 100'000'000};
constexpr IntRange kPositions{.min = 1, .max = 1'000'000'000};
constexpr double kMostParameters = 1e16;  // keeps every product of extents within 63 bits

const Family* FindFamily(const YamlMap& root) {
  const std::optional<YamlValue> type = root.Required("model_type");
  if (!type) return nullptr;
  std::string name;
  if (!type->Read(name)) return nullptr;
  std::vector<std::string> known;
  for (const Family& family : kFamilies) {
    if (name == family.model_type) return &family;
    known.emplace_back(family.model_type);
  }
  if (std::ranges::find(kOtherMixtures, name) != std::ranges::end(kOtherMixtures)) {
    type->Error("TL1310",
                fmt::format("model_type '{}': mixtures of experts cannot be trained here", name),
                "use a dense model of the llama, mistral, qwen2, qwen3, gpt2 or gpt_neox family");
    return nullptr;
  }
  std::string hint = fmt::format("the families read are {}", fmt::join(known, ", "));
  if (const std::string close = ClosestMatch(name, known); !close.empty()) {
    hint = fmt::format("did you mean '{}'? {}", close, hint);
  }
  type->Error("TL1301", fmt::format("unknown model_type '{}'", name),
              hint + "; a Llama-shaped model may say llama");
  return nullptr;
}

void ReadHeads(const YamlMap& root, const Family& family, ModelConfig& model) {
  if (!root.Require(family.heads, model.heads, kHeads)) return;
  model.kv_heads = model.heads;
  model.head_dim = family.default_head_dim;
  if (family.grouped_heads) {
    root.Read("num_key_value_heads", model.kv_heads, kHeads);
    root.Read("head_dim", model.head_dim, kWidth);
  }
  if (model.heads % model.kv_heads != 0) {
    root.Required("num_key_value_heads")
        ->Error("TL1302",
                fmt::format("{} key-value heads do not divide the {} attention heads",
                            model.kv_heads, model.heads),
                "num_key_value_heads is a divisor of num_attention_heads");
  }
  if (model.head_dim > 0 || model.hidden == 0) return;
  if (model.hidden % model.heads != 0) {
    root.Required(family.heads)
        ->Error("TL1302",
                fmt::format("{} heads do not divide the hidden size {}", model.heads, model.hidden),
                "correct one of them, or give head_dim");
    return;
  }
  model.head_dim = model.hidden / model.heads;
}

void ReadBiases(const YamlMap& root, ModelConfig& model) {
  bool attention = model.linear_bias;
  bool mlp = model.linear_bias;
  root.Read("attention_bias", attention);
  root.Read("mlp_bias", mlp);
  if (attention == mlp) {
    model.linear_bias = attention;
    return;
  }
  const char* key = root.Has("attention_bias") ? "attention_bias" : "mlp_bias";
  root.Required(key)->Error("TL1302",
                            "biases on only one of attention and MLP projections are not modelled",
                            "give both the same value: biases are far below 0.1 % of the model");
}

void ReadSlidingWindow(const YamlMap& root, const Family& family, ModelConfig& model) {
  bool used = !family.sliding_window_switch;
  root.Read("use_sliding_window", used);
  std::int64_t window = 0;
  if (!root.Read("sliding_window", window, kPositions) || !used) return;
  if (family.sliding_window) {
    model.sliding_window = window;
  } else if (window < model.max_positions) {
    root.Required("sliding_window")
        ->Error("TL1302",
                fmt::format("a sliding window, but a {} attends to all positions before",
                            family.model_type),
                "leave it out, or say model_type mistral where the model has one");
  }
}

// Every name that transformers knows a function by.
const Words<bool>& Activations() {
  static const Words<bool> kNames = [] {
    Words<bool> names;
    for (const char* name : {"silu",
                             "swish",
                             "gelu",
                             "gelu_10",
                             "gelu_accurate",
                             "gelu_fast",
                             "gelu_new",
                             "gelu_python",
                             "gelu_python_tanh",
                             "gelu_pytorch_tanh",
                             "quick_gelu",
                             "relu",
                             "relu2",
                             "relu6",
                             "leaky_relu",
                             "prelu",
                             "xielu",
                             "mish",
                             "laplace",
                             "linear",
                             "sigmoid",
                             "tanh"}) {
      names.emplace_back(name, true);
    }
    return names;
  }();
  return kNames;
}

// JSON has no NaN and no infinity, but Python writes both.
void RefuseWhatIsNoNumber(const YamlMap& map) {
  for (const auto& [key, value] : map.Entries()) {
    if (value.is_map()) {
      RefuseWhatIsNoNumber(*value.AsMap());
    } else if (const std::string& text = value.text();
               text == "NaN" || text == "Infinity" || text == "-Infinity") {
      value.Error("TL1107", fmt::format("{} is {}", key, text),
                  "write a number, or remove the key");
    }
  }
}

// Fields that no size follows from: a slip in them is a slip all the same, and experts make it
// another model than the family's.
void CheckOtherFields(const YamlMap& root, const Family& family) {
  RefuseWhatIsNoNumber(root);
  bool known = false;
  root.Read(family.activation, known, Activations());
  double base = 0;
  root.Read(family.rope_base, base, RealRange{.min = 1, .max = 1e15});
  for (const char* key : {"num_local_experts", "num_experts", "n_routed_experts"}) {
    std::int64_t experts = 0;
    if (family.experts != nullptr) break;
    if (!root.Read(key, experts, IntRange{.min = 0, .max = 10'000}) || experts == 0) continue;
    root.Required(key)->Error(
        "TL1310",
        fmt::format("{} {}: mixtures of experts cannot be trained here, and a {} has none", key,
                    experts, family.model_type),
        "use a dense model; mixtral and qwen3_moe are read, and counted, as mixtures");
  }
}

ModelConfig ReadFields(const YamlMap& root, const Family& family) {
  ModelConfig model;
  model.model_type = family.model_type;
  model.gated_mlp = family.gated_mlp;
  model.layer_norm = family.layer_norm;
  model.linear_bias = family.linear_bias;
  model.qkv_bias = family.qkv_bias;
  model.qk_norm = family.qk_norm;
  model.learned_positions = family.learned_positions;
  model.tied_embeddings = family.tied_by_default;

  root.Require(family.layers, model.layers, kLayers);
  root.Require(family.hidden, model.hidden, kWidth);
  root.Require("vocab_size", model.vocab, kVocab);
  root.Require(family.positions, model.max_positions, kPositions);
  if (!family.default_ffn) {
    root.Require(family.ffn, model.ffn, kWidth);
  } else if (!root.Read(family.ffn, model.ffn, kWidth)) {
    model.ffn = 4 * model.hidden;
  }
  ReadHeads(root, family, model);
  ReadBiases(root, model);
  ReadSlidingWindow(root, family, model);
  root.Read("tie_word_embeddings", model.tied_embeddings);
  CheckOtherFields(root, family);
  if (family.dropout != nullptr) {
    double dropout = family.default_dropout;
    root.Read(family.dropout, dropout, RealRange{.min = 0, .max = 1});
    model.dropout = dropout > 0;
  }
  if (family.experts != nullptr) {
    root.Require(family.experts, model.experts, IntRange{.min = 1, .max = 10'000});
    root.Require("num_experts_per_tok", model.experts_per_token, IntRange{.min = 1, .max = 10'000});
    root.Require(family.expert_ffn, model.expert_ffn, kWidth);
  }
  return model;
}

// In floating point, where it cannot overflow.
double RoughParameters(const ModelConfig& model) {
  const auto hidden = static_cast<double>(model.hidden);
  const double mlp = static_cast<double>(std::max<std::int64_t>(model.experts, 1)) *
                     static_cast<double>(std::max(model.ffn, model.expert_ffn)) * 3;
  const double attention =
      static_cast<double>(model.heads + model.kv_heads) * static_cast<double>(model.head_dim) * 2;
  return hidden * (static_cast<double>(model.layers) * (attention + mlp) +
                   2 * static_cast<double>(model.vocab) +
                   (model.learned_positions ? static_cast<double>(model.max_positions) : 0));
}

Result<ModelConfig> ReadDocument(YamlDocument document, const std::string& file) {
  const YamlMap root = document.root();
  ModelConfig model;
  const auto list = root.Find("");
  if (list && list->is_list()) {
    list->Error("TL1107", "a list is no model's configuration", "write an object: {\"key\": …}");
  } else if (const Family* family = FindFamily(root)) {
    model = ReadFields(root, *family);
    if (RoughParameters(model) > kMostParameters) {
      root.Error("TL1303", "the model has more than 10^16 parameters",
                 "check layers, widths and vocabulary for a slip");
    }
  }
  Diagnostics problems = document.TakeDiagnostics();
  if (HasErrors(problems)) return std::unexpected(std::move(problems));
  model.name = std::filesystem::path(file).stem().string();
  return model;
}

}  // namespace

Result<ModelConfig> ParseModelConfig(std::string_view text, std::string file) {
  Result<YamlDocument> document = YamlDocument::Parse(text, file, YamlStyle::kForeign);
  if (!document) return std::unexpected(std::move(document).error());
  return ReadDocument(std::move(*document), file);
}

Result<ModelConfig> ReadModelConfig(const std::string& path) {
  Result<YamlDocument> document = YamlDocument::ReadFile(path, YamlStyle::kForeign);
  if (!document) return std::unexpected(std::move(document).error());
  return ReadDocument(std::move(*document), path);
}

}  // namespace trunkline
