#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/fabric/cost.h"
#include "trunkline/planner/fabric_trial.h"

// What a fabric costs, and how long work takes on it, as it grows past what the ports of its
// switches hold.
namespace trunkline {

struct GrowthPoint {
  std::uint32_t nodes = 0;
  std::uint64_t gpus = 0;  // or hosts
  std::uint32_t tiers = 0;
  std::uint64_t switches = 0;
  std::uint64_t cables = 0;
  double price = 0;
  double watts = 0;
  bool complete = true;  // the list sells all of its parts
  // Over all endpoints, by the analytic engine. Absent where it cannot run: `troubles` says why.
  std::optional<Time> all_reduce = {};
  std::optional<Time> all_to_all = {};
  std::optional<Time> step = {};
  std::vector<std::string> troubles = {};

  [[nodiscard]] double per_gpu() const { return price / static_cast<double>(gpus); }
  // What a step takes of all of them.
  [[nodiscard]] std::optional<double> step_gpu_seconds() const {
    return step ? std::optional(step->seconds() * static_cast<double>(gpus)) : std::nullopt;
  }
};

struct Growth {
  std::string name;
  std::string prices;
  std::string currency;
  // By nodes, four to each doubling; and where a tier is added, the points on both sides of it.
  std::vector<GrowthPoint> points;
  std::string stopped_by;  // why it does not grow to the number asked for; empty: it does
  Bytes size;              // of the collectives
  std::string step;        // what the step is of; empty: none is run
  bool of_gpus = true;     // nodes hold GPUs; else each is a host
};

// `spec` with more and more nodes, up to `most_gpus`, at the prices of `options`, each with two
// collectives of its size. Its step, if any, is a training step that grows with the fabric: as many
// replicas as there are GPUs for, each with the same work (weak scaling); sizes that no whole
// number of replicas fills have none. Fails with what BuildFabric says where not even two nodes can
// be joined; TL1433 for fewer than two nodes' GPUs, or a step that is no training.
[[nodiscard]] Result<Growth> GrowFabric(const FabricSpec& spec, const std::string& name,
                                        const TrialOptions& options, std::uint64_t most_gpus);

}  // namespace trunkline
