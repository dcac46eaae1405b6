#include "trunkline/scenario/collective_times.h"

#include <memory>
#include <utility>

#include "trunkline/scenario/run.h"

namespace trunkline {
namespace {

Result<Time> TimeOf(const std::shared_ptr<const BuiltFabric>& built, RoutingPolicy routing,
                    Primitive primitive, const std::string& algorithm, Bytes size,
                    const RunOptions& options) {
  Scenario scenario;
  scenario.cluster.fabric = built;
  scenario.cluster.routing = routing;
  scenario.cluster.transport = DefaultTransport(TransportKind::kInfiniband);
  scenario.cluster.transport_name = "infiniband";
  CollectiveJob job;
  job.primitive = primitive;
  job.sizes = {size};
  job.algorithm = algorithm;
  job.protocol = Protocol::kSimple;
  job.ranks = static_cast<std::uint32_t>(built->fabric.endpoints().size());
  scenario.workload = std::move(job);
  const auto result = RunScenario(scenario, options);
  if (!result) return std::unexpected(result.error());
  return result->time;
}

}  // namespace

Result<CollectiveTimes> TimeCollectives(const std::shared_ptr<const BuiltFabric>& built,
                                        RoutingPolicy routing, ProgressSink* progress,
                                        const StopToken* stop) {
  RunOptions options;
  options.progress = progress;
  options.stop = stop;
  const auto all_to_all =
      TimeOf(built, routing, Primitive::kAllToAll, "auto", kAllToAllBytes, options);
  if (!all_to_all) return std::unexpected(all_to_all.error());
  const auto ring = TimeOf(built, routing, Primitive::kAllReduce, "ring", kRingBytes, options);
  if (!ring) return std::unexpected(ring.error());
  return CollectiveTimes{*all_to_all, *ring};
}

}  // namespace trunkline
