#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/units.h"

// The accelerators that are built in, from data/accelerators.
namespace trunkline {

// Whose figures NCCL expects its channels to reach.
enum class GpuGeneration : std::uint8_t { kOther, kAmpere, kHopper, kBlackwell };

// One accelerator. Peaks are dense (no sparsity). Each figure's source is in its data file.
struct Accelerator {
  std::string name;  // "H100-SXM5-80GB"
  FlopRate bf16;     // peak
  std::optional<FlopRate> fp8;
  std::optional<FlopRate> best_matmul_bf16;  // best measured matmul; none: not known
  std::optional<FlopRate> best_matmul_fp8;
  Bytes memory;
  Rate memory_bandwidth;
  GpuGeneration generation = GpuGeneration::kOther;
  std::string source;
};

[[nodiscard]] std::vector<std::string> AcceleratorNames();
// TL1400: unknown name, with a did-you-mean.
[[nodiscard]] Result<Accelerator> FindAccelerator(std::string_view name);

}  // namespace trunkline
