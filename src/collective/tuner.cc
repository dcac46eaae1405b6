#include "trunkline/collective/tuner.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "collective/nccl_bandwidth.h"
#include "collective/registry.h"
#include "trunkline/base/check.h"

namespace trunkline {
namespace {

// Longer than any cost that matters, so that the sum of its parts stays within simulated time.
constexpr double kHorizon = 2e6;

const Algorithm& MustFind(std::string_view name) {
  const Algorithm* algorithm = FindAlgorithm(name);
  TL_CHECK(algorithm != nullptr, "no such algorithm", name);
  return *algorithm;
}

// An unknown name is left for MakeSchedule to refuse.
std::vector<std::string> Names(Primitive primitive, const TunerLimits& limits) {
  if (limits.algorithm) {
    return {*limits.algorithm};
  }
  std::vector<std::string> names;
  for (const Algorithm& algorithm : Algorithms()) {
    if (algorithm.supports(primitive)) {
      names.emplace_back(algorithm.name);
    }
  }
  return names;
}

// NCCL gives up channels until each thread of each has a few bytes (2.30.7, src/enqueue.cc: 512
// threads for simple and ll, 640 for ll128; 64, 8 and 8 bytes, for rings with ll of each rank).
std::int64_t LeastBytesOfChannel(const Algorithm& algorithm, Protocol protocol,
                                 std::uint32_t ranks) {
  switch (protocol) {
    case Protocol::kSimple:
      return 512 * 64;
    case Protocol::kLl:
      return std::int64_t{512} * 8 * (algorithm.name == std::string_view("ring") ? ranks : 1);
    case Protocol::kLl128:
      return 640 * 8;
  }
  TL_CHECK(false, "unknown protocol");
  return 1;
}

// One for each rank of a node, so that each NIC carries one, where groups span nodes and the buffer
// is large enough; fewer, but as many on every NIC that is used, where it is not. Inside a node one
// channel fills a switch's links, and several those between pairs of GPUs. One is as good as many
// where all would go the same ways (NCCL's groups of sends and receives have one or two for a peer
// beyond the node, src/graph/paths.cc).
std::uint32_t ChannelCount(const Algorithm& algorithm, Protocol protocol,
                           const CollectiveSpec& spec, const GroupShape& shape,
                           const TunerLimits& limits) {
  if (limits.channels) {
    return *limits.channels;
  }
  if (algorithm.channels_alike(shape.meshed) || (shape.nodes == 1 && !shape.meshed)) {
    return 1;
  }
  const std::int64_t worthwhile =
      spec.bytes.count() / LeastBytesOfChannel(algorithm, protocol, shape.ranks);
  std::uint32_t channels = std::min(shape.per_node, algorithm.most_channels);
  while (channels > 1 && (channels > worthwhile || shape.per_node % channels != 0)) {
    --channels;
  }
  return channels;
}

std::vector<Protocol> Protocols(const TunerLimits& limits) {
  if (limits.protocol) {
    return {*limits.protocol};
  }
  return {Protocol::kSimple, Protocol::kLl, Protocol::kLl128};
}

// The seconds that `bytes` take at `rate`, nothing if there are none.
double Seconds(double bytes, Rate rate) { return bytes > 0 ? bytes / rate.bytes_per_second() : 0; }

TunerCandidate Price(const Algorithm& algorithm, Protocol protocol, const CollectiveSpec& spec,
                     const GroupShape& shape, const GroupNetwork& network,
                     const TransportModel& transport) {
  const auto& step = StepLatencyOf(algorithm.name, transport)[static_cast<std::size_t>(protocol)];
  const double factor = NcclLatencyFactor(algorithm, protocol, spec, shape);
  const auto after = [&](HopClass hop, Time hardware) {
    return factor * step[static_cast<std::size_t>(hop)].seconds() +
           (hardware + transport.message_overhead).seconds();
  };
  const double inside = after(network.inside_hop, network.inside_latency);
  const double outside = after(HopClass::kNetwork, network.outside_latency);
  const double flags = 128.0 / static_cast<double>(PayloadPer128(protocol));
  const auto at = [&](double bytes, double seconds) {  // that links take for them
    return bytes > 0 ? bytes / NcclRate(algorithm, protocol, spec, shape, network.generation,
                                        bytes / seconds)
                     : flags * seconds;
  };
  double latency = 0;
  double transfer = 0;
  if (shape.ranks > 1) {
    for (const CostTerm& term : algorithm.cost_terms(spec, shape)) {
      latency += term.inside_steps * inside + term.outside_steps * outside;
      transfer += at(shape.nodes > 1 ? term.node_bytes : term.inside_bytes,
                     std::max({Seconds(term.inside_bytes, network.inside),
                               Seconds(term.outside_bytes, network.outside),
                               Seconds(term.node_bytes, network.node_outside)}));
    }
  }
  return {.algorithm = algorithm.name,
          .protocol = protocol,
          .channels = spec.channels,
          .base = BaseLatencyOf(algorithm.name, protocol, transport),
          .latency = Time::FromSeconds(std::min(latency, kHorizon)),
          .transfer = Time::FromSeconds(std::min(transfer, kHorizon)),
          .chosen_by_default = algorithm.in_nccl(spec.primitive)};
}

}  // namespace

GroupShape GroupShape::Of(const GroupLayout& layout) {
  std::vector<std::uint32_t> ranks_of_node(layout.node_count());
  for (const std::uint32_t node : layout.node) {
    ++ranks_of_node[node];
  }
  return {.ranks = layout.size(),
          .nodes = layout.node_count(),
          .per_node = *std::ranges::max_element(ranks_of_node),
          .meshed = layout.meshed};
}

const StepLatency& StepLatencyOf(std::string_view algorithm, const TransportModel& transport) {
  return MustFind(algorithm).is_tree ? transport.tree_step_latency : transport.step_latency;
}

Time BaseLatencyOf(std::string_view algorithm, Protocol protocol, const TransportModel& transport) {
  const auto& rows =
      MustFind(algorithm).is_tree ? transport.tree_base_latency : transport.ring_base_latency;
  return rows[static_cast<std::size_t>(protocol)];
}

Result<std::vector<TunerCandidate>> RankCandidates(const CollectiveSpec& spec,
                                                   const GroupLayout& layout,
                                                   const GroupNetwork& network,
                                                   const TransportModel& transport,
                                                   const TunerLimits& limits) {
  if (Diagnostics problems = CheckSpec(spec, layout); !problems.empty()) {
    return std::unexpected(std::move(problems));
  }
  const GroupShape shape = GroupShape::Of(layout);
  std::vector<TunerCandidate> candidates;
  Diagnostics refusals;
  for (const std::string& name : Names(spec.primitive, limits)) {
    const Algorithm* algorithm = FindAlgorithm(name);
    for (const Protocol protocol : Protocols(limits)) {
      CollectiveSpec priced = spec;
      priced.step = PipelineStep(protocol);
      if (algorithm != nullptr) {
        priced.channels = ChannelCount(*algorithm, protocol, spec, shape, limits);
      }
      // Only the algorithm knows whether the layout and the sizes fit.
      if (auto schedule = MakeSchedule(name, priced, layout); !schedule) {
        refusals = std::move(schedule.error());
        continue;
      }
      candidates.push_back(Price(*algorithm, protocol, priced, shape, network, transport));
      candidates.back().chosen_by_default |= limits.algorithm.has_value();
    }
  }
  if (candidates.empty()) {
    return std::unexpected(std::move(refusals));
  }
  std::ranges::sort(candidates, {}, [](const TunerCandidate& candidate) {
    return std::tuple(!candidate.chosen_by_default, candidate.cost(), candidate.protocol,
                      std::string_view(candidate.algorithm));
  });
  return candidates;
}

}  // namespace trunkline
