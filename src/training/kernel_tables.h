#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace trunkline {

// The operand layouts of a linear layer's three matrix multiplications.
enum class GemmPass : std::uint8_t { kForward, kDataGrad, kWeightGrad };
inline constexpr std::size_t kGemmPassCount = 3;

enum class AttentionPass : std::uint8_t { kForward, kBackward };
inline constexpr std::size_t kAttentionPassCount = 2;

struct MeasuredGemm {
  std::array<double, 3> log_shape{};  // of m, n, k
  double fraction = 0;                // of the device's best matmul
};

struct GemmDevice {
  std::string name;
  std::string source;
  double peak = 0;         // FLOP/s
  double best_matmul = 0;  // FLOP/s
  std::array<std::vector<MeasuredGemm>, kGemmPassCount> measured;
};

// y over x, ascending in x.
struct Curve {
  struct Point {
    double x = 0;
    double y = 0;
  };
  std::vector<Point> points;

  // Linear in log x; the end values outside the points.
  [[nodiscard]] double At(double x) const;
  [[nodiscard]] bool covers(double x) const {
    return x >= points.front().x && x <= points.back().x;
  }
};

struct AttentionChart {
  std::string device;
  std::string kernel;
  double peak = 0;  // FLOP/s
  std::array<bool, kAttentionPassCount> passes{};
  bool combined = false;  // one figure for both passes
  std::int64_t head_dim = 0;
  Curve rate;  // FLOP/s over sequence length, at full occupancy
};

struct OccupancyCurve {
  std::string device;
  double peak = 0;  // FLOP/s
  AttentionPass pass = AttentionPass::kForward;
  Curve fraction;  // of the rate at full occupancy, over batch x heads x sequence
};

// data/kernels, read once.
struct KernelTables {
  std::vector<GemmDevice> gemm;  // by ascending peak
  std::vector<AttentionChart> attention;
  std::vector<OccupancyCurve> occupancy;  // by ascending peak within a pass
  double streaming_fraction = 0;          // of the memory bandwidth that byte-moving kernels reach
  std::string streaming_device;
};

[[nodiscard]] const KernelTables& Kernels();

}  // namespace trunkline
