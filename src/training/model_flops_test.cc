#include "training/model_flops.h"

#include <gtest/gtest.h>

#include "training/test_models.h"

namespace trunkline {
namespace {

// NVIDIA's published tables, tokens/s and TFLOP/s of one GPU (Megatron-Bridge
// docs/performance-summary.md at commit 067f987df): GFLOP a token.
TEST(ModelFlops, MeetNvidiasPublishedFiguresWithinATenthOfAPercent) {
  const auto gflops = [](const ModelConfig& model) {
    return ModelFlopsPerToken(model, 8192).count() / 1e9;
  };
  EXPECT_NEAR(gflops(testing::Llama8B()), 1576e3 / 30624, 51.46 * 1e-3);
  EXPECT_NEAR(gflops(testing::Llama70B()), 1937e3 / 4312, 449.2 * 1e-3);
  EXPECT_NEAR(gflops(testing::Llama405B()), 2522e3 / 999, 2524.5 * 1e-3);
}

// arXiv 2205.05198, equation 7: 72 B L s h^2 (1 + s/6h + V/12hL) counts attention in full.
TEST(ModelFlops, MeetMegatronsFormulaUpToTheHalfOfAttention) {
  const ModelConfig model = testing::MegatronGpt(96, 12288, 96);
  const double h = 12288;
  const double s = 2048;
  const double formula = 72 * 96 * h * h * (1 + s / (6 * h) + 51200 / (12 * h * 96));
  const double half_of_attention = 6 * s * h * 96;
  EXPECT_NEAR(ModelFlopsPerToken(model, 2048).count(), formula - half_of_attention, formula * 1e-9);
}

TEST(ModelFlops, ASlidingWindowAsLongAsTheSequenceChangesNothing) {
  ModelConfig model = testing::Llama8B();
  const double full = ModelFlopsPerToken(model, 8192).count();
  model.sliding_window = 8192;
  EXPECT_EQ(ModelFlopsPerToken(model, 8192).count(), full);
  model.sliding_window = 1;
  EXPECT_NEAR(MeanContext(model, 8192), 1, 1e-3);
}

}  // namespace
}  // namespace trunkline
