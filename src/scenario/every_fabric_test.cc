#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <set>
#include <string>

#include "trunkline/fabric/build.h"
#include "trunkline/fabric/route.h"
#include "trunkline/scenario/run.h"

namespace trunkline {
namespace {

struct Sample {
  const char* kind;
  const char* keys;  // those that four nodes of eight NICs need
};
constexpr Sample kSamples[] = {
    {"single-switch", ""},
    {"tree", ", arity: [2, 2], taper: [2]"},
    {"clos", ", radix: 16, oversubscription: 2"},
    {"fat-tree", ", k: 6"},
    {"rail-optimized", ", radix: 8, unit: 2"},
    {"rail-only", ""},
    {"hpn", ", hosts: 2"},
    {"meta-roce", ", racks: 1"},
    {"dragonfly", ", h: 2, p: 2, g: 4"},
    {"dragonfly-plus", ", h: 2, p: 4, g: 4"},
    {"slim-fly", ", q: 3"},
    {"torus", ", sizes: [2, 2]"},
    {"full-mesh", ", switches: 4"},
};

// The collective on four nodes, each with eight GPUs and NICs; nothing where the policy cannot
// route the kind.
std::optional<RunResult> RunOn(const Sample& sample, const std::string& routing,
                               const std::string& collective) {
  const std::string text =
      std::string("cluster:\n  node: dgx-h100\n  nodes: 4\n  fabric: {kind: ") + sample.kind +
      sample.keys + ", routing: " + routing +
      "}\nworkload:\n  collective: {size: 64 MiB, channels: 1, " + collective + "}\nengine: flow\n";
  const auto scenario = ParseScenario(text, "s.yaml");
  auto result = scenario ? RunScenario(*scenario) : std::unexpected(scenario.error());
  if (!result) {
    EXPECT_EQ(result.error().front().code, "TL1413") << text << Format(result.error().front());
    return std::nullopt;
  }
  return *std::move(result);
}

TEST(EveryFabric, CarriesARingAndAnExchangeUnderEveryPolicyThatRoutesIt) {
  std::set<std::string> kinds;
  for (const Sample& sample : kSamples) {
    kinds.insert(sample.kind);
    std::size_t policies = 0;
    for (const RoutingPolicyInfo& routing : RoutingPolicies()) {
      for (const char* collective : {"primitive: all_reduce, algorithm: ring",
                                     "primitive: all_to_all, algorithm: pairwise"}) {
        const auto result = RunOn(sample, routing.name, collective);
        if (!result) continue;
        ++policies;
        EXPECT_EQ(result->status, RunStatus::kFinished) << sample.kind << " " << routing.name;
        EXPECT_GE(result->time, result->bound) << sample.kind << " " << routing.name;
        // No slower than if all bytes of all ranks crossed one cable.
        EXPECT_LT(result->time.seconds(), 32 * 2 * 67e6 / 50e9 * 10) << sample.kind;
      }
    }
    EXPECT_GE(policies, 8U) << sample.kind;  // ecmp, static, spray and adaptive route anything
  }
  EXPECT_EQ(kinds.size(), FabricKinds().size());
}

TEST(EveryFabric, SaysWhichNicsCarryNothing) {
  const std::string path = testing::TempDir() + "trunkline_idle_nics.yaml";
  const auto assumes = [&](int nics) {
    std::ofstream(path) << "name: server\ndescription: a test\nnic_rate: 400 Gb/s\nsource: test\n"
                        << "devices: {gpu: 2, nic: " << nics << ", pcie-switch: 1}\n"
                        << "buses:\n"
                        << "  - {from: gpu, to: pcie-switch, per: 2, kind: pcie, rate: 100 GB/s, "
                           "latency: 50 ns, source: test}\n"
                        << "  - {from: nic, to: pcie-switch, per: " << nics
                        << ", kind: pcie, rate: 100 GB/s, latency: 50 ns, source: test}\n";
    const auto scenario = ParseScenario(
        "cluster: {node: " + path +
            ", nodes: 4}\nworkload: {collective: {primitive: all_reduce, size: 1 MiB}}\n",
        "s.yaml");
    EXPECT_TRUE(scenario.has_value()) << (scenario ? "" : Format(scenario.error().front()));
    std::string all;
    if (!scenario) return all;
    for (const std::string& assumption : scenario->assumptions) all += assumption + "\n";
    return all;
  };
  EXPECT_TRUE(assumes(4).contains("2 of the 4 NICs of a server carry nothing"));
  EXPECT_FALSE(assumes(2).contains("carry nothing"));
}

TEST(EveryFabric, WarnsOfCablesThatAreFasterThanTheirNics) {
  const auto warnings = [](const std::string& link) {
    const auto scenario = ParseScenario(
        "cluster: {node: dgx-h100, nodes: 4, fabric: {kind: clos, radix: 64, link: " + link +
            "}}\nworkload: {collective: {primitive: all_reduce, size: 1 MiB}}\n",
        "s.yaml");
    EXPECT_TRUE(scenario.has_value());
    return scenario ? scenario->warnings : Diagnostics();
  };
  EXPECT_TRUE(warnings("400 Gb/s").empty());
  EXPECT_TRUE(warnings("200 Gb/s").empty());
  ASSERT_EQ(warnings("400 GB/s").size(), 1U);
  EXPECT_EQ(warnings("400 GB/s").front().code, "TL1417");
}

}  // namespace
}  // namespace trunkline
