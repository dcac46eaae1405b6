#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "base/test_units.h"
#include "engine/test_fabrics.h"
#include "engine/test_graphs.h"
#include "trunkline/collective/algorithm.h"
#include "trunkline/engine/engine.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

// A run with its parts kept alive: PFC, no congestion control, no latency of software.
struct PacketCase {
  Fabric fabric;
  SwitchModel switches{};
  PacketTransport transport{};
  TransportModel model = IdealTransport();
  std::vector<TimedFault> faults{};
  std::optional<PacketSampling> sampling{};

  [[nodiscard]] Result<PacketTimeline> Try(const TaskGraph& graph,
                                           const EngineOptions& options = {}) const {
    const Router router = MakeRouter();
    const Placement placement = PackedPlacement(fabric, graph.ranks()).value();
    return RunPacket({router, model, graph, placement},
                     {.router = router,
                      .switches = switches,
                      .transport = transport,
                      .faults = faults,
                      .sampling = sampling},
                     options);
  }
  [[nodiscard]] PacketTimeline Run(const TaskGraph& graph) const {
    auto run = Try(graph);
    if (!run) {
      ADD_FAILURE() << Format(run.error().front());
      return {};
    }
    return *std::move(run);
  }
  [[nodiscard]] Result<Timeline> RunAsFlows(const TaskGraph& graph) const {
    const Router router = MakeRouter();
    const Placement placement = PackedPlacement(fabric, graph.ranks()).value();
    return RunFlow({router, model, graph, placement}, {});
  }
  [[nodiscard]] Time Bound(const CollectiveChoice& choice) const {
    return LowerBound(MakeRouter(), model, choice, AllEndpoints(fabric)).value();
  }

 private:
  [[nodiscard]] Router MakeRouter() const {
    RouterOptions routing;
    routing.policy = RoutingPolicy::kEcmp;
    routing.payload_bytes = transport.mtu.count();
    routing.wire_bytes = (transport.mtu + transport.packet_overhead).count();
    return Router(fabric, routing);
  }
};

// Rank 0 computes, then sends; rank `to` of `ranks` receives.
TableGraph OneMessage(Bytes bytes, Time compute, std::uint32_t ranks, std::uint32_t to) {
  TableGraph graph;
  const std::uint32_t sender = graph.AddProgram(
      {{.kind = TaskKind::kCompute, .duration = compute},
       {.kind = TaskKind::kSend, .stream = 2, .role = 1, .bytes = bytes, .dependencies = {0}}});
  const std::uint32_t receiver =
      graph.AddProgram({{.kind = TaskKind::kReceive, .stream = 3, .role = 2, .bytes = bytes}});
  const std::uint32_t idle = graph.AddProgram({});
  for (std::uint32_t i = 0; i < ranks; ++i) {
    graph.AddRank(i == 0 ? sender : i == to ? receiver : idle);
  }
  graph.Connect(RankId(0), 1, RankId(to), 2);
  return graph;
}

// From one host to another over two cables and a switch that forwards whole packets.
Time OverTheSwitch(const PacketTransport& transport, std::int64_t bytes, Rate rate) {
  const std::int64_t mtu = transport.mtu.count();
  const std::int64_t packets = std::max<std::int64_t>(1, (bytes + mtu - 1) / mtu);
  const Time full = TransferTime(transport.mtu + transport.packet_overhead, rate);
  const Time last =
      TransferTime(Bytes(bytes - (packets - 1) * mtu) + transport.packet_overhead, rate);
  // The last but one has left the switch when the last is in, or the last waits for it there.
  return full * (packets - 1) + (packets > 1 ? std::max(last, full) : last) + last + kHop * 2;
}

TEST(PacketRun, AMessageTakesItsClosedFormAfterTheTaskBeforeIt) {
  const Time compute = Time::Microseconds(5);
  PacketCase c{.fabric = Crossbar(2, k100Gb, kHop)};
  c.model.step_latency[static_cast<std::size_t>(Protocol::kSimple)]
                      [static_cast<std::size_t>(HopClass::kNetwork)] = Time::Nanoseconds(700);
  for (const std::int64_t bytes : {0, 1, 4096, 4097, 1'000'000}) {
    const PacketTimeline run = c.Run(OneMessage(Bytes(bytes), compute, 2, 1));
    ASSERT_EQ(run.timeline.status, RunStatus::kFinished);
    EXPECT_EQ(run.timeline.end,
              compute + OverTheSwitch(c.transport, bytes, k100Gb) + Time::Nanoseconds(700))
        << bytes;
    EXPECT_EQ(run.packets.counters.delivered_bytes, bytes);
  }
}

// A sender is busy for the overhead before each message of any bytes: a ring of two sends two.
TEST(PacketRun, MessagesWaitForTheOverheadOfTheirSender) {
  PacketCase c{.fabric = Crossbar(2, k100Gb, kHop)};
  c.model.message_overhead = Time::Microseconds(300);
  for (const std::int64_t bytes : {0, 1, 4097}) {
    const PacketTimeline run = c.Run(OneMessage(Bytes(bytes), Time::Microseconds(5), 2, 1));
    EXPECT_EQ(run.timeline.end,
              Time::Microseconds(bytes > 0 ? 305 : 5) + OverTheSwitch(c.transport, bytes, k100Gb))
        << bytes;
  }
  const CollectiveChoice ring = Choice(Primitive::kAllReduce, 8192, "ring");
  EXPECT_EQ(c.Run(*SingleCollective(ring, 2)).timeline.end,
            (Time::Microseconds(300) + OverTheSwitch(c.transport, 4096, k100Gb)) * 2);
}

// Each of 2(p-1) steps takes a chunk over the switch. Acknowledgements go first: one for every
// 16 packets delays data on either cable, if at all, by its own time.
TEST(PacketRun, RingAllReduceTakesTwoTimesPMinusOneStepsThroughTheSwitch) {
  constexpr std::uint32_t kRanks = 4;
  PacketCase c{.fabric = Crossbar(kRanks, k100Gb, kHop)};
  for (const std::int64_t packets : {1, 3, 64}) {
    const std::int64_t chunk = packets * 4096;
    const auto graph =
        SingleCollective(Choice(Primitive::kAllReduce, chunk * kRanks, "ring"), kRanks);
    const PacketTimeline run = c.Run(*graph);
    ASSERT_EQ(run.timeline.status, RunStatus::kFinished);
    const std::int64_t steps = 2 * (kRanks - 1);
    const Time ideal = OverTheSwitch(c.transport, chunk, k100Gb) * steps;
    const Time ack = TransferTime(c.transport.ack_bytes, k100Gb);
    EXPECT_GE(run.timeline.end, ideal);
    EXPECT_LE(run.timeline.end, ideal + ack * (2 * steps * (packets / 16 + 1))) << packets;
    EXPECT_EQ(run.packets.counters.packets.data,
              static_cast<std::uint64_t>(packets * steps * kRanks));
  }
}

TEST(PacketRun, AgreesWithFluidFlowsOnASymmetricRing) {
  constexpr std::uint32_t kRanks = 8;
  PacketCase c{.fabric = Crossbar(kRanks, k100Gb, kHop)};
  const auto graph = SingleCollective(Choice(Primitive::kAllReduce, 8'000'000, "ring"), kRanks);
  const double packets = c.Run(*graph).timeline.end.seconds();
  const double flows = c.RunAsFlows(*graph)->end.seconds();
  EXPECT_NEAR(packets / flows, 1, 0.03);
}

// Every rank begins a step when its own last chunk has left and the chunk before has come, over two
// to six links: a recurrence over ranks and steps that knows nothing of queues.
TEST(PacketRun, ARingOnAFatTreeFollowsItsRecurrence) {
  const auto spec = ParseFabricSpec("fat-tree:k=4,link=100Gb/s");
  ASSERT_TRUE(spec.has_value());
  PacketCase c{.fabric = BuildFabric(*spec)->fabric};
  constexpr std::uint32_t kRanks = 16;
  constexpr std::int64_t kPackets = 64;
  const Router router(c.fabric, {.policy = RoutingPolicy::kEcmp});
  const Time frame = TransferTime(Bytes(4096) + c.transport.packet_overhead, k100Gb);
  const auto hosts = AllEndpoints(c.fabric);
  std::vector<Time> free(kRanks);  // when a rank's last chunk has left
  std::vector<Time> come(kRanks);  // when the chunk that it sends next is in
  for (std::uint32_t step = 0; step < 2 * (kRanks - 1); ++step) {
    std::vector<Time> next(kRanks);
    for (std::uint32_t i = 0; i < kRanks; ++i) {
      const std::uint32_t to = (i + 1) % kRanks;
      const auto path = *router.FindPath(hosts[i], hosts[to], 0);
      const auto links = static_cast<std::int64_t>(path.size());
      const Time flight = router.FindRoute(hosts[i], hosts[to], 0)->latency;
      free[i] = std::max(free[i], come[i]) + frame * kPackets;
      next[to] = free[i] + frame * (links - 1) + flight;
    }
    come = next;
  }
  const double expected = std::ranges::max(come).seconds();
  const auto graph =
      SingleCollective(Choice(Primitive::kAllReduce, kRanks * kPackets * 4096, "ring"), kRanks);
  const double end = c.Run(*graph).timeline.end.seconds();
  EXPECT_GE(end, expected);
  EXPECT_LE(end, expected * 1.01);  // acknowledgements go before data
}

TEST(PacketRun, EveryAlgorithmFinishesOnAFatTreeAndBeatsNoBound) {
  const auto spec = ParseFabricSpec("fat-tree:k=4,link=100Gb/s");
  ASSERT_TRUE(spec.has_value());
  PacketCase c{.fabric = BuildFabric(*spec)->fabric};
  int runs = 0;
  for (const Algorithm& algorithm : Algorithms()) {
    for (const Primitive primitive :
         {Primitive::kAllReduce, Primitive::kReduceScatter, Primitive::kAllGather,
          Primitive::kAllToAll, Primitive::kBroadcast, Primitive::kReduce, Primitive::kGather,
          Primitive::kScatter, Primitive::kSendRecv, Primitive::kBarrier}) {
      if (!algorithm.supports(primitive)) continue;
      for (const std::int64_t bytes : {0, 7, 160'000, 100'003}) {
        if (primitive == Primitive::kBarrier && bytes > 0) continue;
        CollectiveChoice choice = Choice(primitive, bytes, algorithm.name);
        choice.spec.channels = 2;
        const auto graph = SingleCollective(choice, 16);
        const auto run = c.Try(*graph);
        ASSERT_EQ(run.has_value(), c.RunAsFlows(*graph).has_value()) << algorithm.name;
        if (!run) continue;
        ++runs;
        EXPECT_EQ(run->timeline.status, RunStatus::kFinished) << algorithm.name;
        EXPECT_GE(run->timeline.end, c.Bound(choice))
            << algorithm.name << ' ' << ToString(primitive) << ' ' << bytes;
        EXPECT_GT(run->packets.counters.packets.data, 0U);
      }
    }
  }
  EXPECT_GT(runs, 50);
}

TEST(PacketRun, MessagesInsideANodeStayOffTheNetwork) {
  PacketCase c{.fabric = ServerFabric{.nodes_per_rack = 1}.Build()};
  const auto graph = SingleCollective(Choice(Primitive::kAllReduce, 1'000'000, "ring"), 4);
  const PacketTimeline run = c.Run(*graph);
  EXPECT_EQ(run.packets.counters.packets.data, 0U);
  EXPECT_EQ(run.timeline.end, c.RunAsFlows(*graph)->end);
}

TEST(PacketRun, AMessageBetweenGpusAlsoCrossesTheirBuses) {
  ServerFabric servers;  // four GPUs a node, each with a NIC as fast as its bus
  PacketCase c{.fabric = servers.Build()};
  const PacketTimeline run = c.Run(OneMessage(Bytes(1'000'000), Time(), 8, 4));
  EXPECT_EQ(run.timeline.end,
            OverTheSwitch(c.transport, 1'000'000, servers.network) + servers.latency * 2);
}

// Nodes of GPUs behind one NIC; GPUs and NIC are 2 GB/s apart, the network has 12.5.
Fabric SlowBuses(std::uint32_t gpus, std::uint32_t nodes = 2) {
  FabricBuilder builder;
  const Rate bus = Rate::GigabytesPerSecond(2);
  const DeviceId hub = builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1});
  for (std::uint32_t node = 0; node < nodes; ++node) {
    const DeviceId complex = builder.AddDevice({.kind = DeviceKind::kPcieSwitch, .node = node});
    const DeviceId nic = builder.AddDevice({.kind = DeviceKind::kNic, .node = node});
    for (std::uint32_t i = 0; i < gpus; ++i) {
      const DeviceId gpu = builder.AddDevice({.kind = DeviceKind::kGpu, .node = node, .local = i});
      builder.AddCable(gpu, complex, bus, Time(), LinkKind::kPcie);
    }
    builder.AddCable(complex, nic, bus, kHop, LinkKind::kPcie);
    builder.AddCable(nic, hub, k100Gb, kHop, LinkKind::kNetwork);
  }
  return std::move(builder).Build();
}

TEST(PacketRun, ABusSlowerThanTheNetworkSetsThePace) {
  PacketCase c{.fabric = SlowBuses(1)};
  const PacketTimeline run = c.Run(OneMessage(Bytes(1'000'000), Time(), 2, 1));
  EXPECT_EQ(run.timeline.end, Time::Microseconds(500) + kHop * 4);
  EXPECT_TRUE(run.warnings.empty());
}

// Both GPUs of a node send to those of the other by the one bus to the NIC, 2 GB/s: twice what
// either takes alone, as in the flow engine, and no hop more.
TEST(PacketRun, ConnectionsShareTheBusToTheirNic) {
  for (const LossControl control :
       {LossControl::kCredits, LossControl::kPause, LossControl::kLossy}) {
    PacketCase c{.fabric = SlowBuses(2)};
    c.switches.loss_control = control;
    TableGraph graph;
    const auto sends = graph.AddProgram({{.kind = TaskKind::kSend, .role = 1, .bytes = kMegabyte}});
    const auto receives = graph.AddProgram({{.kind = TaskKind::kReceive, .role = 2}});
    for (const auto program : {sends, sends, receives, receives}) graph.AddRank(program);
    for (std::uint32_t i = 0; i < 2; ++i) graph.Connect(RankId{i}, 1, RankId{i + 2}, 2);
    const PacketTimeline run = c.Run(graph);
    EXPECT_NEAR(run.timeline.end.seconds(), 1000e-6 + 4 * kHop.seconds(), 10e-6);
    const auto fluid = c.RunAsFlows(graph);
    ASSERT_TRUE(fluid.has_value());
    EXPECT_NEAR(run.timeline.end.seconds() / fluid->end.seconds(), 1, 0.03);
    EXPECT_EQ(run.packets.counters.hops.data, 2 * run.packets.counters.packets.data);
    EXPECT_EQ(run.packets.counters.drops, 0U);
    EXPECT_TRUE(run.warnings.empty());
  }
}

// A GPU of each of two nodes sends to one of a third, whose bus takes 2 of the 4 GB/s that they
// bring: credits and PAUSE hold them back.
TEST(PacketRun, ABusAtTheReceiverHoldsTheNetworkBack) {
  for (const LossControl control : {LossControl::kCredits, LossControl::kPause}) {
    PacketCase c{.fabric = SlowBuses(2, 3)};
    c.switches.loss_control = control;
    TableGraph graph;
    const auto sends = graph.AddProgram({{.kind = TaskKind::kSend, .role = 1, .bytes = kMegabyte}});
    const auto idle = graph.AddProgram({});
    const auto receives = graph.AddProgram({{.kind = TaskKind::kReceive, .role = 2}});
    for (const auto program : {sends, idle, sends, idle, receives, receives}) {
      graph.AddRank(program);
    }
    graph.Connect(RankId{0}, 1, RankId{4}, 2);
    graph.Connect(RankId{2}, 1, RankId{5}, 2);
    const PacketTimeline run = c.Run(graph);
    EXPECT_EQ(run.packets.counters.drops, 0U);
    EXPECT_NEAR(run.timeline.end.seconds(), 1000e-6 + 4 * kHop.seconds(), 10e-6);
  }
}

TEST(PacketRun, WarnsOfBusesThatConnectionsCrowd) {
  PacketCase c{.fabric = SlowBuses(2)};
  const auto graph = SingleCollective(Choice(Primitive::kAllToAll, 1'000'000, "direct"), 4);
  const PacketTimeline run = c.Run(*graph);
  ASSERT_EQ(run.warnings.size(), 1U);
  EXPECT_EQ(run.warnings.front().code, "TL1824");
}

TEST(PacketRun, QueuePairsShareAMessageWithoutDelayingIt) {
  PacketCase c{.fabric = Crossbar(2, k100Gb, kHop)};
  c.transport.queue_pairs = 4;
  // Parts of 250,112 B, the last of 249,664: 62, 62, 62 and 61 packets.
  const PacketTimeline run = c.Run(OneMessage(Bytes(1'000'000), Time(), 2, 1));
  EXPECT_EQ(run.packets.counters.packets.data, 247U);
  EXPECT_EQ(run.packets.counters.delivered_bytes, 1'000'000);
  const Time headers = TransferTime(c.transport.packet_overhead, k100Gb) * 2;
  EXPECT_NEAR(run.timeline.end.seconds(),
              (OverTheSwitch(c.transport, 1'000'000, k100Gb) + headers).seconds(), 0.4e-6);
  // Fewer bytes than queue pairs have parts for.
  EXPECT_EQ(c.Run(OneMessage(Bytes(100), Time(), 2, 1)).packets.counters.packets.data, 1U);
}

TEST(PacketRun, LowLatencyProtocolsPutTheirFlagsOnTheWire) {
  PacketCase c{.fabric = Crossbar(2, k100Gb, kHop)};
  CollectiveChoice choice = Choice(Primitive::kSendRecv, 60'000, "pairwise");
  for (const Algorithm& algorithm : Algorithms()) {
    if (algorithm.supports(Primitive::kSendRecv)) choice.algorithm = algorithm.name;
  }
  const std::int64_t simple = c.Run(*SingleCollective(choice, 2)).packets.counters.delivered_bytes;
  choice.protocol = Protocol::kLl;
  EXPECT_EQ(c.Run(*SingleCollective(choice, 2)).packets.counters.delivered_bytes, 2 * simple);
}

TEST(PacketRun, AReceiveThatNobodySendsIsBlocked) {
  TableGraph graph;
  graph.AddRank(graph.AddProgram({{.kind = TaskKind::kReceive, .stream = 3, .role = 2}}));
  graph.AddRank(0);
  graph.Connect(RankId(0), 1, RankId(1), 2);
  graph.Connect(RankId(1), 1, RankId(0), 2);
  PacketCase c{.fabric = Crossbar(2, k100Gb, kHop)};
  const PacketTimeline run = c.Run(graph);
  EXPECT_EQ(run.timeline.status, RunStatus::kUnfinished);
  EXPECT_EQ(run.timeline.blocked.size(), 2U);
}

TEST(PacketRun, AQueuePairThatGivesUpLeavesTheRunUnfinished) {
  PacketCase c{.fabric = Crossbar(2, k100Gb, kHop)};
  c.switches.loss_control = LossControl::kLossy;
  c.switches.frame_loss = 0.999;
  c.transport.retry_limit = 1;
  const PacketTimeline run = c.Run(OneMessage(Bytes(1'000'000), Time(), 2, 1));
  EXPECT_EQ(run.timeline.status, RunStatus::kUnfinished);
  ASSERT_EQ(run.packets.stuck.size(), 1U);
  EXPECT_NE(run.packets.stuck.front().find("from rank 0 to rank 1"), std::string::npos);
  // It went on until two timers in a row had run out.
  EXPECT_GE(run.timeline.end, c.transport.retransmit_timeout * 2);
}

// A cable is down from 50 us to 150 us. What was on it is sent again.
TEST(PacketRun, AMessageSurvivesACableThatComesBack) {
  PacketCase c{.fabric = Crossbar(2, k100Gb, kHop)};
  c.switches.loss_control = LossControl::kLossy;
  c.transport.retransmit_timeout = Time::Microseconds(100);
  TimedFault fault;
  fault.target = "host-1";
  fault.at = Time::Microseconds(50);
  fault.until = Time::Microseconds(150);
  c.faults = {fault};
  const PacketTimeline run = c.Run(OneMessage(Bytes(1'000'000), Time(), 2, 1));
  EXPECT_EQ(run.timeline.status, RunStatus::kFinished);
  EXPECT_EQ(run.packets.counters.delivered_bytes, 1'000'000);
  EXPECT_GT(run.packets.counters.retransmissions, 0U);
  EXPECT_GE(run.timeline.end,
            OverTheSwitch(c.transport, 1'000'000, k100Gb) + Time::Microseconds(100));
}

// A cable that stays down is what the failed queue pair names, and who waits for whom.
TEST(PacketRun, NamesTheCableThatIsDownAndWhoWaitsForWhom) {
  PacketCase c{.fabric = Crossbar(2, k100Gb, kHop)};
  c.switches.loss_control = LossControl::kLossy;
  c.transport.retransmit_timeout = Time::Microseconds(100);
  c.transport.retry_limit = 1;
  TimedFault fault;
  fault.target = "host-1";
  fault.at = Time::Microseconds(50);
  c.faults = {fault};
  const PacketTimeline run = c.Run(OneMessage(Bytes(1'000'000), Time(), 2, 1));
  EXPECT_EQ(run.timeline.status, RunStatus::kUnfinished);
  ASSERT_EQ(run.packets.stuck.size(), 1U);
  EXPECT_NE(run.packets.stuck.front().find("-> host-1 is down"), std::string::npos)
      << run.packets.stuck.front();
  const auto waits = std::ranges::find(run.timeline.blocked, RankId(1), &BlockedTask::rank);
  ASSERT_NE(waits, run.timeline.blocked.end());
  EXPECT_EQ(waits->peer, RankId(0));
}

// What links carried and, of their queues, the longest, from samples and at the end.
TEST(PacketRun, SamplesAddUpToWhatLinksCarried) {
  PacketCase c{.fabric = Crossbar(4, k100Gb, kHop)};
  c.sampling = PacketSampling{.every = Time::Microseconds(7), .links = 1000, .flows = 0};
  CollectiveChoice choice = Choice(Primitive::kAllToAll, 400'000, "direct");
  const PacketTimeline run = c.Run(*SingleCollective(choice, 4, 2));
  ASSERT_TRUE(run.packets.samples.has_value());
  ASSERT_EQ(run.packets.samples->links.size(), run.packets.links.size());
  EXPECT_GT(run.packets.samples->intervals, 5U);
  for (const PacketSamples::Link& series : run.packets.samples->links) {
    const auto use = std::ranges::find(run.packets.links, series.link, &PacketLinkUse::link);
    ASSERT_NE(use, run.packets.links.end());
    EXPECT_EQ(std::accumulate(series.wire_bytes.begin(), series.wire_bytes.end(), std::int64_t{0}),
              use->wire_bytes);
    EXPECT_EQ(std::ranges::max(series.peak_queue_bytes), use->max_queue_bytes);
  }
  PacketCase without{.fabric = Crossbar(4, k100Gb, kHop)};
  EXPECT_EQ(without.Run(*SingleCollective(choice, 4, 2)).timeline.end, run.timeline.end);
}

// Ranks 1 to 4 send to rank 0 at once; then rank 0 sends to rank 1. The last of the four waits for
// the other three at the switch's port to rank 0.
TEST(PacketRun, NamesTheQueueThatTheChainOfMessagesMet) {
  constexpr Bytes kBytes(409'600);  // 100 packets
  PacketCase c{.fabric = Crossbar(5, k100Gb, kHop)};
  TableGraph graph;
  std::vector<TableGraph::Step> receives;
  for (std::uint32_t i = 1; i < 5; ++i) {
    receives.push_back({.kind = TaskKind::kReceive, .stream = 3, .role = 10 + i, .bytes = kBytes});
  }
  receives.push_back({.kind = TaskKind::kSend,
                      .stream = 2,
                      .role = 30,
                      .bytes = kBytes,
                      .dependencies = {0, 1, 2, 3}});
  graph.AddRank(graph.AddProgram(receives));
  for (std::uint32_t i = 1; i < 5; ++i) {
    std::vector<TableGraph::Step> steps = {
        {.kind = TaskKind::kSend, .stream = 2, .role = 20 + i, .bytes = kBytes}};
    if (i == 1) {
      steps.push_back({.kind = TaskKind::kReceive, .stream = 3, .role = 31, .bytes = kBytes});
    }
    graph.AddRank(graph.AddProgram(steps));
    graph.Connect(RankId(i), 20 + i, RankId(0), 10 + i);
  }
  graph.Connect(RankId(0), 30, RankId(1), 31);
  const PacketTimeline run = c.Run(graph);
  const auto& chain = run.packets.critical;
  ASSERT_EQ(chain.size(), 2U);
  EXPECT_EQ(chain[0].destination, RankId(0));
  EXPECT_EQ(chain[1].source, RankId(0));
  EXPECT_EQ(chain[1].destination, RankId(1));
  const Time frames = TransferTime(c.transport.mtu + c.transport.packet_overhead, k100Gb) * 100;
  EXPECT_GE(chain[0].taken - chain[0].alone, frames * 2);
  EXPECT_LE(chain[1].taken - chain[1].alone, frames);
  EXPECT_EQ(c.fabric.name(c.fabric.link(chain[0].queue).to), "host-0");
  EXPECT_GT(chain[0].max_queue_bytes, 100'000U);
}

TEST(PacketRun, RefusesWhatItDoesNotRun) {
  PacketCase c{.fabric = Crossbar(2, k100Gb, kHop)};
  const TableGraph graph = OneMessage(Bytes(1), Time(), 2, 1);
  EngineOptions rendezvous;
  rendezvous.handshake = Handshake::kRendezvous;
  EXPECT_EQ(c.Try(graph, rendezvous).error().front().code, "TL1603");
  c.transport.queue_pairs = 33;
  EXPECT_EQ(c.Try(graph).error().front().code, "TL1801");
}

}  // namespace
}  // namespace trunkline
