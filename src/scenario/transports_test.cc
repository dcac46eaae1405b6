#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "scenario/testing.h"
#include "trunkline/base/check.h"
#include "trunkline/fabric/build.h"
#include "trunkline/scenario/run.h"
#include "trunkline/scenario/traffic_result.h"

// Any transport on any fabric, and what sockets cost in every engine.
namespace trunkline {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

constexpr const char* kOneFlow =
    "cluster:\n"
    "  nodes: 8\n"
    "  fabric: {kind: single-switch, link: 100 Gb/s}\n"
    "  transport: {kind: tcp}\n"
    "workload:\n"
    "  traffic: {pattern: outcast, receivers: 1, size: 400 MB}\n"
    "engine: packet\n";

Result<Scenario> ParseWith(const char* text, const std::vector<std::string>& keys) {
  return ParseScenario(text, "s.yaml", SetBy(keys));
}

std::string TransportProblems(const std::vector<std::string>& keys) {
  return ToldOf(ParseWith(kOneFlow, keys));
}

RunResult RunWith(const char* text, const std::vector<std::string>& keys,
                  const RunOptions& options = {}) {
  const auto scenario = ParseWith(text, keys);
  TL_CHECK(scenario.has_value(), Format(scenario.error().front()));
  auto result = RunScenario(*scenario, options);
  TL_CHECK(result.has_value(), Format(result.error().front()));
  return std::move(*result);
}

// A cluster of sixteen hosts on a fabric of each kind.
std::vector<std::string> ClusterOf(const std::string& kind) {
  static const std::map<std::string, std::string> kSpecs = {{"tree", ", arity: [4, 4]"},
                                                            {"fat-tree", ", k: 4"},
                                                            {"dragonfly", ", p: 1, a: 4, h: 1"},
                                                            {"dragonfly-plus", ", h: 2"},
                                                            {"torus", ", sizes: [4, 4]"}};
  const auto found = kSpecs.find(kind);
  const std::string keys = found != kSpecs.end() ? found->second : "";
  std::vector<std::string> cluster = {fmt::format("cluster.fabric={{kind: {}{}}}", kind, keys)};
  // Rails that meet over NVLink only are of servers.
  cluster.emplace_back(kind == "rail-only" ? "cluster.nodes=2" : "cluster.nodes=16");
  if (kind == "rail-only") cluster.emplace_back("cluster.node=dgx-h100");
  return cluster;
}

TEST(Transports, EachRunsOnEveryFabricInBothEngines) {
  for (const FabricKind& kind : FabricKinds()) {
    for (const char* transport : {"infiniband", "rocev2", "tcp", "ideal"}) {
      for (const char* engine : {"packet", "flow"}) {
        const std::string what = fmt::format("{} on {}, {}", transport, kind.name, engine);
        std::vector<std::string> keys = ClusterOf(kind.name);
        keys.push_back(fmt::format("cluster.transport.kind={}", transport));
        keys.push_back(fmt::format("engine={}", engine));
        keys.emplace_back(
            "workload={collective: {primitive: all_reduce, size: 1 MB, algorithm: ring, channels: "
            "1, protocol: simple}}");
        const auto scenario = ParseWith(kOneFlow, keys);
        ASSERT_TRUE(scenario.has_value()) << what << Format(scenario.error().front());
        const auto result = RunScenario(*scenario, {});
        ASSERT_TRUE(result.has_value()) << what << Format(result.error().front());
        EXPECT_EQ(result->status, RunStatus::kFinished) << what;
        EXPECT_GE(result->time, result->bound) << what;
      }
    }
  }
}

// 400 MB through one core: 42 Gb/s, in either engine.
TEST(Transports, BothEnginesReadTheSameCostsOfTheKernel) {
  const double packets = RunWith(kOneFlow, {}).time.seconds();
  const double fluid = RunWith(kOneFlow, {"engine=flow"}).time.seconds();
  EXPECT_NEAR(fluid, 400e6 * 8 / 42e9, 0.0005);
  EXPECT_NEAR(packets / fluid, 1, 0.03);
}

TEST(Transports, EveryKeyOfTheKernelMovesTheTime) {
  for (const char* engine : {"packet", "flow"}) {
    const std::string on = fmt::format("engine={}", engine);
    const auto time = [&](const std::string& key) {
      return RunWith(kOneFlow, {on, "workload.traffic.size=20 MB", key}).time.seconds();
    };
    const double usual = time("name=usual");
    EXPECT_GT(time("cluster.transport.sockets.receive.unit=20 us"), 1.5 * usual) << engine;
    EXPECT_GT(time("cluster.transport.sockets.receive.copy=10 Gb/s"), 1.5 * usual) << engine;
    EXPECT_GT(time("cluster.transport.sockets.send.unit=40 us"), 1.5 * usual) << engine;
    EXPECT_GT(time("cluster.transport.sockets.send.copy=10 Gb/s"), 1.5 * usual) << engine;
    EXPECT_GT(time("cluster.transport.sockets.unit=9000 B"), 1.5 * usual) << engine;
    EXPECT_GT(time("cluster.transport.message_overhead=5 ms"), usual + 4.9e-3) << engine;
  }
  const auto packets = [&](const std::vector<std::string>& keys) {
    return RunWith(kOneFlow, keys).time.seconds();
  };
  EXPECT_GT(packets({"cluster.transport.sockets.window=64 KiB"}), 1.2 * packets({}));
  const std::string two = "workload.traffic={pattern: incast, senders: 2, size: 40 MB}";
  EXPECT_GT(packets({two, "cluster.transport.sockets.cores=1"}), 1.8 * packets({two}));
}

// A ring AllReduce has one connection a step: 42 Gb/s of the 100 that RDMA has.
TEST(Transports, CollectivesGoThroughTheKernelToo) {
  const std::vector<std::string> ring = {
      "workload={collective: {primitive: all_reduce, size: 64 MiB, algorithm: ring, channels: 1, "
      "protocol: simple}}"};
  for (const char* engine : {"packet", "flow", "analytic"}) {
    const auto time = [&](const char* kind) {
      auto keys = ring;
      keys.push_back(fmt::format("engine={}", engine));
      keys.push_back(fmt::format("cluster.transport.kind={}", kind));
      return RunWith(kOneFlow, keys).time.seconds();
    };
    EXPECT_THAT(time("tcp") / time("rocev2"), AllOf(Ge(1.9), Le(2.6))) << engine;
  }
}

TEST(Transports, SocketsGiveTheSameBytesForAnyNumberOfThreads) {
  const std::vector<std::string> keys = {
      "cluster={nodes: 16, fabric: {kind: fat-tree, k: 4, link: 40 Gb/s, switch: {queue: 100 KB}}, "
      "transport: {kind: tcp}}",
      "workload.traffic={pattern: uniform, rounds: 4, size: 500 KB}"};
  RunOptions threads;
  const RunResult one = RunWith(kOneFlow, keys, threads);
  threads.threads = 3;
  const RunResult three = RunWith(kOneFlow, keys, threads);
  EXPECT_GT(one.traffic->counters->drops, 0U);
  EXPECT_EQ(one.time, three.time);
  EXPECT_EQ(one.events, three.events);
  EXPECT_EQ(one.traffic->statistics.fct_s.mean, three.traffic->statistics.fct_s.mean);
  EXPECT_EQ(one.traffic->statistics.fct_s.max, three.traffic->statistics.fct_s.max);
}

// A read waits for its request to cross the network first.
TEST(Transports, AReadTakesItsRequestLonger) {
  for (const char* engine : {"packet", "flow"}) {
    const auto time = [&](const char* verb) {
      return RunWith(kOneFlow, {"cluster.transport.kind=infiniband", "cluster.fabric.routing=ecmp",
                                fmt::format("engine={}", engine), "workload.traffic.size=1 MB",
                                fmt::format("workload.traffic.verb={}", verb)})
          .time;
    };
    EXPECT_EQ(time("send"), time("write")) << engine;
    // Two cables of 50 ns and a switch of 400.
    const Time longer = time("read") - time("write");
    EXPECT_THAT(longer.seconds(), AllOf(Ge(499e-9), Le(510e-9))) << engine;
  }
}

TEST(Transports, RefusesWhatSocketsAndRdmaDoNotHave) {
  EXPECT_THAT(TransportProblems({"workload.traffic.verb=read"}), HasSubstr("[TL1207]"));
  EXPECT_THAT(TransportProblems({"workload.traffic.verb=get"}), HasSubstr("write"));
  EXPECT_THAT(TransportProblems({"cluster.transport={kind: rocev2, sockets: {cores: 4}}"}),
              HasSubstr("[TL1207]"));
  EXPECT_THAT(TransportProblems({"cluster.transport.sockets.window=1 KiB"}),
              AllOf(HasSubstr("[TL1108]"), HasSubstr("8948 B")));
  EXPECT_THAT(TransportProblems({"cluster.transport.sockets.unit=2 GiB"}), HasSubstr("[TL1108]"));
  EXPECT_THAT(TransportProblems({"cluster.transport.sockets.cores=0"}), HasSubstr("1"));
  EXPECT_THAT(TransportProblems({"cluster.transport.sockets.send.copy=0 Gb/s"}), HasSubstr("copy"));
  EXPECT_THAT(TransportProblems({"cluster.transport.message_overhead=1 min"}), HasSubstr("error"));
  EXPECT_THAT(TransportProblems({"cluster.transport.message_overhead=2 s"}), HasSubstr("[TL1108]"));
}

}  // namespace
}  // namespace trunkline
