#include "scenario/run_traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "scenario/packet_cost.h"
#include "scenario/prepare.h"
#include "scenario/reader.h"
#include "scenario/summary.h"
#include "scenario/traffic_summary.h"
#include "trunkline/base/check.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/fabric/route.h"

namespace trunkline {
namespace {

// Packets times the links that they cross. Paths are those of a sample of the flows.
double ExpectedHops(const TrafficWorkload& traffic, const RunResult& result, Bytes mtu) {
  constexpr std::size_t kSample = 256;
  const std::size_t stride = std::max<std::size_t>(1, traffic.flows.size() / kSample);
  double packets = 0;
  double sampled = 0;
  double hops = 0;
  for (std::size_t i = 0; i < traffic.flows.size(); ++i) {
    const TrafficFlow& flow = traffic.flows[i];
    const auto own =
        std::ceil(static_cast<double>(flow.bytes.count()) / static_cast<double>(mtu.count()));
    packets += own;
    if (i % stride != 0) continue;
    const auto path = result.router->FindPath(result.placement.endpoint(flow.source),
                                              result.placement.endpoint(flow.destination), i);
    if (!path) continue;  // the engine says why
    sampled += own;
    hops += own * static_cast<double>(path->size());
  }
  return sampled > 0 ? packets * hops / sampled : 0;
}

Timeline TimelineOf(const PacketReport& report) {
  Timeline timeline;
  timeline.status = report.status;
  timeline.end = report.end;
  timeline.events = report.events;
  for (const PacketLinkUse& use : report.links) {
    timeline.links.push_back({.link = use.link, .wire_bytes = use.wire_bytes, .until = use.until});
  }
  return timeline;
}

std::vector<PausedLink> PausedLinks(const PacketReport& report, const Fabric& fabric) {
  constexpr std::size_t kKept = 1'000;
  std::vector<const PacketPause*> order;
  for (const PacketPause& pause : report.pauses) order.push_back(&pause);
  std::ranges::stable_sort(order, std::greater<>(), &PacketPause::paused);
  if (order.size() > kKept) order.resize(kKept);
  std::vector<PausedLink> out;
  for (const PacketPause* pause : order) {
    const Link& link = fabric.link(pause->link);
    PausedLink row{.from = fabric.name(link.from),
                   .to = fabric.name(link.to),
                   .traffic_class = pause->traffic_class,
                   .pauses = pause->pauses,
                   .paused = pause->paused,
                   .cause_to = {},
                   .cause_share = 0};
    if (!pause->causes.empty()) {
      row.cause_to = fabric.name(fabric.link(pause->causes.front().output).to);
      row.cause_share = pause->causes.front().share;
    }
    out.push_back(std::move(row));
  }
  return out;
}

Diagnostic WarnOfShortTimes(const Saturation& saturation) {
  return Warning(
      "TL1826",
      "the measured time is too short for messages of this size to tell whether the network "
      "carries the load",
      fmt::format("write a warm_up of at least {} and a window of at least {}",
                  Humanize(saturation.least_warm_up), Humanize(saturation.least_window)));
}

// REQUIRES: the timeline has been summed up.
void Finish(const TrafficWorkload& traffic, std::span<const FlowRecord> records,
            std::shared_ptr<const TrafficResult> summary, RunResult& result) {
  const auto& saturation = summary->saturation;
  if (result.status == RunStatus::kFinished && saturation && saturation->saturated) {
    result.status = RunStatus::kSaturated;
  }
  if (saturation && !saturation->long_enough && !saturation->saturated) {
    result.warnings.push_back(WarnOfShortTimes(*saturation));
  }
  result.bound = TrafficBound(traffic, records, result);
  result.traffic = std::move(summary);
}

Result<void> RunPackets(const Scenario& scenario, const TrafficWorkload& traffic,
                        const RunOptions& options, RunResult& result) {
  const ClusterSpec& cluster = scenario.cluster;
  if (options.progress != nullptr) {
    const double hops = ExpectedHops(traffic, result, cluster.packet_transport.mtu);
    options.progress->Note(
        fmt::format("{} messages, {}", traffic.flows.size(), PacketCost(hops, options.repeat)));
  }
  PacketOptions packet;
  packet.seed = scenario.seed;
  packet.threads = options.threads;
  packet.sampling = scenario.sampling;
  packet.samples = options.samples;
  packet.fast_forward = scenario.fast_forward;
  packet.progress = options.progress;
  packet.stop = options.stop;
  auto report = RunPacketTraffic({*result.router, cluster.switches, cluster.packet_transport,
                                  cluster.timed_faults, cluster.rerouting},
                                 traffic, result.placement, packet);
  if (!report) return std::unexpected(report.error());
  SummariseTimeline(TimelineOf(*report), options.all_links, result);
  AddPacketFigures(*report, result);
  if (report->samples) {
    result.samples = std::make_shared<const PacketSamples>(*std::move(report->samples));
  }
  auto summary = std::make_shared<TrafficResult>(SummariseFlows(traffic, report->flows));
  summary->counters = report->counters;
  summary->fast_forward = report->fast_forward;
  summary->paused = PausedLinks(*report, *result.fabric);
  summary->stuck = std::move(report->stuck);
  Finish(traffic, report->flows, std::move(summary), result);
  return {};
}

Result<void> RunFluid(const Scenario& scenario, const TrafficWorkload& traffic,
                      const RunOptions& options, RunResult& result) {
  FlowTrafficOptions fluid;
  fluid.transport = &scenario.cluster.transport;
  fluid.progress = options.progress;
  fluid.stop = options.stop;
  auto report = RunFlowTraffic(*result.router, traffic, result.placement, fluid);
  if (!report) return std::unexpected(report.error());
  Timeline timeline;
  timeline.status = report->status;
  timeline.end = report->end;
  timeline.events = report->events;
  timeline.links = std::move(report->links);
  timeline.flow.solves = report->solves;
  timeline.flow.transfers_simulated = timeline.flow.transfers_represented = traffic.flows.size();
  SummariseTimeline(std::move(timeline), options.all_links, result);
  auto summary = std::make_shared<TrafficResult>(SummariseFlows(traffic, report->flows));
  Finish(traffic, report->flows, std::move(summary), result);
  return {};
}

}  // namespace

Result<void> RunTraffic(const Scenario& scenario, const TrafficInput& input,
                        const RunOptions& options, RunResult& result) {
  const auto run = [&](const TrafficWorkload& traffic) {
    return scenario.engine == EngineKind::kPacket ? RunPackets(scenario, traffic, options, result)
                                                  : RunFluid(scenario, traffic, options, result);
  };
  if (input.messages) return run(*input.messages);
  const auto ranks = static_cast<std::uint32_t>(result.placement.rank_count());
  const auto made = MakeMessages(input, ranks, HostRate(*result.fabric),
                                 SeedAt(result.placement, *result.fabric, scenario.seed));
  if (!made) return std::unexpected(made.error());
  return run(*made);
}

}  // namespace trunkline
