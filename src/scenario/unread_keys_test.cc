#include "scenario/unread_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scenario/testing.h"
#include "trunkline/base/check.h"
#include "trunkline/scenario/run.h"
#include "trunkline/scenario/traffic_result.h"

// Keys that change nothing are warned of, and those that are not warned of change something.
namespace trunkline {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kSmallPermutation =
    "cluster:\n"
    "  fabric: {kind: fat-tree, k: 4, link: 100 Gb/s, routing: ecmp}\n"
    "  transport: {kind: rocev2}\n"
    "workload:\n"
    "  traffic: {pattern: permutation, size: 200 kB}\n"
    "engine: packet\n";

using Keys = std::vector<std::string>;

Result<Scenario> ParseCluster(Keys keys, const std::string& key) {
  if (!key.empty()) keys.push_back("cluster." + key);
  return ParseScenario(kSmallPermutation, "s.yaml", SetBy(keys));
}

std::string ClusterProblems(const Keys& keys, const std::string& key) {
  return ToldOf(ParseCluster(keys, key));
}

// What any effect of a key would move.
std::string Outcome(const Keys& keys, const std::string& key) {
  const RunResult result = MustRun(ParseCluster(keys, key));
  const PacketCounters& counters = *result.traffic->counters;
  std::string out = ToString(result.time) + " " + std::to_string(result.timeline.events) + " " +
                    std::to_string(counters.marks) + " " + std::to_string(counters.retransmissions);
  for (const auto& figures :
       {result.traffic->statistics.fct_s, result.traffic->statistics.fct_ack_s}) {
    out += " " + std::to_string(figures.mean) + " " + std::to_string(figures.max);
  }
  return out;
}

struct Case {
  const char* key;  // with its value
  Keys idle;        // beside which it changes nothing
  Keys at_work;     // beside which it does
};

const Keys kDrops = {"cluster.fabric.switch={pfc: false, buffer: 300 KB}",
                     "workload.traffic={pattern: incast, senders: 8, size: 200 kB}",
                     "cluster.transport.congestion_control=none",
                     "cluster.transport.loss_recovery=selective_repeat"};
const Keys kWindow = {"cluster.transport.congestion_control={name: none, window: 1}"};
const Keys kCableFails = {"workload.traffic.size=2 MB",
                          "faults=[{target: leaf-0/spine-0, kind: fail, at: 5 us, until: 1 ms}]"};
const Keys kLanes = {"cluster.transport={kind: infiniband}", "cluster.fabric.switch.classes=3",
                     "workload.traffic={jobs: [{name: a, pattern: permutation, size: 200 kB}, "
                     "{name: b, pattern: incast, senders: 4, size: 200 kB, class: 1}]}"};

Keys With(Keys keys, const std::string& more) {
  keys.push_back(more);
  return keys;
}

const std::vector<Case>& Cases() {
  static const std::vector<Case> kCases = {
      {"transport.retransmit_timeout=200 us", {}, kDrops},
      {"transport.retry_limit=0", {}, {}},
      {"transport.low_timeout=30 us", {}, kDrops},
      {"transport.loss_distance=40", {}, kDrops},
      {"transport.loss_recovery=selective_repeat",
       {},
       {kDrops[0], kDrops[1], kDrops[2], "cluster.transport.loss_recovery=go_back_n"}},
      {"transport.path_selection=mixed",
       {},
       {"cluster.fabric.routing=spray", "cluster.transport.congestion_control=none"}},
      {"transport.window_rule=not_full", {}, kWindow},
      {"transport.base_rtt=2 us", {}, kWindow},
      {"transport.base_rtt=50 us",
       {},
       {"cluster.transport.congestion_control={name: timely, min_rtt: 0 us}",
        "workload.traffic={pattern: incast, size: 400 KB, rounds: 3}"}},
      {"transport.path_selection=mixed",
       {},
       {"cluster.fabric.routing=adaptive", "cluster.transport.congestion_control=hpcc",
        "workload.traffic={pattern: permutation, size: 100 KB, rounds: 3}"}},
      {"transport.base_rtt=1 ms",
       {},
       {"cluster.transport={kind: infiniband}", "workload.traffic.size=40 MB",
        "packet.fast_forward=true"}},
      {"fabric.switch.rerouting=20 us", {}, kCableFails},
      {"fabric.switch.weights=[7]", {}, {}},
      {"fabric.switch.weights=[1, 30]",
       With(kLanes,
            "cluster.fabric.switch.vl={high: [{lane: 0, weight: 9}], low: [{lane: 1, "
            "weight: 9}]}"),
       kLanes},
      {"fabric.switch.vl.high_limit=1",
       With(kLanes, "cluster.fabric.switch.vl={low: [{lane: 0, weight: 9}, {lane: 1, weight: 9}]}"),
       With(kLanes,
            "cluster.fabric.switch.vl={high: [{lane: 0, weight: 9}], low: [{lane: 1, "
            "weight: 9}]}")},
  };
  return kCases;
}

TEST(UnreadKeys, AreWarnedOfWhereTheyChangeNothing) {
  for (const Case& of : Cases()) {
    EXPECT_THAT(ClusterProblems(of.idle, of.key), HasSubstr("[TL1224]")) << of.key;
    EXPECT_EQ(Outcome(of.idle, of.key), Outcome(of.idle, "")) << of.key;
  }
}

TEST(UnreadKeys, AreNotWarnedOfWhereTheyChangeSomething) {
  for (const Case& of : Cases()) {
    if (of.at_work.empty()) continue;
    EXPECT_THAT(ClusterProblems(of.at_work, of.key), Not(HasSubstr("TL1224"))) << of.key;
    EXPECT_NE(Outcome(of.at_work, of.key), Outcome(of.at_work, "")) << of.key;
  }
}

// No window, and no difference to the round trip, of those that set a pace alone.
TEST(UnreadKeys, CongestionControlsTellWhatTheyRead) {
  for (const char* control : {"none", "dcqcn", "timely"}) {
    const Keys keys = {std::string("cluster.transport.congestion_control=") + control};
    EXPECT_THAT(ClusterProblems(keys, "transport.window_rule=not_full"), HasSubstr("[TL1224]"))
        << control;
  }
  for (const char* control : {"dctcp", "swift", "hpcc", "nscc", "{name: dcqcn, window: 1}",
                              "{name: none, window: 1}", "{name: timely, preset: timely-window}"}) {
    const Keys keys = {std::string("cluster.transport.congestion_control=") + control};
    EXPECT_THAT(ClusterProblems(keys, "transport.window_rule=not_full"), Not(HasSubstr("TL1224")))
        << control;
    EXPECT_THAT(ClusterProblems(keys, "transport.base_rtt=40 us"), Not(HasSubstr("TL1224")))
        << control;
  }
}

TEST(UnreadKeys, OfRoutingAndSocketsAreOfPacketsAlone) {
  const Keys flow = {"engine=flow", "cluster.fabric.routing={policy: flowlet}"};
  EXPECT_THAT(ClusterProblems(flow, "fabric.routing.flowlet_gap=10 us"), HasSubstr("[TL1210]"));
  EXPECT_THAT(ClusterProblems(flow, "fabric.routing.seed_per_switch=false"),
              Not(HasSubstr("TL1210")));
  const Keys sockets = {"engine=flow", "cluster.transport={kind: tcp}"};
  EXPECT_THAT(ClusterProblems(sockets, "transport.sockets.cores=2"), HasSubstr("[TL1210]"));
  EXPECT_THAT(ClusterProblems(sockets, "transport.sockets.window=1 MiB"), HasSubstr("[TL1210]"));
  EXPECT_THAT(ClusterProblems(sockets, "transport.sockets.unit=32 KiB"), Not(HasSubstr("TL1210")));
}

TEST(UnreadKeys, OfMessagesAreOfPacketsAlone) {
  for (const char* key : {"workload.traffic.raw=true", "workload.traffic.class=0"}) {
    EXPECT_THAT(ClusterProblems({"engine=flow", key}, ""), HasSubstr("[TL1210]")) << key;
    EXPECT_THAT(ClusterProblems({key}, ""), Not(HasSubstr("TL1210"))) << key;
  }
}

TEST(UnreadKeys, NoPlainHostStagesDataForItsNic) {
  EXPECT_THAT(ClusterProblems({"engine=flow"}, "gpudirect=false"), HasSubstr("[TL1224]"));
  EXPECT_THAT(ClusterProblems({"engine=flow", "cluster.node=dgx-h100", "cluster.nodes=4",
                               "cluster.fabric=rail-optimized"},
                              "gpudirect=false"),
              Not(HasSubstr("TL1224")));
}

}  // namespace
}  // namespace trunkline
