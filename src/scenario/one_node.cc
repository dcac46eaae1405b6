#include "scenario/one_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "engine/alike.h"
#include "trunkline/fabric/accelerator.h"
#include "trunkline/fabric/build.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

// From here on NCCL takes NVLS.
constexpr Bytes kLarge{std::int64_t{2} << 20};

// An AllReduce among GPUs of one node, large enough.
bool HasLargeAllReduce(const RunResult& result) {
  const auto large = [](const CollectiveRow& row) {
    return row.primitive == Primitive::kAllReduce && row.bytes >= kLarge;
  };
  if (result.fragmentation.nodes == 1 && std::ranges::any_of(result.rows, large)) return true;
  const std::uint64_t per_node =
      result.fabric->endpoints().size() / std::max<std::uint64_t>(1, result.fabric->node_count());
  return std::ranges::any_of(result.step_collectives, [&](const StepCollective& collective) {
    return collective.role == "tp" && collective.group_size <= per_node && large(collective.row);
  });
}

bool MeetsAtSwitch(const Fabric& fabric, DeviceId gpu) {
  return std::ranges::any_of(fabric.out(gpu), [&](LinkId id) {
    return fabric.device(fabric.link(id).to).kind == DeviceKind::kNvSwitch;
  });
}

// What NCCL's formula (src/graph/tuning.cc of 2.30.7) makes of NVLS on a whole node of eight GPUs,
// as bus bandwidth: 8 heads x what each is given x efficiency x 7/8 of the channels x 2.
std::string BandwidthOfNvls(GpuGeneration generation, std::size_t gpus) {
  if (gpus != 8) return "";
  if (generation == GpuGeneration::kHopper) {
    return fmt::format(
        ": {:.0f} GB/s of bus bandwidth by its own formula on 8 GPUs of this kind "
        "(476 to 483 measured on 8 H100)",
        8 * 40 * 0.85 * 7 / 8 * 2);
  }
  return fmt::format(": {:.0f} GB/s of bus bandwidth by its own formula on 8 GPUs of this kind",
                     8 * 80 * 0.74 * 7 / 8 * 2);
}

}  // namespace

void AssumeOfOneNode(const ClusterSpec& cluster, RunResult& result) {
  const Fabric& fabric = *result.fabric;
  const DeviceId gpu = fabric.endpoints().front();
  if (IsMeshed(fabric, gpu)) {
    result.assumptions.push_back(fmt::format(
        "rings: GPUs that are joined pair by pair are walked in strides, which takes 4 of the 7 "
        "links of 8 GPUs; RCCL's rings take all{}",
        result.fragmentation.nodes == 1 && cluster.fabric->node.name == "mi300x"
            ? ": 313 GB/s of bus bandwidth measured for an AllReduce of 4 GiB on 8 MI300X"
            : ""));
    return;
  }
  const auto accelerator = FindAccelerator(cluster.fabric->node.accelerator);
  if (!accelerator || accelerator->generation < GpuGeneration::kHopper) return;
  if (!MeetsAtSwitch(fabric, gpu) || !HasLargeAllReduce(result)) return;
  const std::size_t gpus = result.rows.empty() ? 0 : result.placement.rank_count();
  result.assumptions.push_back(fmt::format(
      "NVLS: among GPUs of one NVSwitch NCCL has the switch add up an AllReduce from 2 MiB on{}; "
      "here they take rings and trees over NVLink, as NCCL does with NCCL_NVLS_ENABLE=0",
      BandwidthOfNvls(accelerator->generation, gpus)));
}

}  // namespace trunkline
