#include "trunkline/training/model.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace trunkline
