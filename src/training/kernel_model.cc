#include "training/kernel_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

namespace trunkline {
namespace {

// Neighbours that shape a GEMM's efficiency, weighted by 1 / distance^2 in log (m, n, k). Leaving
// each measured shape out in turn, this predicts the A100's with a mean error of 3.4 to 4.4 % and
// the B200's with 9 to 11 % (docs/training.md).
constexpr std::size_t kNeighbours = 4;
// A shape whose nearest measured neighbour is more than this factor away in some direction is
// labelled extrapolated.
constexpr double kFarShape = 2.0;

// FlashAttention's backward pass does five matrix multiplications to the forward's two.
constexpr double kAttentionBackward = 2.5;

// The entries (ascending in peak) around a device's peak, and where it lies between them on a log
// scale; both are the same one at and beyond the ends.
template <typename Entry>
struct Neighbours {
  const Entry* low;
  const Entry* high;
  double position = 0;

  Neighbours(std::span<const Entry> entries, double peak) {
    const auto above = std::ranges::lower_bound(entries, peak, {}, &Entry::peak);
    high = above == entries.end() ? &entries.back() : &*above;
    low =
        above == entries.begin() || above == entries.end() || high->peak == peak ? high : high - 1;
    if (low != high) position = std::log(peak / low->peak) / std::log(high->peak / low->peak);
  }

  // Geometric interpolation of what `value` gives for the two.
  template <typename Value>
  [[nodiscard]] double Interpolate(Value value) const {
    if (low == high) return value(*low);
    return std::exp((1 - position) * std::log(value(*low)) + position * std::log(value(*high)));
  }
};

Neighbours<GemmDevice> GemmNeighbours(double peak) {
  return {std::span<const GemmDevice>(Kernels().gemm), peak};
}

// The chart that fits best: the device nearest in peak, then a chart of this pass alone before a
// combined one, then the nearest head dimension.
const AttentionChart& BestChart(const KernelTables& tables, double peak, AttentionPass pass,
                                std::int64_t head_dim) {
  const AttentionChart* best = nullptr;
  const auto rank = [&](const AttentionChart& chart) {
    return std::tuple(
        std::abs(std::log(chart.peak / peak)), chart.combined,
        std::abs(std::log(static_cast<double>(chart.head_dim) / static_cast<double>(head_dim))));
  };
  for (const AttentionChart& chart : tables.attention) {
    if (!chart.passes[static_cast<std::size_t>(pass)]) continue;
    if (best == nullptr || rank(chart) < rank(*best)) best = &chart;
  }
  TL_CHECK(best != nullptr, "no attention chart");
  return *best;
}

}  // namespace

double Curve::At(double x) const {
  const auto above = std::ranges::upper_bound(points, x, {}, &Point::x);
  if (above == points.begin()) return points.front().y;
  if (above == points.end()) return points.back().y;
  const Point& low = *std::prev(above);
  const double t = std::log(x / low.x) / std::log(above->x / low.x);
  return low.y + t * (above->y - low.y);
}

GemmEstimate InterpolateGemm(std::span<const MeasuredGemm> measured,
                             const std::array<double, 3>& log_shape) {
  struct Neighbour {
    double distance2;
    double fraction;
  };
  std::vector<Neighbour> all;
  all.reserve(measured.size());
  for (const MeasuredGemm& point : measured) {
    double distance2 = 0;
    for (std::size_t i = 0; i < log_shape.size(); ++i) {
      const double d = point.log_shape[i] - log_shape[i];
      distance2 += d * d;
    }
    all.push_back({distance2, point.fraction});
  }
  const std::size_t used = std::min(kNeighbours, all.size());
  std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(used), {},
                            &Neighbour::distance2);
  if (all.front().distance2 == 0) return {all.front().fraction, 0};
  double weight = 0;
  double sum = 0;
  for (const Neighbour& neighbour : std::span(all).first(used)) {
    weight += 1 / neighbour.distance2;
    sum += std::log(neighbour.fraction) / neighbour.distance2;
  }
  return {std::exp(sum / weight), std::sqrt(all.front().distance2)};
}

Result<KernelModel> KernelModel::Make(const Accelerator& accelerator, Precision precision) {
  KernelModel model;
  model.device_ = accelerator.name;
  model.bf16_peak_ = accelerator.bf16.per_second();
  std::optional<FlopRate> best = accelerator.best_matmul_bf16;
  model.peak_ = model.bf16_peak_;
  if (precision == Precision::kFp32) {
    return Error("TL1311", "precision fp32: no fp32 matrix rate is known for any accelerator",
                 "use precision bf16 or fp16");
  }
  if (precision == Precision::kFp8) {
    if (!accelerator.fp8) {
      return Error("TL1311", fmt::format("{} has no fp8 matrix units", accelerator.name),
                   "use precision bf16");
    }
    model.peak_ = accelerator.fp8->per_second();
    best = accelerator.best_matmul_fp8;
    model.precision_borrowed_ = true;
    model.element_bytes_ = 1;
  }
  const KernelTables& tables = Kernels();
  if (best) {
    model.best_matmul_ = best->per_second();
  } else {
    model.best_matmul_borrowed_ = true;
    model.best_matmul_ =
        model.peak_ * GemmNeighbours(model.bf16_peak_).Interpolate([](const GemmDevice& device) {
          return device.best_matmul / device.peak;
        });
  }
  model.memory_bandwidth_ =
      accelerator.memory_bandwidth.bytes_per_second() * tables.streaming_fraction;
  return model;
}

KernelCost KernelModel::Roofline(KernelCost cost, double flops, double bytes, double rate) const {
  const double compute = rate > 0 ? flops / rate : 0;
  const double seconds = std::max(compute, bytes / memory_bandwidth_);
  cost.flops = Flops(flops);
  cost.memory_traffic = Bytes(static_cast<std::int64_t>(bytes));
  cost.time = Time::FromSeconds(std::min(seconds, kLongestKernel));
  if (flops > 0 && seconds > 0) cost.efficiency = flops / seconds / peak_;
  if (flops > 0 && seconds > compute) cost.source += "; bound by memory bandwidth";
  return cost;
}

KernelCost KernelModel::Gemm(std::string name, const GemmShape& shape, GemmPass pass) const {
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  const auto batch = static_cast<double>(shape.batch);
  double nearest = INFINITY;
  const Neighbours<GemmDevice> devices = GemmNeighbours(bf16_peak_);
  const double fraction = devices.Interpolate([&](const GemmDevice& device) {
    const GemmEstimate estimate = InterpolateGemm(device.measured[static_cast<std::size_t>(pass)],
                                                  {std::log(m), std::log(n), std::log(k)});
    nearest = std::min(nearest, estimate.distance);
    return estimate.fraction;
  });
  KernelCost cost;
  cost.name = std::move(name);
  cost.shape = shape.batch == 1
                   ? fmt::format("m={} n={} k={}", shape.m, shape.n, shape.k)
                   : fmt::format("{} x m={} n={} k={}", shape.batch, shape.m, shape.n, shape.k);
  cost.extrapolated = devices.low->name != device_ || precision_borrowed_ ||
                      best_matmul_borrowed_ || nearest > std::log(kFarShape);
  cost.source = fmt::format("shape curve of {}{}{}, times the best matmul {}", devices.low->name,
                            devices.low == devices.high ? "" : " and " + devices.high->name,
                            precision_borrowed_ ? " (bf16)" : "", Humanize(FlopRate(best_matmul_)));
  if (best_matmul_borrowed_) cost.source += " (assumed share of peak)";
  // A weight gradient is added to an fp32 accumulator: read and written.
  const double out_bytes = pass == GemmPass::kWeightGrad ? 8 : 2;
  const double bytes =
      batch * (static_cast<double>(element_bytes_) * (m * k + k * n) + out_bytes * m * n);
  return Roofline(std::move(cost), batch * 2 * m * n * k, bytes, fraction * best_matmul_);
}

KernelCost KernelModel::Attention(std::string name, const AttentionShape& shape,
                                  AttentionPass pass) const {
  const KernelTables& tables = Kernels();
  const auto sequence = static_cast<double>(shape.sequence);
  const auto head_dim = static_cast<double>(shape.head_dim);
  const AttentionChart& chart = BestChart(tables, bf16_peak_, pass, shape.head_dim);
  const double rows = static_cast<double>(shape.batch * shape.heads) * sequence;

  std::vector<OccupancyCurve> curves;
  std::ranges::copy_if(tables.occupancy, std::back_inserter(curves),
                       [pass](const OccupancyCurve& curve) { return curve.pass == pass; });
  bool rows_measured = true;
  const Neighbours<OccupancyCurve> devices(std::span<const OccupancyCurve>(curves), bf16_peak_);
  const double occupancy = devices.Interpolate([&](const OccupancyCurve& curve) {
    const double least = curve.fraction.points.front().x;
    if (rows >= least) return curve.fraction.At(rows);
    rows_measured = false;  // too few rows to fill the device: the rate falls with them
    return curve.fraction.At(least) * rows / least;
  });

  KernelCost cost;
  cost.name = std::move(name);
  cost.shape = fmt::format("b={} s={} heads={} kv={} d={}", shape.batch, shape.sequence,
                           shape.heads, shape.kv_heads, shape.head_dim);
  cost.extrapolated = chart.peak != bf16_peak_ || chart.head_dim != shape.head_dim ||
                      !chart.rate.covers(sequence) || !rows_measured;
  cost.source = fmt::format("{} chart of {}, d={}{}, occupancy {:.2f}", chart.kernel, chart.device,
                            chart.head_dim, chart.combined ? ", forward and backward together" : "",
                            occupancy);
  const double forward = 4 * rows * shape.mean_context * head_dim;
  const double q_and_out = 2 * rows * head_dim * 2;
  const double kv = 2 * static_cast<double>(shape.batch * shape.kv_heads) * sequence * head_dim * 2;
  const bool backward = pass == AttentionPass::kBackward;
  return Roofline(std::move(cost), backward ? kAttentionBackward * forward : forward,
                  (q_and_out + kv) * (backward ? 2 : 1),
                  chart.rate.At(sequence) * bf16_peak_ / chart.peak * occupancy);
}

KernelCost KernelModel::Streaming(std::string name, double bytes) const {
  KernelCost cost;
  cost.name = std::move(name);
  cost.extrapolated = device_ != Kernels().streaming_device;
  cost.source = fmt::format("{:.0f} % of memory bandwidth, as measured on {}",
                            100 * Kernels().streaming_fraction, Kernels().streaming_device);
  return Roofline(std::move(cost), 0, bytes, 0);
}

}  // namespace trunkline
