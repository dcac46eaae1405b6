#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "training/kernel_tables.h"
#include "trunkline/base/diagnostics.h"
#include "trunkline/fabric/accelerator.h"
#include "trunkline/training/plan.h"
#include "trunkline/training/training.h"

namespace trunkline {

struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
};

// Causal attention of `heads` query heads over sequences of `sequence` tokens.
struct AttentionShape {
  std::int64_t batch = 0;
  std::int64_t sequence = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  double mean_context = 0;  // tokens a query attends to, on average
};

struct GemmEstimate {
  double fraction = 0;  // of the best matmul
  double distance = 0;  // to the nearest measured shape, in log (m, n, k)
};
// Mean of the nearest measured shapes, each weighted by 1 / distance^2.
// REQUIRES: `measured` is not empty.
[[nodiscard]] GemmEstimate InterpolateGemm(std::span<const MeasuredGemm> measured,
                                           const std::array<double, 3>& log_shape);

// Seconds that no kernel exceeds; BuildTraining refuses a step that computes as long.
inline constexpr double kLongestKernel = 1e6;

// How long kernels take on one device: a roofline whose compute ceiling depends on the shape.
//
// Matrix multiplications: the fraction of the best matmul that measured neighbours in log (m, n, k)
// reach, on the two measured devices around the target's peak, times the target's best matmul.
// Attention: charts by head dimension and sequence, times an occupancy curve. Everything else:
// bytes over the memory bandwidth that such kernels reach.
class KernelModel {
 public:
  // Fails with TL1311 when the device has no peak at that precision.
  static Result<KernelModel> Make(const Accelerator& accelerator, Precision precision);

  [[nodiscard]] FlopRate peak() const { return FlopRate(peak_); }

  [[nodiscard]] KernelCost Gemm(std::string name, const GemmShape& shape, GemmPass pass) const;
  [[nodiscard]] KernelCost Attention(std::string name, const AttentionShape& shape,
                                     AttentionPass pass) const;
  // A kernel that moves `bytes` and does no arithmetic worth counting.
  [[nodiscard]] KernelCost Streaming(std::string name, double bytes) const;

 private:
  KernelModel() = default;

  [[nodiscard]] KernelCost Roofline(KernelCost cost, double flops, double bytes, double rate) const;

  std::string device_;
  double peak_ = 0;         // FLOP/s of the matrix units at the plan's precision
  double bf16_peak_ = 0;    // FLOP/s; selects charts, which are all bf16
  double best_matmul_ = 0;  // FLOP/s
  bool best_matmul_borrowed_ = false;
  bool precision_borrowed_ = false;  // shape curves are bf16, the plan is not 16-bit
  double memory_bandwidth_ = 0;      // bytes/s that byte-moving kernels reach
  std::int64_t element_bytes_ = 2;   // of GEMM operands
};

}  // namespace trunkline
