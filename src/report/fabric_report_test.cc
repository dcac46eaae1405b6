#include "trunkline/report/fabric_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "report/test_fabrics.h"
#include "trunkline/fabric/import.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(FabricReport, JsonHasTheKeysOfTheContract) {
  const BuiltFabric built = Build("rail-optimized:node=dgx-h100,nodes=64");
  const auto json = nlohmann::json::parse(RenderFabricJson(built, Analyse(built)));
  EXPECT_EQ(json["gpus"], 512);
  EXPECT_EQ(json["nodes"], 64);
  EXPECT_EQ(json["nics"], 512);
  EXPECT_EQ(json["switches"], (nlohmann::json{{"leaf", 16}, {"spine", 8}}));
  EXPECT_EQ(json["links"]["host"], 512);
  EXPECT_EQ(json["links"]["fabric"], 512);
  EXPECT_EQ(json["links"]["full_mesh"], 512 * 511 / 2);
  EXPECT_EQ(json["oversubscription"], 1.0);
  EXPECT_EQ(json["bisection"]["value_Bps"], 256 * 50e9);
  EXPECT_EQ(json["diameter_hops"], 3);
  EXPECT_EQ(json["status"], "finished");
  EXPECT_TRUE(json["time_s"].is_null());
}

TEST(FabricReport, TextNamesTheBisectionAndSaysWhetherItIsExact) {
  const BuiltFabric exact = Build("fat-tree:k=4,link=100 Gb/s");
  EXPECT_THAT(RenderFabricText(exact, Analyse(exact)), HasSubstr("100 GB/s (exact)"));
  const BuiltFabric bounded = Build("fat-tree:children=[2,3],parents=[1,1]");
  const std::string text = RenderFabricText(bounded, Analyse(bounded));
  EXPECT_THAT(text, HasSubstr("between "));
}

TEST(FabricReport, WeakPointsAreNamedInTextAndJson) {
  // Two pods joined by one cable of 100 Gb/s to core-0.
  const BuiltFabric built = Build("tree:arity=[2,2,2],taper=[1,4],link=100 Gb/s");
  const WeakPoints weak = FindWeakPoints(built);
  const std::string text = RenderFabricText(built, Analyse(built), &weak);
  EXPECT_THAT(text, HasSubstr("cut by 1 link of 12.5 GB/s"));
  EXPECT_THAT(text, HasSubstr("4:1"));
  const auto json = nlohmann::json::parse(RenderFabricJson(built, Analyse(built), &weak));
  ASSERT_EQ(json["bisection"]["cut"].size(), 1U);
  EXPECT_EQ(json["bisection"]["cut"][0]["rate_Bps"], 12.5e9);
  EXPECT_EQ(json["most_loaded"][0]["oversubscription"], 4.0);
  EXPECT_EQ(json["path_diversity"]["least_disjoint"], 1);
  EXPECT_EQ(json["hops"].size(), 3U);
  for (const auto& failure : json["failures"]) {
    if (failure["what"] != "core") continue;
    EXPECT_EQ(failure["nodes_lost"], 4);
    EXPECT_EQ(failure["cut_Bps"], 0);
  }
}

TEST(FabricReport, CutsOfAFileAreNamedByWhatTheirEndsAre) {
  const std::string csv =
      "from,to,rate\nalpha-01,S-x,100 Gb/s\nbeta-02,S-x,100 Gb/s\n"
      "gamma-03,S-y,100 Gb/s\ndelta-04,S-y,100 Gb/s\nS-x,top,100 Gb/s\nS-y,top,100 Gb/s\n";
  const auto imported = ImportFabric(csv, "cables.csv", {});
  ASSERT_TRUE(imported.has_value()) << Format(imported.error().front());
  const WeakPoints weak = FindWeakPoints(imported->built);
  const std::string text = RenderFabricText(imported->built, Analyse(imported->built), &weak);
  EXPECT_THAT(text, HasSubstr("  1 leaf -> spine: S-x -> top\n"));
}

TEST(FabricReport, AnEndAloneHasNoCutToShow) {
  const BuiltFabric built = Build("single-switch:nodes=1");
  const WeakPoints weak = FindWeakPoints(built);
  const std::string text = RenderFabricText(built, Analyse(built), &weak);
  EXPECT_THAT(text, HasSubstr("No link joins the halves.\n"));
}

// 5 x 16 / 4 of a full tree; 5 x 12 / 4 without one of its four pods, which has 4 of the 20
// switches; nothing to say of other networks.
TEST(FabricReport, CountsByFiveMOverNOnlyWhereThereAreThreeTiers) {
  const auto text = [](const std::string& spec) {
    const BuiltFabric built = Build(spec);
    return RenderFabricText(built, Analyse(built));
  };
  EXPECT_THAT(
      text("fat-tree:k=4"),
      HasSubstr("5 x 16 / 4 = 20 switches, as there are: three full tiers, one NIC a server"));
  const std::string partial = text("fat-tree:k=4,nodes=12");
  EXPECT_THAT(partial, HasSubstr("5 x 12 / 4 = 15 switches, where 16 stand"));
  EXPECT_THAT(partial, HasSubstr("it counts a full tree of three tiers with one NIC a server"));
  for (const char* spec : {"clos:nodes=16,radix=8", "single-switch:nodes=4", "torus:sizes=[4,4]",
                           "dragonfly-plus:h=2", "rail-optimized:node=dgx-h100,nodes=64"}) {
    EXPECT_THAT(text(spec), Not(HasSubstr("5M/n"))) << spec;
  }
}

TEST(FabricReport, RoutersOfADragonflyAreNoLeaves) {
  const BuiltFabric built = Build("dragonfly:h=2");
  const std::string text = RenderFabricText(built, Analyse(built));
  EXPECT_THAT(text, Not(HasSubstr("leaf")));
  const auto json = nlohmann::json::parse(RenderFabricJson(built, Analyse(built)));
  EXPECT_EQ(json["switches"], (nlohmann::json{{"switch", 36}}));
}

TEST(FabricReport, CostIsAKeyOfTheContractAndABill) {
  const BuiltFabric built = Build("clos:node=dgx-h100,nodes=256,radix=64,tiers=2");
  const auto prices = FindPriceList(kDefaultPrices);
  ASSERT_TRUE(prices.has_value());
  const FabricAnalysis analysis = Analyse(built);
  const FabricCost cost = CostFabric(built, *prices, analysis.bisection);
  EXPECT_THAT(RenderCostText(built, cost), HasSubstr("3.456 M USD of switches"));
  const auto json = nlohmann::json::parse(RenderFabricJson(built, analysis, nullptr, &cost));
  EXPECT_EQ(json["cost"]["switches"], 96 * 36'000.0);
  EXPECT_EQ(json["cost"]["total"].get<double>() / 2048, json["cost"]["per_gpu"]);
  std::uint64_t cables = 0;
  for (const auto& part : json["cost"]["parts"]) {
    if (part.contains("metres")) cables += part["count"].get<std::uint64_t>();
  }
  EXPECT_EQ(cables, 4096U);
  EXPECT_TRUE(nlohmann::json::parse(RenderFabricJson(built, analysis))["cost"].is_null());
}

TEST(FabricReport, PathShowsWhatGpuDirectChanges) {
  const BuiltFabric built = Build("rail-optimized:node=dgx-h100,nodes=64");
  const auto paths = ComparePaths(built.fabric, RoutingPolicy::kAdaptive, "gpu:0/3", "gpu:17/5");
  ASSERT_TRUE(paths.has_value());
  const std::string text = RenderPathText(*paths);
  EXPECT_THAT(text, HasSubstr("leaf-3"));
  EXPECT_THAT(text, HasSubstr("400 Gb/s"));
  EXPECT_THAT(text, HasSubstr("32 links"));
  // To a CPU and back at each end: four buses more.
  EXPECT_THAT(text, HasSubstr("GPUDirect RDMA saves 4 hops"));
  // Two GPUs below a PCIe switch, each both ways: four flows on its one link to the CPU, of 52.92
  // GB/s. With GPUDirect a GPU and its NIC have theirs to themselves.
  EXPECT_THAT(text, HasSubstr("each gets 50 GB/s with it"));
  EXPECT_THAT(text, HasSubstr("13.23 GB/s, as 4 flows share pcie-switch:0/1 -> cpu:0/0"));
  const auto json = nlohmann::json::parse(RenderPathJson(*paths));
  EXPECT_EQ(json["gpudirect"]["hops"].size(), 8U);
  EXPECT_EQ(json["host_memory"]["hops"].size(), 12U);
}

TEST(FabricReport, PathSaysWhereGpuDirectChangesNothing) {
  for (const char* node : {"hgx-pcie", "gb200-nvl72"}) {
    const BuiltFabric built = Build(fmt::format("single-switch:node={},nodes=2", node));
    const auto out = ComparePaths(built.fabric, RoutingPolicy::kAdaptive, "gpu:0/3", "gpu:1/3");
    const auto inside = ComparePaths(built.fabric, RoutingPolicy::kAdaptive, "gpu:0/3", "gpu:0/1");
    ASSERT_TRUE(out.has_value() && inside.has_value());
    EXPECT_THAT(RenderPathText(*out), HasSubstr("GPUDirect RDMA changes nothing here")) << node;
    EXPECT_THAT(RenderPathText(*inside), Not(HasSubstr("GPUDirect"))) << node;
  }
}

TEST(FabricReport, PathBetweenHostsHasOneForm) {
  const BuiltFabric built = Build("fat-tree:k=4");
  const auto paths = ComparePaths(built.fabric, RoutingPolicy::kEcmp, "host-0", "host-15");
  ASSERT_TRUE(paths.has_value());
  EXPECT_THAT(RenderPathText(*paths), Not(HasSubstr("GPUDirect")));
  EXPECT_TRUE(nlohmann::json::parse(RenderPathJson(*paths))["host_memory"].is_null());
}

}  // namespace
}  // namespace trunkline
