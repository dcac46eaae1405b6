#pragma once

#include "trunkline/collective/algorithm.h"
#include "trunkline/fabric/accelerator.h"
#include "trunkline/transport/transport.h"

// What NCCL expects of its algorithms and protocols, which it chooses by: less than links carry.
namespace trunkline {

// Bytes of data a second that go over all channels together where their links carry `bus` bytes.
// Algorithms that NCCL has not are taken to lose to flags alone.
[[nodiscard]] double NcclRate(const Algorithm& algorithm, Protocol protocol,
                              const CollectiveSpec& spec, const GroupShape& shape,
                              GpuGeneration generation, double bus);

// What the software latency of steps is multiplied by.
[[nodiscard]] double NcclLatencyFactor(const Algorithm& algorithm, Protocol protocol,
                                       const CollectiveSpec& spec, const GroupShape& shape);

}  // namespace trunkline
