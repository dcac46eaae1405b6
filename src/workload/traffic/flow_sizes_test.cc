#include "trunkline/workload/flow_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "trunkline/base/random.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;

Diagnostic OnlyError(std::string_view text) {
  const auto sizes = ParseFlowSizes(text, "sizes.txt");
  EXPECT_FALSE(sizes.has_value()) << text;
  if (sizes.has_value()) return {};
  EXPECT_EQ(sizes.error().size(), 1U);
  return sizes.error().front();
}

// Sum over the pieces of (share of the piece) x (its middle), by hand from the published points.
TEST(FlowSizes, HaveTheMeansOfTheirPublishedPoints) {
  EXPECT_NEAR(FindFlowSizes("web-search")->mean(), 1'711'250, 1);
  EXPECT_NEAR(FindFlowSizes("hadoop")->mean(), 120'421.0, 1);
  EXPECT_NEAR(FindFlowSizes("ali-storage")->mean(), 40'869.8, 1);
  // 843 points have 2891.6; ours are fewer.
  EXPECT_NEAR(FindFlowSizes("google-rpc")->mean(), 2891.6, 0.01 * 2891.6);
}

TEST(FlowSizes, DrawTheirMeanAndTheirMedian) {
  for (const FlowSizesInfo& info : FlowSizeCatalog()) {
    const auto sizes = FindFlowSizes(info.name);
    ASSERT_TRUE(sizes.has_value()) << info.name;
    EXPECT_FALSE(info.summary.empty());
    // Evenly spaced quantiles: the sum is a midpoint rule for the mean.
    constexpr int kDraws = 100'000;
    double sum = 0;
    for (int i = 0; i < kDraws; ++i) {
      sum += static_cast<double>(sizes->Quantile((i + 0.5) / kDraws).count());
    }
    EXPECT_NEAR(sum / kDraws, sizes->mean(), 0.002 * sizes->mean()) << info.name;
  }
  // Between 30,000 at 30 % and 50,000 at 40 %; 50 % lies three quarters of the way from 50,000 (40
  // %) to 80,000 (53 %): 10/13.
  const auto web = FindFlowSizes("web-search");
  EXPECT_EQ(web->Quantile(0.5), Bytes(73'077));
  EXPECT_EQ(web->Quantile(0.4), Bytes(50'000));
}

TEST(FlowSizes, AreNeverLessThanOneByte) {
  EXPECT_EQ(FindFlowSizes("google-rpc")->Quantile(0), Bytes(1));
  EXPECT_EQ(FlowSizes::Fixed(Bytes(7)).Quantile(0.99), Bytes(7));
}

TEST(FlowSizes, ReadThePublishedFilesOfOthers) {
  const std::string folder = TRUNKLINE_SOURCE_DIR "/../shared/samples/simai/";
  if (!std::ifstream(folder + "hpcc_cdf_GoogleRPC2008.txt")) GTEST_SKIP() << "no samples";
  EXPECT_NEAR(FindFlowSizes(folder + "hpcc_cdf_GoogleRPC2008.txt")->mean(), 2891.62, 0.01);
  EXPECT_EQ(FindFlowSizes(folder + "hpcc_cdf_GoogleRPC2008.txt")->points().size(), 843U);
  EXPECT_NEAR(FindFlowSizes(folder + "hpcc_cdf_WebSearch_distribution.txt")->mean(), 1'711'250, 1);
}

TEST(FlowSizes, GiveAFirstPointAboveZeroPercentToItsOwnSize) {
  const auto sizes = ParseFlowSizes("100 50\n200 100\n", "sizes.txt");
  ASSERT_TRUE(sizes.has_value());
  EXPECT_DOUBLE_EQ(sizes->mean(), 0.5 * 100 + 0.5 * 150);
  EXPECT_EQ(sizes->Quantile(0.25), Bytes(100));
  EXPECT_EQ(sizes->Quantile(0.75), Bytes(150));
  EXPECT_DOUBLE_EQ(ParseFlowSizes("64 100", "sizes.txt")->mean(), 64);
  EXPECT_EQ(ParseFlowSizes("64 100", "sizes.txt")->Quantile(0.1), Bytes(64));
}

TEST(FlowSizes, NameThePlaceOfWhatIsWrong) {
  const Diagnostic falling = OnlyError("0 0\n10 50\n20 40\n30 100\n");
  EXPECT_EQ(falling.code, "TL1755");
  EXPECT_EQ(falling.where.line, 3);
  EXPECT_EQ(falling.where.column, 4);
  EXPECT_EQ(OnlyError("0 0\n10 50\n10 100\n").where.line, 3);
  EXPECT_EQ(OnlyError("10\n20 100\n").where.line, 1);
  EXPECT_THAT(OnlyError("10 nan\n20 100\n").message, HasSubstr("'nan'"));
  EXPECT_THAT(OnlyError("1e99 50\n").message, HasSubstr("'1e99'"));
  EXPECT_THAT(OnlyError("10 50\n20 101\n").message, HasSubstr("'101'"));
  EXPECT_THAT(OnlyError("10 0.5\n20 1\n").hint, HasSubstr("multiply"));
  EXPECT_THAT(OnlyError("10 50\n").message, HasSubstr("not 100"));
  EXPECT_THAT(OnlyError("# nothing\n\n").message, HasSubstr("no sizes"));
  EXPECT_THAT(OnlyError("0 20\n5 100\n").message, HasSubstr("20 % of the messages are of 0 bytes"));
  EXPECT_EQ(OnlyError(std::string_view("1 \0 2", 5)).code, "TL1102");
}

TEST(FlowSizes, SuggestTheNameThatWasMeant) {
  EXPECT_THAT(FindFlowSizes("websearch").error().front().hint, HasSubstr("web-search"));
  EXPECT_EQ(FindFlowSizes("websearch").error().front().code, "TL1756");
  EXPECT_EQ(FindFlowSizes("./nothing.txt").error().front().code, "TL1101");
}

}  // namespace
}  // namespace trunkline
