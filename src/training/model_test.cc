#include "trunkline/training/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "training/test_models.h"

namespace trunkline {
namespace {

// Parameter counts that the model cards and checkpoints give.
TEST(ModelConfig, CountsTheParametersOfLlama31) {
  EXPECT_EQ(testing::Llama8B().parameters(), 8'030'261'248);
  EXPECT_EQ(testing::Llama70B().parameters(), 70'553'706'496);
  EXPECT_EQ(testing::Llama405B().parameters(), 405'853'388'800);
}

TEST(ModelConfig, CountsTheParametersOfGptNeoX20B) {
  ModelConfig model = testing::MegatronGpt(44, 6144, 64);
  model.vocab = 50432;
  model.tied_embeddings = false;
  model.learned_positions = false;
  EXPECT_EQ(model.parameters(), 20'554'567'680);  // arXiv 2204.06745, section 2.1
}

// arXiv 2104.04473, equation 2, with its rows of Table 1 in billions.
TEST(ModelConfig, CountsTheParametersOfTheMegatronFamily) {
  EXPECT_NEAR(static_cast<double>(testing::MegatronGpt(80, 12288, 96).parameters()), 145.6e9, 5e7);
  EXPECT_NEAR(static_cast<double>(testing::MegatronGpt(105, 20480, 128).parameters()), 529.6e9,
              5e7);
  EXPECT_NEAR(static_cast<double>(testing::MegatronGpt(128, 25600, 160).parameters()), 1008.0e9,
              5e7);
}

// The fields that a Llama needs, in the form of its config.json.
constexpr std::string_view kLlama = R"({
  "model_type": "llama",
  "hidden_size": 8192,
  "intermediate_size": 28672,
  "num_attention_heads": 64,
  "num_key_value_heads": 8,
  "num_hidden_layers": 80,
  "vocab_size": 128256,
  "max_position_embeddings": 131072,
  "rope_scaling": null,
  "tie_word_embeddings": false
})";

std::string Replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  result.replace(result.find(from), from.size(), to);
  return result;
}

TEST(ParseModelConfig, ReadsALlama) {
  const Result<ModelConfig> model = ParseModelConfig(kLlama, "models/llama-70b.json");
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->name, "llama-70b");
  EXPECT_EQ(model->head_dim, 128);
  EXPECT_EQ(model->parameters(), 70'553'706'496);
}

TEST(ParseModelConfig, ReadsTheOldNamesOfGpt2) {
  // gpt2-large: 774,030,080 parameters.
  const Result<ModelConfig> model = ParseModelConfig(
      R"({"model_type": "gpt2", "n_embd": 1280, "n_head": 20, "n_layer": 36, "n_positions": 1024,
          "n_inner": null, "vocab_size": 50257})",
      "gpt2.json");
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->ffn, 5120);
  EXPECT_TRUE(model->tied_embeddings);
  EXPECT_TRUE(model->dropout);
  EXPECT_EQ(model->parameters(), 774'030'080);
}

TEST(ParseModelConfig, ReadsQwen2WithItsQueryBiases) {
  // Qwen2-7B: 7,615,616,512 parameters.
  const Result<ModelConfig> model = ParseModelConfig(
      R"({"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944,
          "num_attention_heads": 28, "num_key_value_heads": 4, "num_hidden_layers": 28,
          "vocab_size": 152064, "max_position_embeddings": 131072, "sliding_window": 131072,
          "use_sliding_window": false, "tie_word_embeddings": false})",
      "qwen2.json");
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->sliding_window, 0);
  EXPECT_EQ(model->parameters(), 7'615'616'512);
}

TEST(ParseModelConfig, ReadsQwen3WhoseHeadsAreWiderThanTheHiddenSize) {
  // Qwen3-32B: 32,762,123,264 parameters.
  const Result<ModelConfig> model = ParseModelConfig(
      R"({"model_type": "qwen3", "hidden_size": 5120, "intermediate_size": 25600, "head_dim": 128,
          "num_attention_heads": 64, "num_key_value_heads": 8, "num_hidden_layers": 64,
          "vocab_size": 151936, "max_position_embeddings": 40960, "tie_word_embeddings": false})",
      "qwen3.json");
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->parameters(), 32'762'123'264);
}

TEST(ParseModelConfig, ReadsTheExpertsOfAMixtral) {
  // Mixtral-8x7B: 46,702,792,704 parameters.
  const Result<ModelConfig> model = ParseModelConfig(
      R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
          "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 32,
          "num_local_experts": 8, "num_experts_per_tok": 2, "sliding_window": null,
          "vocab_size": 32000, "max_position_embeddings": 32768})",
      "mixtral.json");
  ASSERT_TRUE(model.has_value());
  EXPECT_TRUE(model->is_moe());
  EXPECT_EQ(model->parameters(), 46'702'792'704);
}

TEST(ParseModelConfig, MistralKeepsItsSlidingWindow) {
  const std::string text = Replaced(Replaced(kLlama, "llama", "mistral"), "\"rope_scaling\": null",
                                    "\"sliding_window\": 4096");
  const Result<ModelConfig> model = ParseModelConfig(text, "mistral.json");
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->sliding_window, 4096);
}

// The first diagnostic of a text that must be refused.
Diagnostic Refusal(std::string_view text) {
  const Result<ModelConfig> model = ParseModelConfig(text, "config.json");
  EXPECT_FALSE(model.has_value()) << text;
  return model.has_value() ? Diagnostic() : model.error().front();
}

TEST(ParseModelConfig, NamesTheLineOfAFieldThatContradicts) {
  const Diagnostic found =
      Refusal(Replaced(kLlama, "\"num_key_value_heads\": 8", "\"num_key_value_heads\": 7"));
  EXPECT_EQ(found.code, "TL1302");
  EXPECT_EQ(found.where.line, 6);
}

TEST(ParseModelConfig, SuggestsTheFamilyThatWasMeant) {
  const Diagnostic found = Refusal(Replaced(kLlama, "llama", "lama"));
  EXPECT_EQ(found.code, "TL1301");
  EXPECT_EQ(found.where.line, 2);
  EXPECT_THAT(found.hint, ::testing::HasSubstr("did you mean 'llama'?"));
}

TEST(ModelConfig, RefusesAListByItsName) {
  const Diagnostic list = Refusal("[1]");
  EXPECT_EQ(list.code, "TL1107");
  EXPECT_THAT(list.message, ::testing::HasSubstr("a list"));
}

TEST(ParseModelConfig, RefusesMixturesWithoutAReaderByTheirCode) {
  EXPECT_EQ(Refusal(R"({"model_type": "deepseek_v3"})").code, "TL1310");
}

// Of every family, `field` added to one that is otherwise right: the code it is refused by, or "".
std::string CodeOf(const std::string& family, const std::string& field) {
  const std::string text =
      family == "gpt2"
          ? R"({"model_type": "gpt2", "n_embd": 1280, "n_head": 20, "n_layer": 36,
                "n_positions": 1024, "vocab_size": 50257, )" +
                field + "}"
          : Replaced(Replaced(kLlama, "llama", family), "\"rope_scaling\": null", field);
  const Result<ModelConfig> model = ParseModelConfig(text, "config.json");
  return model ? "" : model.error().front().code;
}

TEST(ParseModelConfig, RefusesTheSameSlipsInEveryFamily) {
  for (const std::string family : {"llama", "mistral", "qwen2", "qwen3", "gpt2", "gpt_neox"}) {
    const std::string activation = family == "gpt2" ? "activation_function" : "hidden_act";
    const std::string base = family == "gpt_neox" ? "rotary_emb_base" : "rope_theta";
    const bool slides = family == "mistral" || family.starts_with("qwen");
    const std::pair<std::string, std::string> codes[] = {
        {"\"" + activation + "\": \"silly\"", "TL1109"},
        {"\"" + activation + "\": \"gelu_new\"", ""},
        {"\"" + activation + "\": null", ""},
        {"\"" + base + "\": NaN", "TL1107"},
        {"\"" + base + "\": -1", "TL1108"},
        {"\"" + base + "\": 500000.0", ""},
        {R"("initializer_range": Infinity)", "TL1107"},
        {R"("rope_scaling": {"factor": NaN})", "TL1107"},
        {R"("sliding_window": -1)", "TL1108"},
        {R"("sliding_window": "wide")", "TL1107"},
        {R"("sliding_window": null)", ""},
        {R"("sliding_window": 512, "use_sliding_window": true)", slides ? "" : "TL1302"},
        {R"("sliding_window": 512, "use_sliding_window": false)", ""},
        {R"("num_local_experts": 8)", "TL1310"},
        {R"("num_experts": 8)", "TL1310"},
        {R"("n_routed_experts": 8)", "TL1310"},
        {R"("num_local_experts": -8)", "TL1108"},
        {R"("num_local_experts": 0)", ""},
        {R"("num_local_experts": null)", ""}};
    for (const auto& [field, code] : codes) {
      EXPECT_EQ(CodeOf(family, field), code) << family << ' ' << field;
    }
  }
}

TEST(ParseModelConfig, ReportsEveryMissingField) {
  const Result<ModelConfig> model = ParseModelConfig(R"({"model_type": "llama"})", "config.json");
  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(model.error().size(), 6U);
}

TEST(ParseModelConfig, RefusesHostileNumbers) {
  for (const char* layers :
       {"0", "-80", "1e30", "99999999999999999999", "\"80\"x", "null", "[80]"}) {
    Refusal(Replaced(kLlama, "80", layers));
  }
  // Each in range, absurd together.
  std::string huge = Replaced(kLlama, "8192", "1000000");
  huge = Replaced(huge, "28672", "1000000");
  EXPECT_EQ(Refusal(Replaced(huge, ": 80", ": 10000")).code, "TL1303");
}

TEST(ParseModelConfig, RefusesTruncatedAndDeepText) {
  for (const std::string& text : {std::string(kLlama.substr(0, kLlama.size() / 2)), std::string(),
                                  std::string(100'000, '['), std::string(100'000, '{')}) {
    const Diagnostic found = Refusal(text);
    EXPECT_EQ(found.code.substr(0, 4), "TL11") << found.message;
    EXPECT_EQ(found.where.file, "config.json");
  }
}

// The published configurations, where they are at hand.
TEST(ReadModelConfig, ReadsThePublishedConfigurations) {
  const std::string folder = std::string(TRUNKLINE_SOURCE_DIR) + "/../shared/samples/hf-configs/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no sample configurations here";
  const std::pair<const char*, std::int64_t> published[] = {
      {"meta-llama--Meta-Llama-3.1-8B.json", 8'030'261'248},
      {"meta-llama--Meta-Llama-3.1-70B.json", 70'553'706'496},
      {"meta-llama--Meta-Llama-3.1-405B.json", 405'853'388'800},
      {"openai-community--gpt2-large.json", 774'030'080},
      {"mistralai--Mixtral-8x7B-v0.1.json", 46'702'792'704},
      {"Qwen--Qwen3-30B-A3B.json", 30'532'122'624},
  };
  for (const auto& [file, parameters] : published) {
    const Result<ModelConfig> model = ReadModelConfig(folder + file);
    ASSERT_TRUE(model.has_value()) << Format(model.error().front());
    EXPECT_EQ(model->parameters(), parameters) << file;
  }
}

}  // namespace
}  // namespace trunkline
