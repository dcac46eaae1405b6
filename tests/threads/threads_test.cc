#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/packet/test_runs.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/placement.h"

namespace trunkline {
namespace {

std::string Simulate(const SmallRun& run, std::uint32_t threads) {
  RouterOptions routing;
  routing.policy = run.routing;
  const Router router(run.fabric->fabric, routing);
  const std::size_t hosts = run.fabric->fabric.endpoints().size();
  const auto placement = PackedPlacement(run.fabric->fabric, hosts);
  TrafficWorkload traffic;
  traffic.ranks = static_cast<std::uint32_t>(hosts);
  for (const auto& each : run.flows) {
    TrafficFlow flow;
    flow.source = RankId{each.source};
    flow.destination = RankId{each.destination};
    flow.bytes = Bytes(each.bytes);
    flow.start = each.start;
    flow.traffic_class = each.traffic_class;
    flow.read = traffic.flows.size() % 4 == 3;
    traffic.flows.push_back(flow);
  }
  PacketOptions options;
  options.threads = threads;
  options.until = Time::Microseconds(400);
  const auto report =
      RunPacketTraffic({router, run.switches, run.transport, run.faults, run.rerouting}, traffic,
                       *placement, options);
  if (!report) return Format(report.error()[0]);
  const PacketCounters& c = report->counters;
  std::string seen =
      fmt::format("{} end {} events {} hops {} {} {} drops {} {} pauses {} again {}\n",
                  ToString(report->status), report->end.ps(), report->events, c.hops.data,
                  c.hops.ack, c.hops.control, c.drops, c.fault_drops, c.pauses, c.retransmissions);
  for (const FlowRecord& flow : report->flows) {
    seen += fmt::format("flow {} {} {}\n", flow.posted.ps(), flow.delivered.ps(),
                        flow.acknowledged.ps());
  }
  for (const PacketLinkUse& link : report->links) {
    seen += fmt::format("link {} {} {} {} {}\n", Index(link.link), link.wire_bytes, link.packets,
                        link.marks, link.max_queue_bytes);
  }
  return seen;
}

TEST(Threads, ChangeNoByteOfTheResult) {
  constexpr std::uint64_t kRuns = 60;
  std::uint64_t refused = 0;  // settings that contradict each other
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const SmallRun run = MakeSmallRun(seed);
    const std::string alone = Simulate(run, 1);
    if (alone.find("flow ") == std::string::npos) ++refused;
    EXPECT_EQ(Simulate(run, 2), alone) << run.description;
    EXPECT_EQ(Simulate(run, 5), alone) << run.description;
  }
  EXPECT_LT(refused, kRuns / 2);
}

}  // namespace
}  // namespace trunkline
