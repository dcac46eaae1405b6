#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/side_by_side.h"
#include "engine/analytic/analytic_time.h"
#include "engine/packet/test_runs.h"
#include "engine/packet/traffic_plant.h"
#include "engine/test_fabrics.h"
#include "engine/test_graphs.h"
#include "trunkline/collective/algorithm.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/placement.h"
#include "trunkline/transport/transport.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {
namespace {

// Has some flows wait for others: up to two that came before them, and other triggers, after which
// some time passes, or none. No trigger fires twice.
void AddTriggers(std::uint64_t seed, TrafficWorkload& traffic) {
  Draws draw{.seed = seed, .index = 2'000};
  const std::uint32_t least = draw.Chance(5) ? 0 : 100'000 + draw.Below(3'000'000);
  for (std::uint32_t i = 1; i < traffic.flows.size(); ++i) {
    if (draw.Chance(3)) continue;
    const auto index = static_cast<std::uint32_t>(traffic.triggers.size());
    TrafficTrigger trigger;
    trigger.kind = TrafficTrigger::Kind::kBarrier;
    trigger.count = 0;
    trigger.flows = {i};
    for (int activations = 0; activations < 2; ++activations) {
      TrafficFlow& before = traffic.flows[draw.Below(i)];
      std::uint32_t& when = draw.Chance(2) ? before.when_sent : before.when_received;
      if (when != TrafficFlow::kNoTrigger) continue;
      when = index;
      ++trigger.count;
    }
    if (index > 0 && draw.Chance(2)) {
      std::uint32_t& then = traffic.triggers[draw.Below(index)].then;
      if (then == TrafficFlow::kNoTrigger) {
        then = index;
        ++trigger.count;
      }
    }
    if (trigger.count == 0) continue;
    traffic.flows[i].trigger = index;
    traffic.flows[i].start = Time::Picoseconds(least + draw.Below(5'000'000));
    traffic.triggers.push_back(std::move(trigger));
  }
}

enum class Triggered : std::uint8_t {
  kNot,
  kAnyOrder,
  kInOrder,  // with a trigger that would start a flow at each activation, so that order matters
};

TrafficWorkload TrafficOf(const SmallRun& run, Triggered triggered) {
  const std::size_t hosts = run.fabric->fabric.endpoints().size();
  // Without reads, queue pairs may carry one flow after the other.
  const bool reads = triggered == Triggered::kNot || run.flows.size() % 2 == 0;
  TrafficWorkload traffic;
  traffic.ranks = static_cast<std::uint32_t>(hosts);
  for (const auto& each : run.flows) {
    TrafficFlow flow;
    flow.source = RankId{each.source};
    flow.destination = RankId{each.destination};
    flow.bytes = Bytes(each.bytes);
    flow.start = each.start;
    flow.traffic_class = each.traffic_class;
    flow.read = reads && traffic.flows.size() % 4 == 3;
    traffic.flows.push_back(flow);
  }
  if (triggered != Triggered::kNot) AddTriggers(run.flows.size() * 31 + hosts, traffic);
  if (triggered == Triggered::kInOrder) {
    traffic.triggers.emplace_back().kind = TrafficTrigger::Kind::kMultiShot;
  }
  return traffic;
}

std::string Simulate(const SmallRun& run, std::uint32_t threads,
                     Triggered triggered = Triggered::kNot) {
  RouterOptions routing;
  routing.policy = run.routing;
  const Router router(run.fabric->fabric, routing);
  const TrafficWorkload traffic = TrafficOf(run, triggered);
  const auto placement = PackedPlacement(run.fabric->fabric, traffic.ranks);
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

// Nor do zones: in order there is one.
TEST(Threads, ChangeNoByteOfTheResultOfTriggers) {
  constexpr std::uint64_t kRuns = 100;
  std::uint64_t finished = 0;
  for (std::uint64_t seed = 200; seed < 200 + kRuns; ++seed) {
    const SmallRun run = MakeSmallRun(seed);
    const std::string alone = Simulate(run, 1, Triggered::kInOrder);
    finished += alone.starts_with("finished") ? 1U : 0U;
    EXPECT_EQ(Simulate(run, 1, Triggered::kAnyOrder), alone) << run.description << ", by zones";
    EXPECT_EQ(Simulate(run, 2, Triggered::kAnyOrder), alone) << run.description;
    EXPECT_EQ(Simulate(run, 5, Triggered::kAnyOrder), alone) << run.description;
  }
  EXPECT_GT(finished, kRuns / 4);
}

// Hosts on cables of 25 ns, as GPUs on NVLink: too short for zones.
SmallRun ShortCables(std::uint32_t flows) {
  SmallRun run;
  run.description = fmt::format("{} flows ahead", flows);
  run.fabric = std::make_shared<const BuiltFabric>(*BuildFabric(*ParseFabricSpec(
      "clos:nodes=12,radix=8,link=100Gb/s,cable_latency=25 ns,switch.latency=0 ns")));
  run.transport = DefaultPacketTransport(DefaultTransport(TransportKind::kRocev2));
  for (std::uint32_t i = 0; i < flows; ++i) {
    const std::uint32_t source = i % 12;
    run.flows.push_back({source, (source + 1 + i / 12) % 12, 100'000 + 4096 * i, Time(), 0});
  }
  return run;
}

// Hosts of one part hear what those of others sent, and start what waits for it.
TEST(Threads, ChangeNoByteOfWhatEndpointsDoAhead) {
  std::uint64_t ahead = 0;
  for (const std::uint32_t flows : {13U, 25U, 37U, 49U, 61U}) {
    const SmallRun run = ShortCables(flows);
    const Router router(run.fabric->fabric, {.policy = run.routing});
    const TrafficWorkload traffic = TrafficOf(run, Triggered::kAnyOrder);
    const auto placement = PackedPlacement(run.fabric->fabric, 12);
    const PacketInput input{router, run.switches, run.transport, run.faults, run.rerouting};
    const Plant plant = BuildTrafficPlant(input, NetworkPaths(run.fabric->fabric), traffic,
                                          *placement, {}, /*may_run_ahead=*/true);
    ahead += plant.host_of_link.empty() ? 0U : 1U;
    const std::string alone =
        Simulate(run, 1, Triggered::kInOrder);  // which has no endpoints ahead
    EXPECT_THAT(alone, testing::StartsWith("finished")) << run.description;
    EXPECT_EQ(Simulate(run, 1, Triggered::kAnyOrder), alone) << run.description;
    EXPECT_EQ(Simulate(run, 2, Triggered::kAnyOrder), alone) << run.description;
    EXPECT_EQ(Simulate(run, 5, Triggered::kAnyOrder), alone) << run.description;
  }
  EXPECT_GE(ahead, 3U);
}

// --- Task graphs --------------------------------------------------------------------------------

std::string Describe(const PacketReport& report) {
  const PacketCounters& c = report.counters;
  std::string seen = fmt::format(
      "packets: events {} hops {} {} {} drops {} pauses {} again {} failures {}\n", report.events,
      c.hops.data, c.hops.ack, c.hops.control, c.drops, c.pauses, c.retransmissions, c.failures);
  for (const PacketLinkUse& link : report.links) {
    seen += fmt::format("link {} {} {} {} {}\n", Index(link.link), link.wire_bytes, link.packets,
                        link.marks, link.max_queue_bytes);
  }
  for (const CriticalMessage& message : report.critical) {
    seen +=
        fmt::format("critical {} {} {} {} {}\n", Index(message.source), Index(message.destination),
                    message.begin.ps(), message.taken.ps(), Index(message.queue));
  }
  for (const std::string& stuck : report.stuck) seen += stuck + '\n';
  return seen;
}

std::string Describe(const Timeline& timeline) {
  std::string seen = fmt::format("{} end {} events {} critical {}\n", ToString(timeline.status),
                                 timeline.end.ps(), timeline.events, timeline.critical);
  for (const TaskSpan& span : timeline.spans) {
    seen += fmt::format("rank {} task {} {} {}\n", Index(span.rank), span.task, span.start.ps(),
                        span.end.ps());
  }
  for (const LinkUse& link : timeline.links) {
    seen += fmt::format("link {} {}\n", Index(link.link), link.wire_bytes);
  }
  for (const BlockedTask& task : timeline.blocked) {
    seen +=
        fmt::format("rank {} task {} waits for {}\n", Index(task.rank), task.task, task.waits_for);
  }
  return seen;
}

// A random network under a graph.
struct GraphRun {
  SmallRun small;
  Fabric fabric;
  std::unique_ptr<TaskGraph> graph;
  std::string description;
};

CollectiveChoice DrawChoice(Draws& draw, std::uint32_t ranks) {
  static const char* kAllReduces[] = {"ring",
                                      "tree",
                                      "double_binary_tree",
                                      "hierarchical",
                                      "recursive_doubling",
                                      "halving_doubling"};
  CollectiveChoice choice;
  // Fewer bytes than ranks leave some with empty messages.
  choice.spec.bytes = draw.Chance(6) ? Bytes(1 + draw.Below(ranks))
                                     : Bytes(std::int64_t{ranks} * (1 + draw.Below(40'000)));
  choice.spec.channels = 1 + draw.Below(2);
  choice.spec.primitive = draw.Chance(3) ? Primitive::kAllToAll : Primitive::kAllReduce;
  choice.algorithm = choice.spec.primitive == Primitive::kAllToAll
                         ? (draw.Chance(2) ? "pairwise" : "direct")
                         : kAllReduces[draw.Below(6)];
  return choice;
}

// A step of training in miniature: ranks compute for unequal times, pass messages around in a ring
// beside a collective of all, and reduce within the even and the odd ranks at last.
std::unique_ptr<TaskGraph> DrawStep(Draws& draw, std::uint32_t ranks) {
  auto graph = std::make_unique<TableGraph>();
  graph->AddCollective(DrawChoice(draw, ranks));
  CollectiveChoice last;
  last.spec.bytes = Bytes(8 * (1 + draw.Below(50'000)));
  last.algorithm = "ring";
  graph->AddCollective(last);
  const Bytes message(draw.Below(200'000));
  std::vector<std::vector<RankId>> halves(2);
  std::vector<RankId> all;
  for (std::uint32_t i = 0; i < ranks; ++i) {
    const Time compute = Time::Picoseconds(draw.Below(9'000'000));
    const RankId rank = graph->AddRank(graph->AddProgram(
        {{.duration = compute},
         {.kind = TaskKind::kSend, .stream = 2, .role = 1, .bytes = message, .dependencies = {0}},
         {.kind = TaskKind::kCollective, .stream = 1, .role = 3, .dependencies = {0}},
         {.kind = TaskKind::kReceive, .stream = 3, .role = 2, .bytes = message},
         {.duration = compute, .dependencies = {3}},
         {.kind = TaskKind::kCollective,
          .stream = 1,
          .role = 4,
          .collective = 1,
          .dependencies = {4}}}));
    all.push_back(rank);
    halves[i % 2].push_back(rank);
  }
  for (std::uint32_t i = 0; i < ranks; ++i) graph->Connect(all[i], 1, all[(i + 1) % ranks], 2);
  graph->AddCommunicator(3, all);
  for (const auto& half : halves) graph->AddCommunicator(4, half);
  return graph;
}

GraphRun MakeGraphRun(std::uint64_t seed) {
  Draws draw{.seed = seed, .index = 1'000};
  GraphRun run{.small = MakeSmallRun(seed), .fabric = {}, .graph = {}, .description = {}};
  run.fabric = run.small.fabric->fabric;
  if (draw.Chance(2)) {
    run.small.faults.clear();
    const ServerFabric servers{.racks = 2 + draw.Below(2),
                               .nodes_per_rack = 1 + draw.Below(3),
                               .gpus = 1 + draw.Below(3),
                               .network = Rate::GigabytesPerSecond(draw.Chance(2) ? 50 : 12),
                               .latency = Time::Picoseconds(1 + draw.Below(2'000'000))};
    run.fabric = servers.Build();
  }
  if (draw.Chance(4)) run.small.transport.packet_overhead = Bytes(0);
  run.small.transport.queue_pairs =
      static_cast<std::uint8_t>(draw.Chance(3) ? 1 + draw.Below(4) : 1);
  const auto ranks = static_cast<std::uint32_t>(run.fabric.endpoints().size());
  const CollectiveChoice choice = DrawChoice(draw, ranks);
  const bool step = draw.Chance(2);
  run.graph = step ? DrawStep(draw, ranks) : SingleCollective(choice, ranks, 1 + draw.Below(3));
  run.description = fmt::format("{}; {}, {} ranks", run.small.description,
                                step ? "a step" : choice.algorithm, ranks);
  return run;
}

std::string Simulate(const GraphRun& run, std::uint32_t threads) {
  RouterOptions routing;
  routing.policy = run.small.routing;
  const Router router(run.fabric, routing);
  const auto placement = PackedPlacement(run.fabric, run.graph->ranks());
  TransportModel model = IdealTransport();
  model.message_overhead = Time::Nanoseconds(100);
  EngineOptions options;
  for (std::uint32_t i = 0; i < run.graph->ranks(); ++i) options.record.push_back(RankId(i));
  const PacketInput packets{.router = router,
                            .switches = run.small.switches,
                            .transport = run.small.transport,
                            .faults = run.small.faults,
                            .rerouting = run.small.rerouting,
                            .threads = threads};
  const auto result = RunPacket({router, model, *run.graph, *placement}, packets, options);
  if (!result) return Format(result.error()[0]);
  return Describe(result->timeline) + Describe(result->packets);
}

TEST(Threads, ChangeNoByteOfTheResultOfATaskGraph) {
  constexpr std::uint64_t kRuns = 16;
  std::uint64_t finished = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const GraphRun run = MakeGraphRun(seed);
    const std::string alone = Simulate(run, 1);
    finished += alone.starts_with("finished") ? 1U : 0U;
    ASSERT_EQ(Simulate(run, 2), alone) << run.description;
    ASSERT_EQ(Simulate(run, 3), alone) << run.description;
  }
  EXPECT_GT(finished, kRuns / 2);
}

// Steps that share what their groups cost, tried side by side, take what each takes alone.
TEST(Threads, TryStepsOnSharedCosts) {
  const Fabric fabric = ServerFabric{.nodes_per_rack = 4, .gpus = 8}.Build();
  const Router router(fabric, {});
  const TransportModel transport = DefaultTransport(TransportKind::kInfiniband);
  const auto placement = PackedPlacement(fabric, 32);
  std::vector<std::unique_ptr<TaskGraph>> steps;
  for (int i = 0; i < 24; ++i) {
    CollectiveChoice choice;
    choice.algorithm = i % 2 == 0 ? "ring" : "double_binary_tree";
    choice.spec.bytes = Bytes(std::int64_t{1} << (10 + i / 4));
    steps.push_back(SingleCollective(choice, i % 3 == 0 ? 16 : 32));
  }
  const auto time = [&](std::size_t i, FabricCosts& costs) {
    const auto end = AnalyticTime({router, transport, *steps[i], *placement}, {}, costs);
    return end && *end ? **end : Time();
  };
  FabricCosts shared(router, transport);
  std::vector<Time> together(steps.size());
  SideBySide(steps.size(), [&](std::size_t i) { together[i] = time(i, shared); });
  for (std::size_t i = 0; i < steps.size(); ++i) {
    FabricCosts own(router, transport);
    EXPECT_GT(together[i], Time()) << i;
    EXPECT_EQ(together[i], time(i, own)) << i;
  }
}

}  // namespace
}  // namespace trunkline
