#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "scenario/testing.h"
#include "trunkline/base/check.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/scenario/run.h"
#include "trunkline/scenario/traffic_result.h"

// Traffic from a scenario to its result, in packets and as fluid flows.
namespace trunkline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A 16-host fat tree of 100 Gb/s: cables of 50 ns, switches of 400 ns.
constexpr const char* kPermutation =
    "cluster:\n"
    "  fabric: {kind: fat-tree, k: 4, link: 100 Gb/s, routing: ecmp}\n"
    "  transport: {kind: rocev2}\n"
    "workload:\n"
    "  traffic: {pattern: permutation, size: 1 MB}\n"
    "engine: packet\n";

Result<Scenario> ParsePermutation(const std::vector<std::string>& keys) {
  return ParseScenario(kPermutation, "s.yaml", SetBy(keys));
}

std::string PermutationProblems(const std::vector<std::string>& keys) {
  return ToldOf(ParsePermutation(keys));
}

RunResult RunPermutation(const std::vector<std::string>& keys, const RunOptions& options = {}) {
  return MustRun(ParsePermutation(keys), options);
}

// Up to four flows of a permutation share a minimal path; with detours none waits as long.
TEST(Packets, TurnOffFromFullCablesAsFlowsDo) {
  for (const char* routing : {"minimal", "ugal-l", "par"}) {
    const auto time = [&](const char* engine) {
      const RunResult result = RunPermutation(
          {fmt::format("cluster.fabric={{kind: dragonfly, p: 2, a: 4, h: 2, g: 9, routing: {}}}",
                       routing),
           "cluster.transport={kind: infiniband}", "workload.traffic.size=4 MB",
           fmt::format("engine={}", engine)});
      return result.time.seconds();
    };
    EXPECT_NEAR(time("flow") / time("packet"), 1, 0.05) << routing;
  }
}

// No window is long enough for two threads, while routers still tell each other of their queues.
TEST(Packets, EndOnTwoThreadsWhereCablesHaveNoLatency) {
  const std::vector<std::string> keys = {
      "cluster.fabric={kind: dragonfly, h: 1, link: 100 Gb/s, routing: ugal-g, cable_latency: 0 "
      "ns}",
      "cluster.transport.kind=infiniband", "workload.traffic.size=1 KB"};
  EXPECT_EQ(RunPermutation(keys, {.threads = 2}).time, RunPermutation(keys).time);
}

TEST(Packets, RoceHasPfcMarksAndDcqcnUnlessTheFileSaysOtherwise) {
  const auto scenario = ParsePermutation({});
  ASSERT_TRUE(scenario.has_value());
  const ClusterSpec& cluster = scenario->cluster;
  EXPECT_EQ(cluster.switches.loss_control, LossControl::kPause);
  EXPECT_TRUE(cluster.switches.marking.has_value());
  EXPECT_STREQ(cluster.packet_transport.policy.name, "dcqcn");
  EXPECT_EQ(cluster.packet_transport.recovery, LossRecovery::kGoBackN);
  // Preamble 8, gap 12, Ethernet 14, IP 20, UDP 8, BTH 12, AETH 4, ICRC 4, FCS 4.
  EXPECT_EQ(cluster.packet_transport.ack_bytes, Bytes(86));
  EXPECT_THAT(scenario->assumptions, testing::Contains(HasSubstr("PFC in 2 classes")));
}

TEST(Packets, FastForwardMayBeatTheLowerBoundByItsErrorOnly) {
  const RunResult result = RunPermutation(
      {"cluster.fabric={kind: single-switch, link: 100 Gb/s, cable_latency: 1 us}",
       "cluster.nodes=5", "cluster.transport={kind: infiniband}",
       "workload.traffic={pattern: incast, size: 60 MB}", "packet.fast_forward=true"});
  ASSERT_EQ(result.status, RunStatus::kFinished);
  ASSERT_TRUE(result.traffic->fast_forward.has_value());
  EXPECT_GT(result.traffic->fast_forward->skips, 0);
  EXPECT_GE(result.time + result.traffic->fast_forward->error, result.bound);
}

TEST(Packets, FastForwardSkipsWhatRepeatsWithinItsBound) {
  const std::vector<std::string> credits = {"cluster.transport.kind=infiniband",
                                            "cluster.fabric.k=2", "workload.traffic.size=40 MB"};
  std::vector<std::string> fast = credits;
  fast.push_back("packet.fast_forward.tolerance=0.02");
  const RunResult whole = RunPermutation(credits);
  const RunResult result = RunPermutation(fast);
  EXPECT_FALSE(whole.traffic->fast_forward.has_value());
  ASSERT_TRUE(result.traffic->fast_forward.has_value());
  const SkippedTime& skipped = *result.traffic->fast_forward;
  EXPECT_DOUBLE_EQ(skipped.tolerance, 0.02);
  EXPECT_GT(skipped.skipped.seconds(), 0.5 * result.time.seconds());
  EXPECT_LT(result.timeline.events, whole.timeline.events / 2);
  EXPECT_NEAR(result.time.seconds(), whole.time.seconds(), skipped.error.seconds());
}

TEST(Packets, FastForwardIsRefusedOfWhatItCannotForesee) {
  EXPECT_THAT(PermutationProblems({"packet.fast_forward=true", "packet.sample.every=5 us"}),
              HasSubstr("TL1217"));
  EXPECT_THAT(PermutationProblems({"packet.fast_forward=true", "engine=flow"}),
              AllOf(HasSubstr("TL1210"), HasSubstr("engine: packet")));
  EXPECT_THAT(PermutationProblems({"packet.fast_forward=true", "engine=flow",
                                   "workload={collective: {primitive: all_reduce, size: 1 MB}}"}),
              AllOf(HasSubstr("TL1210"), Not(HasSubstr("engine: packet"))));
  EXPECT_THAT(PermutationProblems(
                  {"packet.fast_forward=true", "cluster.transport.congestion_control=hpcc"}),
              AllOf(HasSubstr("TL1217"), HasSubstr("hpcc")));
  EXPECT_THAT(PermutationProblems({"packet.fast_forward.tolerance=0.5"}), HasSubstr("TL1108"));
  EXPECT_THAT(PermutationProblems({"packet.fast_forward=perhaps"}), HasSubstr("TL1107"));
  EXPECT_THAT(PermutationProblems({"packet.fast_forward=false", "packet.sample.every=5 us"}),
              IsEmpty());
}

TEST(Packets, SamplesAddUpToWhatLinksCarried) {
  const RunResult result = RunPermutation(
      {"packet.sample.every=5 us", "packet.sample.links=1000", "packet.sample.flows=3"});
  ASSERT_NE(result.samples, nullptr);
  ASSERT_EQ(result.samples->links.size(), result.links.size());
  for (const PacketSamples::Link& series : result.samples->links) {
    const auto row = std::ranges::find(result.links, series.link, &LinkRow::link);
    ASSERT_NE(row, result.links.end());
    EXPECT_EQ(std::accumulate(series.wire_bytes.begin(), series.wire_bytes.end(), std::int64_t{0}),
              row->bytes);
  }
  ASSERT_EQ(result.samples->flows.size(), 3U);
  for (const PacketSamples::Flow& flow : result.samples->flows) {
    EXPECT_EQ(
        std::accumulate(flow.delivered_bytes.begin(), flow.delivered_bytes.end(), std::int64_t{0}),
        1'000'000);
  }
}

TEST(Packets, AreNotSampledUnlessAsked) { EXPECT_EQ(RunPermutation({}).samples, nullptr); }

TEST(Packets, RefusesSamplesThatNobodyCouldWant) {
  EXPECT_THAT(PermutationProblems({"packet.sample.every=1 ns"}),
              AllOf(HasSubstr("[TL1108]"), HasSubstr("100 ns")));
  EXPECT_THAT(PermutationProblems({"packet.sample.every=1 h"}), HasSubstr("TL11"));
  EXPECT_THAT(PermutationProblems({"packet.sample.links=3"}), HasSubstr("every"));
  EXPECT_THAT(PermutationProblems({"packet.sample.every=1 us", "packet.sample.links=0"}),
              HasSubstr("[TL1108]"));
  EXPECT_THAT(PermutationProblems({"packet.sample.every=1 us", "engine=flow"}),
              HasSubstr("[TL1210]"));
}

TEST(Packets, InfinibandHasCreditsAndNoLoss) {
  const auto scenario = ParsePermutation({"cluster.transport.kind=infiniband"});
  ASSERT_TRUE(scenario.has_value());
  EXPECT_EQ(scenario->cluster.switches.loss_control, LossControl::kCredits);
  EXPECT_FALSE(scenario->cluster.switches.marking.has_value());
  EXPECT_THAT(
      PermutationProblems({"cluster.transport.kind=infiniband", "cluster.fabric.switch.pfc=true"}),
      HasSubstr("[TL1207]"));
}

TEST(Packets, ReadsTheInsideOfSwitches) {
  const auto scenario = ParsePermutation(
      {"cluster.fabric.switch={buffer: 12 MB, cut_through: true, classes: 4, weights: [2, 1, "
       "1], pfc: {alpha: 0.5, reserved: 8 KiB, resume: 4 KiB, headroom: 200 KiB, quanta: "
       "1000}, ecn: "
       "{kmin: 100 KB, kmax: 400 KB, pmax: 0.5}}"});
  ASSERT_TRUE(scenario.has_value());
  const SwitchModel& switches = scenario->cluster.switches;
  EXPECT_EQ(switches.buffer, Bytes(12'000'000));
  EXPECT_TRUE(switches.cut_through);
  EXPECT_EQ(switches.classes, 4);
  EXPECT_EQ(switches.weights, (std::vector<std::uint8_t>{2, 1, 1}));
  EXPECT_EQ(switches.pause.alpha, 0.5);
  EXPECT_EQ(switches.pause.reserved, Bytes(8192));
  EXPECT_EQ(switches.pause.resume, Bytes(4096));
  EXPECT_EQ(switches.pause.headroom, Bytes(204'800));
  EXPECT_EQ(switches.pause.quanta, 1'000);
  EXPECT_EQ(switches.marking->low, Bytes(100'000));
  EXPECT_EQ(switches.marking->high, Bytes(400'000));
  EXPECT_EQ(switches.marking->most, 0.5);
}

TEST(Packets, NamesTheKeyThatIsToBlame) {
  EXPECT_THAT(
      PermutationProblems({"cluster.fabric.switch.pfc.headroom=1 KiB"}),
      AllOf(HasSubstr("--set:1:36: error: PFC with 1 KiB of headroom"), HasSubstr("[TL1802]")));
  EXPECT_THAT(PermutationProblems(
                  {"cluster.transport.kind=infiniband", "cluster.fabric.switch.vl.buffer=4 KiB"}),
              AllOf(HasSubstr("cluster.fabric.switch.vl.buffer=4 KiB"), HasSubstr("[TL1804]")));
  EXPECT_THAT(PermutationProblems(
                  {"cluster.fabric.routing=spray", "cluster.transport.loss_recovery=go_back_n"}),
              AllOf(HasSubstr("cluster.transport.loss_recovery"), HasSubstr("[TL1807]")));
  EXPECT_THAT(
      PermutationProblems({"cluster.fabric.switch.pfc=false", "cluster.transport.retry_limit=0"}),
      AllOf(HasSubstr("cluster.transport.retry_limit"), HasSubstr("[TL1806]")));
  EXPECT_THAT(PermutationProblems({"cluster.fabric.switch.ecn=false"}),
              AllOf(HasSubstr("cluster.fabric.switch.ecn"), HasSubstr("[TL1809]")));
}

TEST(Packets, ReadsParametersOfCongestionControlWithTheirUnits) {
  EXPECT_THAT(PermutationProblems(
                  {"cluster.transport.congestion_control={name: dcqcn, rate_ai: 40 Mb/s, g: "
                   "0.01, increase_interval: 55 us}"}),
              IsEmpty());
  EXPECT_THAT(
      PermutationProblems({"cluster.transport.congestion_control={name: dcqcn, rate_ai: 40}"}),
      HasSubstr("[TL1103]"));
  EXPECT_THAT(PermutationProblems({"cluster.transport.congestion_control=dcqnc"}),
              AllOf(HasSubstr("[TL1820]"), HasSubstr("dcqcn")));
  EXPECT_THAT(
      PermutationProblems({"cluster.transport.congestion_control={name: dcqcn, rate_aj: 1 Mb/s}"}),
      HasSubstr("[TL1822]"));
}

TEST(Packets, ReadsWhatBecomesOfLostPackets) {
  const auto scenario = ParsePermutation(
      {"cluster.fabric.routing=spray", "cluster.fabric.switch.pfc=false",
       "cluster.transport.low_timeout=100 us", "cluster.transport.loss_distance=32",
       "cluster.transport.congestion_control=nscc"});
  ASSERT_TRUE(scenario.has_value());
  const PacketTransport& transport = scenario->cluster.packet_transport;
  EXPECT_EQ(transport.low_timeout, Time::Microseconds(100));
  EXPECT_EQ(transport.loss_distance, 32U);
  EXPECT_EQ(transport.path_selection, PathSelection::kMixed);
  EXPECT_THAT(PermutationProblems(
                  {"cluster.fabric.switch.pfc=false", "cluster.transport.low_timeout=1 ns"}),
              AllOf(HasSubstr("cluster.transport.low_timeout"), HasSubstr("[TL1812]")));
  EXPECT_THAT(PermutationProblems({"cluster.transport.path_selection=mixd"}), HasSubstr("mixed"));
}

TEST(Packets, ReadsHowWindowsCountAndAcknowledgementsTravel) {
  const auto scenario = ParsePermutation({"cluster.transport.window_rule=not_full",
                                          "cluster.transport.acks_with_data=true",
                                          "cluster.transport.base_rtt=12 us"});
  ASSERT_TRUE(scenario.has_value());
  const PacketTransport& transport = scenario->cluster.packet_transport;
  EXPECT_EQ(transport.window_rule, WindowRule::kNotFull);
  EXPECT_TRUE(transport.acks_with_data);
  EXPECT_EQ(transport.base_rtt, Time::Microseconds(12));
  EXPECT_THAT(PermutationProblems({"cluster.transport.window_rule=notfull"}),
              HasSubstr("not_full"));
  EXPECT_THAT(PermutationProblems(
                  {"cluster.transport.kind=infiniband", "cluster.transport.acks_with_data=true"}),
              AllOf(HasSubstr("acks_with_data"), HasSubstr("[TL1835]")));
}

TEST(Packets, WarnsThatOtherEnginesDoNotReadTheirKeys) {
  const std::string problems =
      PermutationProblems({"engine=flow", "cluster.fabric.switch.buffer=12 MB",
                           "cluster.transport.congestion_control=dcqcn"});
  EXPECT_THAT(problems, AllOf(HasSubstr("the flow engine does not read 'buffer' [TL1210]"),
                              HasSubstr("does not read 'congestion_control' [TL1210]")));
}

TEST(Packets, RefusesWhatNoEngineRuns) {
  EXPECT_THAT(PermutationProblems({"engine=analytic"}), HasSubstr("[TL1212]"));
}

// A ring of 16 hosts moves 15/16 of 1 MiB twice through every cable of a host: 16 packets a step.
TEST(Packets, RunsACollectiveAndCountsItsPackets) {
  const RunResult result =
      RunPermutation({"workload={collective: {primitive: all_reduce, size: 1 MiB, algorithm: ring, "
                      "channels: 1, protocol: simple}}",
                      "cluster.transport.congestion_control=none"},
                     {.all_links = true});
  ASSERT_EQ(result.status, RunStatus::kFinished);
  ASSERT_NE(result.packets, nullptr);
  EXPECT_EQ(result.packets->counters.packets.data, 16U * 30 * 16);
  EXPECT_EQ(result.packets->counters.delivered_bytes, 16 * 30 * 65'536);
  EXPECT_EQ(result.rows.size(), 1U);
  std::uint64_t crossed = 0;
  for (const LinkRow& row : result.links) crossed += row.packets->packets;
  const PacketCounts& hops = result.packets->counters.hops;
  EXPECT_EQ(crossed, hops.data + hops.ack + hops.control);
}

// Parts of 65,536 B over 3 queue pairs: 21,888, 21,888 and 21,760 B, 6 packets each.
TEST(Packets, SplitsMessagesOfCollectivesOverQueuePairs) {
  const RunResult result =
      RunPermutation({"workload={collective: {primitive: all_reduce, size: 1 MiB, algorithm: ring, "
                      "channels: 1, protocol: simple}}",
                      "cluster.transport.queue_pairs=3"});
  EXPECT_EQ(result.packets->counters.packets.data, 16U * 30 * 18);
  EXPECT_THAT(PermutationProblems({"cluster.transport.queue_pairs=3"}), HasSubstr("[TL1207]"));
  EXPECT_THAT(PermutationProblems({"cluster.transport.queue_pairs=33"}), HasSubstr("[TL1108]"));
}

// A switch that is down has no ports, and needs no buffer for any.
TEST(Packets, GoAroundASwitchThatIsDown) {
  for (const char* transport : {"rocev2", "tcp", "infiniband"}) {
    const RunResult result = RunPermutation({"faults=[{target: core-0, kind: fail}]",
                                             std::string("cluster.transport.kind=") + transport});
    EXPECT_EQ(result.status, RunStatus::kFinished) << transport;
  }
}

// What is on its way to a host when its only cable fails has no route: it is lost, whatever way
// packets are guided, nobody is charged for it, and all flows end when the cable is back.
TEST(Packets, EndAfterAHostWasCutOff) {
  const char* group_routes =
      "cluster.fabric={kind: dragonfly, p: 2, a: 4, h: 1, g: 5, link: 100 Gb/s, routing: valiant, "
      "switch: {rerouting: 20 us}}";
  const char* tables =
      "cluster.fabric={kind: single-switch, link: 100 Gb/s, routing: adaptive, switch: {rerouting: "
      "0 us}}";
  const RunResult guided = RunPermutation(
      {group_routes, "faults=[{target: host-1, kind: fail, at: 5 us, until: 300 us}]"});
  EXPECT_EQ(guided.status, RunStatus::kFinished);
  EXPECT_GT(guided.traffic->counters->fault_drops, 0U);
  const RunResult read = RunPermutation(
      {tables, "cluster.nodes=4", "faults=[{target: host-1, kind: fail, at: 0 us, until: 100 us}]",
       "workload.traffic={pattern: all-to-all, size: 20 KB, verb: read}"});
  EXPECT_EQ(read.status, RunStatus::kFinished);
  EXPECT_LT(read.time, Time::Microseconds(5000));  // after one timeout of 4 ms
}

// An acknowledgement of many packets is a head and nothing else: a switch that cuts through is not
// later than one that does not.
TEST(Packets, CutThroughForAnswersOfManyPackets) {
  const auto time = [](const char* cut_through) {
    return RunPermutation(
               {"cluster.fabric={kind: single-switch, link: 25 Gb/s, cable_latency: 5 us}",
                "cluster.nodes=4", "cluster.transport={kind: ideal}",
                "workload.traffic={pattern: all-to-all, size: 1 MB, parallel: 1}",
                std::string("cluster.fabric.switch.cut_through=") + cut_through})
        .time;
  };
  EXPECT_LE(time("true"), time("false"));
}

// Frames that are repeated although they had arrived cross cables after the last delivery: they
// count, and so does the time that they take.
TEST(Packets, FillNoLinkBeyondItsRate) {
  const RunResult result = RunPermutation(
      {"cluster={nodes: 8, fabric: {kind: single-switch, link: 100 Gb/s}, transport: {kind: "
       "rocev2, congestion_control: none, retransmit_timeout: 100 us}}",
       "faults=[{target: host-1, kind: fail, at: 5 us, until: 6 us}]",
       "workload.traffic={pattern: incast, size: 1 MB}"});
  ASSERT_EQ(result.status, RunStatus::kFinished);
  ASSERT_GT(result.traffic->counters->retransmissions, 0U);
  EXPECT_GT(result.links.front().utilisation, 0.9);
  for (const LinkRow& row : result.links) EXPECT_LE(row.utilisation, 1) << row.from << row.to;
}

// A flow that has the network to itself is as fast as alone: among copies, passes that find what
// has come by then, and a window that has yet to open.
TEST(Packets, OfALoneTcpFlowTakeWhatItTakesAlone) {
  for (const char* fabric :
       {"{kind: torus, sizes: [4], ends: 2, link: 100 Gb/s}",
        "{kind: fat-tree, k: 4, link: 37 Gb/s, cable_latency: 5 us}",
        "{kind: full-mesh, switches: 4, ends: 2, link: 10 Gb/s, switch: {cut_through: "
        "true}}"}) {
    for (const char* size : {"1 B", "8948 B", "8949 B", "10 KB", "100 KB", "2 MB", "9999991 B"}) {
      const RunResult result = RunPermutation(
          {fmt::format("cluster={{fabric: {}, transport: {{kind: tcp}}}}", fabric),
           fmt::format("workload.traffic={{pattern: incast, senders: 1, start: 3 us, size: {}}}",
                       size)});
      EXPECT_EQ(result.traffic->statistics.slowdown.max, 1) << fabric << ", " << size;
      EXPECT_GE(result.time, result.bound) << fabric << ", " << size;
    }
  }
}

// Queues that drain while nothing else happens are news as they were, whoever looks at them when.
TEST(Packets, ReadTheSameNewsOfASlowCableOnAnyNumberOfThreads) {
  const auto run = [](int threads) {
    RunOptions options;
    options.threads = threads;
    return RunPermutation(
        {"cluster.fabric={kind: dragonfly, p: 2, a: 4, h: 1, g: 5, link: 100 Gb/s, routing: "
         "ugal-g, switch: {pfc: false, trimming: true}}",
         "cluster.transport={kind: rocev2, congestion_control: nscc, retransmit_timeout: 100 us, "
         "queue_pairs: 2}",
         "faults=[{target: switch-5/switch-6, kind: degrade, at: 1 us, value: 20%}]",
         "workload={collective: {primitive: all_to_all, algorithm: pairwise, size: 1 MiB}}",
         "seed=40"},
        options);
  };
  const RunResult alone = run(1);
  const RunResult together = run(3);
  EXPECT_EQ(together.threads, 3);
  EXPECT_EQ(alone.events, together.events);
  EXPECT_EQ(alone.time, together.time);
}

TEST(Packets, HaveAsManyEventsOnAnyNumberOfThreads) {
  // Long cables make zones of switches and hosts, short ones let hosts run ahead.
  for (const char* latency : {"1 us", "25 ns"}) {
    const std::vector<std::string> late = {"workload.traffic.start=3 us",
                                           std::string("cluster.fabric.cable_latency=") + latency};
    EXPECT_EQ(RunPermutation(late, {.threads = 3}).events, RunPermutation(late).events) << latency;
  }
}

TEST(Packets, RefusesAbsurdTraffic) {
  EXPECT_THAT(PermutationProblems(
                  {"workload.traffic={pattern: uniform, size: 1 MB, arrivals: poisson, load: "
                   "1.5, window: 1 ms}"}),
              HasSubstr("[TL1108]"));
  EXPECT_THAT(PermutationProblems(
                  {"workload.traffic={pattern: uniform, size: 1 MB, arrivals: poisson, load: "
                   ".nan, window: 1 ms}"}),
              HasSubstr("--set:1:"));
  EXPECT_THAT(PermutationProblems({"workload.traffic={pattern: uniform, size: 0 B}"}),
              HasSubstr("[TL1108]"));
  EXPECT_THAT(
      PermutationProblems({"workload.traffic={pattern: permutation, senders: 3, size: 1 MB}"}),
      HasSubstr("the pattern permutation does not read 'senders' [TL1207]"));
}

// Sixteen messages of 245 packets; each crosses 2, 4 or 6 links of a three-level tree.
TEST(Packets, CountsEveryHopOnSomeLink) {
  const RunResult result = RunPermutation({}, {.all_links = true});
  ASSERT_EQ(result.status, RunStatus::kFinished);
  const PacketCounters& counters = *result.traffic->counters;
  EXPECT_EQ(counters.packets.data, 16U * 245);
  std::uint64_t crossed = 0;
  for (const LinkRow& row : result.links) crossed += row.packets->packets;
  EXPECT_EQ(crossed, counters.hops.data + counters.hops.ack + counters.hops.control);
  EXPECT_EQ(result.links.size(), result.links_total);
  EXPECT_EQ(counters.delivered_bytes, 16'000'000);
}

TEST(Packets, NeverBeatsItsBoundAndSlowsNoFlowBelowOne) {
  for (const char* transport : {"rocev2", "infiniband"}) {
    for (const char* engine : {"packet", "flow"}) {
      const RunResult result = RunPermutation(
          {std::string("cluster.transport.kind=") + transport, std::string("engine=") + engine});
      EXPECT_GT(result.bound, Time()) << transport << engine;
      EXPECT_GE(result.time, result.bound) << transport << engine;
      EXPECT_EQ(result.traffic->statistics.flows, 16U);
      EXPECT_GE(result.traffic->statistics.slowdown.p50, 1) << transport << engine;
      EXPECT_EQ(result.traffic->completion.back().share, 1);
    }
  }
}

// Neighbours on one router: two cables of 50 ns and a switch of 400 ns. Packets may go by other
// groups, and never faster.
TEST(Packets, BoundOfOneByteIsTheLatencyOfTheShortestPathWhateverWaysPacketsTake) {
  for (const char* policy : {"valiant", "ugal-l", "ugal-g", "par", "dragonfly-plus", "spray"}) {
    for (const char* engine : {"packet", "flow"}) {
      const auto run = [&](const char* pattern, const char* size) {
        return RunPermutation(
            {"cluster.transport={kind: infiniband, message_overhead: 1 us}",
             std::string("engine=") + engine,
             std::string("cluster.fabric={kind: dragonfly, h: 2, routing: ") + policy + "}",
             std::string("workload.traffic={pattern: ") + pattern + ", size: " + size + "}"});
      };
      const RunResult near = run("incast, senders: 1, ranks: 2", "1 B");
      EXPECT_GE(near.bound, Time::Nanoseconds(1500)) << policy << engine;
      EXPECT_LT(near.bound, Time::Nanoseconds(1501)) << policy << engine;
      for (const char* size : {"1 B", "4 KiB"}) {
        const RunResult result = run("permutation", size);
        EXPECT_GE(result.bound, Time::Nanoseconds(1500)) << policy << engine;
        EXPECT_GE(result.time, result.bound) << policy << engine << size;
      }
    }
  }
}

// The path that stands for a message may be a slow one that its packets avoid.
TEST(Packets, NoDegradedCableRaisesTheBoundOfPacketsThatGoAroundIt) {
  const RunResult result =
      RunPermutation({"cluster.fabric.routing=adaptive",
                      "faults=[{target: leaf-0/spine-0, kind: degrade, value: 1%}]"});
  EXPECT_EQ(result.status, RunStatus::kFinished);
  // 1 MB and 245 headers of 82 B at 12.5 GB/s.
  EXPECT_NEAR(result.bound.seconds(), (1e6 + 244.14 * 82) / 12.5e9, 1e-9);
}

// Eight hosts send 1 MB to one at 100 Gb/s: 8 MB and their headers over one cable.
TEST(Packets, AnIncastTakesWhatItsCableTakes) {
  const RunResult result =
      RunPermutation({"workload.traffic={pattern: incast, senders: 8, size: 1 MB}",
                      "cluster.transport.congestion_control=none"});
  ASSERT_EQ(result.status, RunStatus::kFinished);
  const double least = 8 * (1e6 + 245 * 82) / 12.5e9;
  EXPECT_GE(result.time.seconds(), least);
  EXPECT_LE(result.time.seconds(), 1.01 * least + 5e-6);
}

// With a small buffer the senders are held back: by leaf-0, for the one output that they all take.
TEST(Packets, SaysWhoWasPausedForWhichOutput) {
  const RunResult result = RunPermutation(
      {"workload.traffic={pattern: incast, senders: 8, size: 1 MB}",
       "cluster.transport.congestion_control=none", "cluster.fabric.switch.buffer=1 MB"});
  ASSERT_EQ(result.status, RunStatus::kFinished);
  const PacketCounters& counters = *result.traffic->counters;
  std::uint64_t pauses = 0;
  for (const PausedLink& link : result.traffic->paused) {
    pauses += link.pauses;
    if (link.to == "leaf-0") {
      EXPECT_EQ(link.cause_to, "host-0");
    }
  }
  EXPECT_GT(pauses, 0U);
  EXPECT_EQ(pauses, counters.pauses - counters.pause_repeats);
  EXPECT_EQ(counters.drops, 0U);
}

TEST(Packets, RepeatsWithOtherSeeds) {
  const RunResult result = RunPermutation({}, {.repeat = 4});
  ASSERT_TRUE(result.repeat.has_value());
  EXPECT_EQ(result.repeat->seeds, (std::vector<std::uint64_t>{1, 2, 3, 4}));
  const RepeatedFigure& time = result.repeat->figures.front();
  EXPECT_EQ(time.name, "time_s");
  double sum = 0;
  for (int seed = 1; seed <= 4; ++seed) {
    sum += RunPermutation({"seed=" + std::to_string(seed)}).time.seconds();
  }
  EXPECT_DOUBLE_EQ(time.interval.mean, sum / 4);
  EXPECT_GT(*time.interval.half_width, 0);
  EXPECT_LT(time.least, time.most);
}

}  // namespace
}  // namespace trunkline
