#pragma once

#include "trunkline/scenario/result.h"
#include "trunkline/scenario/scenario.h"

namespace trunkline {

// Adds to the assumptions what the GPUs of one node do better than any schedule here: an AllReduce
// in the NVSwitch (NVLS), and rings over all links of a mesh.
void AssumeOfOneNode(const ClusterSpec& cluster, RunResult& result);

}  // namespace trunkline
