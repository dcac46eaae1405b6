#pragma once

#include <cstdint>
#include <vector>

#include "scenario/choose.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/placement.h"
#include "trunkline/scenario/run.h"
#include "trunkline/scenario/scenario.h"
#include "trunkline/training/training.h"

// From what a scenario says runs to what engines run.
namespace trunkline {

// How a graph is run: of its timelines, those of the first rank of every program are kept.
[[nodiscard]] EngineOptions EngineOptionsFor(const Scenario& scenario, const RunOptions& run,
                                             const TaskGraph& graph);
// What packets read beside the graph, but for the faults that come during the run.
[[nodiscard]] PacketInput PacketsFor(const Scenario& scenario, const RunOptions& run,
                                     const Router& router);

// A step of a model on the cluster's servers, and the memory of one of their accelerators.
struct PreparedStep {
  TrainingWorkload training;
  Bytes memory;
};
// TL1208 (NoAccelerators), TL1310.
[[nodiscard]] Result<PreparedStep> PrepareStep(const ClusterSpec& cluster, const TrainingJob& job);

[[nodiscard]] bool HasAccelerators(const ClusterSpec& cluster);
[[nodiscard]] Diagnostics NoAccelerators();

// Problems without a place get `origin`, where that is one.
[[nodiscard]] Diagnostics PlaceAt(const Origin& origin, Diagnostics problems);

// The collective at one size among all of the job's ranks, with what it leaves open chosen by cost.
[[nodiscard]] Result<Chosen> ChooseFor(Chooser& chooser, const CollectiveJob& job, Bytes size);

// The seed of what traffic at such a place draws: that of the run where it has the first of the
// fabric's endpoints, so that a workload draws the same alone as beside other jobs; else one of its
// own, as no two jobs share an endpoint.
[[nodiscard]] std::uint64_t SeedAt(const Placement& placement, const Fabric& fabric,
                                   std::uint64_t seed);

// Problems of the messages without a place are those of the workload as a whole.
[[nodiscard]] Result<TrafficWorkload> MakeMessages(const TrafficInput& input, std::uint32_t ranks,
                                                   Rate rate, std::uint64_t seed);

}  // namespace trunkline
