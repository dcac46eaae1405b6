#include "scenario/prepare.h"

#include <algorithm>
#include <utility>

#include "trunkline/base/random.h"
#include "trunkline/fabric/build.h"
#include "trunkline/fabric/catalog.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

// Ranks whose timelines are kept, beside the critical one: the first of every program, at most this
// many.
constexpr std::size_t kRecordedRanks = 32;

std::vector<RankId> RanksThatMatter(const TaskGraph& graph) {
  std::vector<RankId> ranks;
  std::vector<char> seen(graph.program_count(), 0);
  for (std::uint32_t r = 0; r < graph.ranks() && ranks.size() < kRecordedRanks; ++r) {
    char& known = seen[graph.program_of(RankId{r})];
    if (known == 0) ranks.push_back(RankId{r});
    known = 1;
  }
  return ranks;
}

}  // namespace

EngineOptions EngineOptionsFor(const Scenario& scenario, const RunOptions& run,
                               const TaskGraph& graph) {
  EngineOptions options;
  options.handshake = run.handshake;
  options.fold = run.fold;
  options.memo = run.memo;
  options.seed = scenario.seed;
  options.record = RanksThatMatter(graph);
  options.record_critical = true;
  options.progress = run.progress;
  options.stop = run.stop;
  return options;
}

PacketInput PacketsFor(const Scenario& scenario, const RunOptions& run, const Router& router) {
  return {.router = router,
          .switches = scenario.cluster.switches,
          .transport = scenario.cluster.packet_transport,
          .sampling = scenario.sampling,
          .samples = run.samples,
          .threads = run.threads};
}

bool HasAccelerators(const ClusterSpec& cluster) {
  return FindAccelerator(cluster.fabric->node.accelerator).has_value();
}

Diagnostics NoAccelerators() {
  return Error("TL1208", "training needs servers with accelerators",
               "name a node template with GPUs in cluster.node")
      .error();
}

Result<PreparedStep> PrepareStep(const ClusterSpec& cluster, const TrainingJob& job) {
  const auto placed = [&](const Diagnostics& problems) {
    const auto origin = job.origins.find(problems.front().code);
    return std::unexpected(origin == job.origins.end() ? problems
                                                       : PlaceAt(origin->second, problems));
  };
  const auto accelerator = FindAccelerator(cluster.fabric->node.accelerator);
  if (!accelerator) {
    return placed(NoAccelerators());
  }
  auto training = BuildTraining(job.model, job.plan, *accelerator);
  if (!training) return placed(training.error());
  return PreparedStep{*std::move(training), accelerator->memory};
}

Diagnostics PlaceAt(const Origin& origin, Diagnostics problems) {
  for (Diagnostic& problem : problems) {
    if (origin.where.file.empty() || !problem.where.file.empty()) continue;
    problem.where = origin.where;
    problem.excerpt = origin.excerpt;
  }
  return problems;
}

Result<Chosen> ChooseFor(Chooser& chooser, const CollectiveJob& job, Bytes size) {
  TunerLimits limits;
  if (job.algorithm != "auto") limits.algorithm = job.algorithm;
  limits.protocol = job.protocol;
  if (job.channels > 0) limits.channels = job.channels;
  CollectiveChoice wanted;
  wanted.spec.primitive = job.primitive;
  wanted.spec.bytes = size;
  wanted.spec.element_bytes = job.element_bytes;
  wanted.spec.root = job.root;
  std::vector<RankId> members;
  for (std::uint32_t r = 0; r < job.ranks; ++r) members.push_back(RankId{r});
  return chooser.Choose(wanted, limits, members);
}

std::uint64_t SeedAt(const Placement& placement, const Fabric& fabric, std::uint64_t seed) {
  DeviceId first = placement.endpoint(RankId{0});
  for (std::uint32_t r = 1; r < placement.rank_count(); ++r) {
    first = std::min(first, placement.endpoint(RankId{r}));
  }
  return first == fabric.endpoints().front() ? seed : HashCombine(seed, Index(first));
}

Result<TrafficWorkload> MakeMessages(const TrafficInput& input, std::uint32_t ranks, Rate rate,
                                     std::uint64_t seed) {
  auto traffic = MakeTraffic(input.spec, ranks, rate, seed);
  if (!traffic) return std::unexpected(PlaceAt({input.where, input.excerpt}, traffic.error()));
  return traffic;
}

}  // namespace trunkline
