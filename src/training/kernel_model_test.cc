#include "training/kernel_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace trunkline {
namespace {

Accelerator Device(std::string name, double peak, double best, std::int64_t gigabytes_per_second) {
  Accelerator device;
  device.name = std::move(name);
  device.bf16 = FlopRate(peak * 1e12);
  device.best_matmul_bf16 = FlopRate(best * 1e12);
  device.memory_bandwidth = Rate::GigabytesPerSecond(gigabytes_per_second);
  return device;
}
Accelerator A100Pcie() { return Device("A100-PCIe-80GB", 312, 252.9, 1940); }
Accelerator H100() { return Device("H100-SXM5-80GB", 989, 794.5, 3350); }
Accelerator B200() { return Device("B200-SXM", 2250, 1745, 8000); }

KernelModel ModelOf(const Accelerator& device) {
  return *KernelModel::Make(device, Precision::kBf16);
}

double Teraflops(const KernelCost& cost) { return cost.flops.count() / cost.time.seconds() / 1e12; }

TEST(KernelModel, GivesMeasuredShapesBackOnTheirDevice) {
  // Two rows of data/kernels/gemm.yaml.
  const KernelCost forward =
      ModelOf(A100Pcie()).Gemm("", {.m = 4096, .n = 8192, .k = 8192}, GemmPass::kForward);
  EXPECT_NEAR(Teraflops(forward), 228.6, 0.01);
  EXPECT_FALSE(forward.extrapolated);
  const KernelCost weight =
      ModelOf(B200()).Gemm("", {.m = 4096, .n = 14336, .k = 4096}, GemmPass::kWeightGrad);
  EXPECT_NEAR(Teraflops(weight), 1021.6, 0.01);
}

// The H100's peak lies 58.4 % of the way from the A100's to the B200's on a log scale.
TEST(KernelModel, PlacesADeviceBetweenTheMeasuredOnesByItsPeak) {
  const GemmShape shape{.m = 4096, .n = 8192, .k = 8192};
  const KernelCost cost = ModelOf(H100()).Gemm("", shape, GemmPass::kForward);
  const double a100 = 228.6 / 252.9;
  const double b200 = Teraflops(ModelOf(B200()).Gemm("", shape, GemmPass::kForward)) / 1745;
  const double position = std::log(989.0 / 312) / std::log(2250.0 / 312);
  EXPECT_NEAR(Teraflops(cost), 794.5 * std::pow(a100, 1 - position) * std::pow(b200, position),
              0.05);
  EXPECT_TRUE(cost.extrapolated);
}

TEST(KernelModel, SmallMatricesAreBoundByMemory) {
  const KernelCost cost =
      ModelOf(H100()).Gemm("", {.m = 1, .n = 8192, .k = 8192}, GemmPass::kForward);
  const double bytes = 2.0 * (8192 + 8192.0 * 8192 + 8192);
  EXPECT_NEAR(cost.time.seconds(), bytes / (3350e9 * 1456 / 1940), 1e-9);
  EXPECT_TRUE(cost.extrapolated);
}

// FlashAttention-2 on an A100: 173 TFLOP/s at 4,096 tokens, 16 heads of 128, batch 4.
TEST(KernelModel, GivesTheFlashAttentionChartBack) {
  const KernelModel model = ModelOf(Device("A100-SXM4-80GB", 312, 271.2, 2000));
  const AttentionShape shape{.batch = 4,
                             .sequence = 4096,
                             .heads = 16,
                             .kv_heads = 16,
                             .head_dim = 128,
                             .mean_context = 2048};
  for (const AttentionPass pass : {AttentionPass::kForward, AttentionPass::kBackward}) {
    const KernelCost cost = model.Attention("", shape, pass);
    EXPECT_NEAR(Teraflops(cost), 173, 0.01);
    EXPECT_FALSE(cost.extrapolated);
  }
}

TEST(KernelModel, AttentionBetweenChartedSequencesLiesBetweenThem) {
  const KernelModel model = ModelOf(H100());
  double last = 0;
  for (std::int64_t sequence = 4096; sequence <= 8192; sequence += 512) {
    const double context = static_cast<double>(sequence) / 2;
    const KernelCost cost = model.Attention("",
                                            {.batch = 4,
                                             .sequence = sequence,
                                             .heads = 32,
                                             .kv_heads = 8,
                                             .head_dim = 128,
                                             .mean_context = context},
                                            AttentionPass::kForward);
    const double rate = Teraflops(cost);
    EXPECT_GE(rate, 579 - 0.01);
    EXPECT_LE(rate, 602 + 0.01);
    EXPECT_GT(rate, last);
    last = rate;
  }
}

TEST(KernelModel, FewHeadsLeaveTheDeviceIdle) {
  const KernelModel model = ModelOf(A100Pcie());
  const auto rate = [&](std::int64_t heads) {
    return Teraflops(model.Attention("",
                                     {.batch = 1,
                                      .sequence = 4096,
                                      .heads = heads,
                                      .kv_heads = 1,
                                      .head_dim = 128,
                                      .mean_context = 2048},
                                     AttentionPass::kForward));
  };
  EXPECT_NEAR(rate(8) / rate(64), 245.4 / 370.3, 0.01);  // as measured with 8 and 64 heads
  EXPECT_NEAR(rate(1) / rate(2), 0.5, 1e-6);             // one row block a processor at most
}

TEST(KernelModel, MoreMemoryBandwidthOrABetterMatmulNeverSlowsAKernel) {
  const GemmShape shapes[] = {{.m = 128, .n = 4096, .k = 4096}, {.m = 8192, .n = 8192, .k = 1024}};
  const KernelModel base = ModelOf(H100());
  const KernelModel more_memory = ModelOf(Device("H100-SXM5-80GB", 989, 794.5, 4800));
  const KernelModel more_matmul = ModelOf(Device("H100-SXM5-80GB", 989, 850, 3350));
  for (const GemmShape& shape : shapes) {
    const Time time = base.Gemm("", shape, GemmPass::kForward).time;
    EXPECT_LE(more_memory.Gemm("", shape, GemmPass::kForward).time, time);
    EXPECT_LE(more_matmul.Gemm("", shape, GemmPass::kForward).time, time);
  }
  EXPECT_LT(more_memory.Streaming("", 1e9).time, base.Streaming("", 1e9).time);
}

// What the interpolation is worth: each measured shape predicted from the others
// (docs/training.md).
TEST(KernelModel, PredictsShapesLeftOutWithinTheDocumentedError) {
  const double documented[2][kGemmPassCount] = {{0.035, 0.035, 0.046}, {0.115, 0.095, 0.09}};
  for (std::size_t d = 0; d < 2; ++d) {
    for (std::size_t pass = 0; pass < kGemmPassCount; ++pass) {
      const std::vector<MeasuredGemm>& all = Kernels().gemm[d].measured[pass];
      double sum = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        std::vector<MeasuredGemm> others = all;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        sum += std::abs(InterpolateGemm(others, all[i].log_shape).fraction / all[i].fraction - 1);
      }
      EXPECT_LT(sum / static_cast<double>(all.size()), documented[d][pass]) << d << " " << pass;
    }
  }
}

TEST(KernelModel, AssumesAShareOfPeakWhereNoBestMatmulIsKnown) {
  Accelerator device = A100Pcie();
  device.best_matmul_bf16.reset();
  const KernelCost cost =
      ModelOf(device).Gemm("", {.m = 4096, .n = 8192, .k = 8192}, GemmPass::kForward);
  EXPECT_NEAR(Teraflops(cost), 228.6, 0.01);
  EXPECT_TRUE(cost.extrapolated);
}

TEST(KernelModel, RefusesFp32) {
  const auto model = KernelModel::Make(H100(), Precision::kFp32);
  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(model.error().front().code, "TL1311");
}

}  // namespace
}  // namespace trunkline
