#include "trunkline/scenario/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "scenario/testing.h"
#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kCollective =
    "cluster: {nodes: 4, fabric: {kind: single-switch, link: 100 Gb/s}}\n"
    "workload:\n"
    "  collective: {primitive: all_reduce, from: 1 KiB, to: 16 KiB, factor: 4}\n";

Scenario ReadText(const std::string& text, const std::vector<Assignment>& assignments = {}) {
  auto scenario = ParseScenario(text, "s.yaml", assignments);
  EXPECT_TRUE(scenario) << Format(scenario.error().front());
  return scenario ? std::move(*scenario) : Scenario{};
}

std::string ErrorsOf(const std::string& text, const std::vector<Assignment>& assignments = {}) {
  const auto scenario = ParseScenario(text, "s.yaml", assignments);
  EXPECT_FALSE(scenario);
  return ToldOf(scenario);
}

TEST(Scenario, ReadsACollectiveWithItsSizes) {
  const Scenario scenario = ReadText(kCollective);
  const auto& job = std::get<CollectiveJob>(scenario.workload);
  EXPECT_EQ(scenario.name, "s");
  EXPECT_EQ(scenario.engine, EngineKind::kFlow);
  EXPECT_EQ(job.primitive, Primitive::kAllReduce);
  EXPECT_THAT(job.sizes, ElementsAre(Bytes(1'024), Bytes(4'096), Bytes(16'384)));
  EXPECT_EQ(job.ranks, 4U);
  EXPECT_EQ(scenario.cluster.fabric->fabric.endpoints().size(), 4U);
}

TEST(Scenario, CountsWholeElementsAsNcclTestsDoes) {
  const Scenario scenario = ReadText(
      "cluster: {nodes: 2}\nworkload:\n"
      "  collective: {primitive: all_reduce, sizes: [8 B, 10 B], dtype: double}\n");
  EXPECT_THAT(std::get<CollectiveJob>(scenario.workload).sizes, ElementsAre(Bytes(8), Bytes(8)));
  EXPECT_THAT(scenario.assumptions, testing::Contains(HasSubstr("10 B becomes 8 B")));
}

TEST(Scenario, RefusesSizesOfLessThanOneElement) {
  for (const char* size : {"size: 3 B", "sizes: [4 KiB, 1 B]", "from: 1 B, to: 8 B"}) {
    EXPECT_THAT(ErrorsOf(std::string("cluster: {nodes: 2}\nworkload:\n  collective: {primitive: "
                                     "all_reduce, ") +
                         size + "}\n"),
                testing::AllOf(HasSubstr("s.yaml:3:"), HasSubstr("less than one float of 4 B")));
  }
}

TEST(Scenario, PlacesTheOneLineFormOfAFabricInTheFile) {
  EXPECT_THAT(ErrorsOf("cluster:\n  fabric: clos:radx=3\nworkload: {collective: {primitive: "
                       "all_reduce, size: 1 MiB}}\n"),
              HasSubstr("s.yaml:2:16: error: unknown key 'radx' [TL1104]\n"
                        "      fabric: clos:radx=3\n"));
  EXPECT_THAT(ErrorsOf("cluster:\n  fabric: 'clos:radix=3x'\nworkload: {collective: {primitive: "
                       "all_reduce, size: 1 MiB}}\n"),
              HasSubstr("s.yaml:2:23: error: '3x'"));
}

TEST(Scenario, PointsAtChannelsThatTheAlgorithmCannotUse) {
  EXPECT_THAT(ErrorsOf("cluster: {nodes: 4}\nworkload:\n  collective:\n    primitive: all_gather\n"
                       "    size: 1 MiB\n    algorithm: bruck\n    channels: 3\n"),
              testing::AllOf(HasSubstr("s.yaml:7:15: error: bruck cannot use 3 channels"),
                             HasSubstr("TL1504")));
}

TEST(Scenario, PointsAtTheModelThatIsAMixtureOfExperts) {
  const std::string model = testing::TempDir() + "mixture.json";
  std::ofstream(model) << R"({"model_type": "mixtral", "num_hidden_layers": 32, "hidden_size": 4096,
    "intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8,
    "vocab_size": 32000, "max_position_embeddings": 32768, "num_local_experts": 8,
    "num_experts_per_tok": 2})";
  const auto scenario =
      ReadScenario(TRUNKLINE_SOURCE_DIR "/examples/llama3.1-70b-512xh100.yaml",
                   std::vector<Assignment>{{"workload.training.model=" + model, "--set 1"}});
  ASSERT_FALSE(scenario);
  EXPECT_THAT(Format(scenario.error().front()),
              testing::AllOf(HasSubstr("--set 1:1:25: error: mixture is a mixture of 8 experts"),
                             HasSubstr("TL1310")));
}

TEST(Scenario, SaysWhatItChoseWhereTheFileIsSilent) {
  const Scenario scenario = ReadText(
      "cluster: {node: dgx-h100, nodes: 2}\nworkload:\n"
      "  collective: {primitive: all_reduce, size: 1 MiB}\n");
  ASSERT_EQ(scenario.assumptions.size(), 4U);
  EXPECT_THAT(scenario.assumptions[0], HasSubstr("non-blocking rail-optimized"));
  EXPECT_THAT(scenario.assumptions[1], HasSubstr("adaptive over the minimal paths"));
  EXPECT_THAT(scenario.assumptions[2], HasSubstr("has 2 ends and 32 cables up"));
  EXPECT_THAT(scenario.assumptions[3], HasSubstr("NCCL's choice at each size"));
  EXPECT_EQ(scenario.cluster.fabric->fabric.endpoints().size(), 16U);
}

TEST(Scenario, LeavesToNcclOnlyWhatItDoesNotName) {
  const auto left = [](const std::string& named) {
    const Scenario scenario = ReadText(
        "cluster: {nodes: 4, fabric: single-switch}\nworkload:\n"
        "  collective: {primitive: all_reduce, size: 1 MiB" +
        named + "}\n");
    std::string found;
    for (const std::string& assumption : scenario.assumptions) {
      const std::size_t end = assumption.find(": NCCL's choice");
      if (end != std::string::npos) found += assumption.substr(0, end);
    }
    return found;
  };
  EXPECT_EQ(left(""), "algorithm and protocol");
  EXPECT_EQ(left(", algorithm: ring"), "protocol");
  EXPECT_EQ(left(", protocol: simple"), "algorithm");
  EXPECT_EQ(left(", algorithm: ring, protocol: simple"), "");
}

// A scenario in a folder of its own, with a list of ranks beside it.
std::string FolderWithRanks(const std::string& name, const std::string& ranks) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "s.yaml") << kCollective;
  std::ofstream(folder / "find_file_ranks.txt") << ranks;
  return folder.string();
}

TEST(Scenario, SeeksAFileOfTheCommandLineInTheWorkingDirectoryAndThenBesideItself) {
  const std::string scenario = FolderWithRanks("find_file_beside", "host-3\n");
  const std::string working = FolderWithRanks("find_file_working", "host-1\n");
  const auto first = [&] {
    const auto read = ReadScenario(
        scenario + "/s.yaml",
        std::vector<Assignment>{{"cluster.placement={file: find_file_ranks.txt}", "--set 1"},
                                {"workload.collective.ranks=1", "--set 2"}});
    if (!read) return Format(read.error().front());
    const auto& listed = read->cluster.placement.listed;
    const Fabric& fabric = read->cluster.fabric->fabric;
    return listed.size() == 1 ? fabric.name(listed.front()) : std::to_string(listed.size());
  };
  EXPECT_EQ(first(), "host-3");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(working);
  EXPECT_EQ(first(), "host-1");
  std::filesystem::current_path(before);
}

TEST(Scenario, SaysWhereItSoughtAFileThatIsNowhere) {
  for (const char* key :
       {"cluster.node=sub/n.yaml", "cluster.fabric={file: sub/n.topo}",
        "cluster.placement={file: sub/n.txt}",
        "workload={training: {model: sub/n.json, micro_batch: 1, global_batch: 4}}",
        "workload={trace: {file: sub/n.goal}}", "workload={traffic: {file: sub/n.cm}}",
        "workload={traffic: {pattern: uniform, sizes: sub/n.cdf}}"}) {
    const auto typed =
        ParseScenario(kCollective, "of/s.yaml", std::vector<Assignment>{{key, "--set 1"}});
    ASSERT_FALSE(typed) << key;
    EXPECT_THAT(Format(typed.error().front()),
                testing::AllOf(HasSubstr("--set 1:1:"), HasSubstr("there is no file 'sub/n."),
                               HasSubstr("[TL1101]"),
                               HasSubstr("in the working directory and beside the scenario, as "
                                         "'of/sub/n.")))
        << key;
  }
  EXPECT_THAT(ErrorsOf("cluster: {nodes: 4, placement: {file: n.txt}}\nworkload: {collective: "
                       "{primitive: all_reduce, size: 1 MiB}}\n"),
              testing::AllOf(HasSubstr("s.yaml:1:39: error: there is no file 'n.txt' [TL1101]"),
                             HasSubstr("sought beside the scenario")));
}

TEST(Scenario, AssignmentsReplaceKeys) {
  const Scenario scenario = ReadText(
      kCollective,
      {{"cluster.nodes=8", "--set 1"}, {"seed=7", "--seed"}, {"engine=analytic", "--engine"}});
  EXPECT_EQ(scenario.cluster.fabric->fabric.endpoints().size(), 8U);
  EXPECT_EQ(scenario.seed, 7U);
  EXPECT_EQ(scenario.engine, EngineKind::kAnalytic);
}

TEST(Scenario, TakesAFabricInOneLine) {
  const Scenario scenario =
      ReadText(kCollective, {{"cluster.fabric=single-switch:link=200 Gb/s", "--fabric"}});
  const Fabric& fabric = scenario.cluster.fabric->fabric;
  EXPECT_EQ(fabric.link(LinkId(0)).rate, Rate::GigabitsPerSecond(200));
}

TEST(Scenario, FaultsChangeTheFabric) {
  const Scenario scenario = ReadText(std::string(kCollective) +
                                     "faults:\n  - {target: host-2, kind: degrade, value: 25%}\n");
  const Fabric& fabric = scenario.cluster.fabric->fabric;
  const LinkId slow = fabric.out(fabric.Find("host-2").front()).front();
  EXPECT_EQ(fabric.link(slow).rate, Rate::GigabitsPerSecond(25));
}

TEST(Scenario, KeepsFaultsThatComeAndGoForThePacketEngine) {
  const std::string text = std::string(kCollective) +
                           "faults:\n"
                           "  - {target: host-2, kind: fail, at: 2 ms, until: 5 ms}\n"
                           "  - {target: host-1, kind: bit_errors, value: 1e-9}\n";
  const Scenario scenario = ReadText(text, {{"engine=packet", "--set 1"},
                                            {"cluster.transport.kind=rocev2", "--set 2"},
                                            {"cluster.fabric.switch.rerouting=50 us", "--set 3"}});
  const auto& faults = scenario.cluster.timed_faults;
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_EQ(faults[0].kind, TimedFault::Kind::kDown);
  EXPECT_EQ(faults[0].at, Time::Microseconds(2'000));
  EXPECT_EQ(faults[0].until, Time::Microseconds(5'000));
  EXPECT_EQ(faults[1].chance, 1e-9);
  EXPECT_EQ(scenario.cluster.rerouting, Time::Microseconds(50));
  EXPECT_EQ(scenario.cluster.faults.size(), 0U);
  const Diagnostics warnings = ReadText(text).warnings;
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_EQ(warnings[0].code, "TL1210");
}

TEST(Scenario, RefusesFaultsThatContradictThemselves) {
  const std::string head = std::string(kCollective) + "faults:\n  - ";
  EXPECT_THAT(ErrorsOf(head + "{target: host-2, kind: degrade}\n"), HasSubstr("TL1204"));
  EXPECT_THAT(ErrorsOf(head + "{target: host-2, kind: fail, value: 50%}\n"), HasSubstr("TL1204"));
  EXPECT_THAT(ErrorsOf(head + "{target: host-2, kind: degrade, value: 150%}\n"),
              HasSubstr("between 0 and 100 %"));
  EXPECT_THAT(ErrorsOf(head + "{target: host-2, kind: frame_loss}\n"), HasSubstr("TL1204"));
  EXPECT_THAT(ErrorsOf(head + "{target: host-2, kind: fail, at: 2 ms, until: 1 ms}\n"),
              testing::AllOf(HasSubstr("s.yaml:5:"), HasSubstr("TL1406")));
  EXPECT_THAT(ErrorsOf(head + "{target: host-9, kind: fail, at: 2 ms}\n"),
              testing::AllOf(HasSubstr("s.yaml:5:"), HasSubstr("TL1406")));
  EXPECT_THAT(ErrorsOf(head + "{target: host-9, kind: fail}\n"),
              testing::AllOf(HasSubstr("s.yaml:5:"), HasSubstr("TL1406")));
}

TEST(Scenario, NeedsExactlyOneWorkload) {
  EXPECT_THAT(ErrorsOf("cluster: {nodes: 4}\n"), HasSubstr("key 'workload' is missing"));
  EXPECT_THAT(ErrorsOf("cluster: {nodes: 4}\nworkload: {}\n"), HasSubstr("TL1203"));
  EXPECT_THAT(ErrorsOf("cluster: {nodes: 4}\nworkload: {training: {}, collective: {}}\n"),
              HasSubstr("TL1203"));
  EXPECT_THAT(ErrorsOf("workload: {collective: {primitive: barrier}}\n"),
              HasSubstr("key 'cluster' is missing"));
}

TEST(Scenario, NeedsItsSizesExactlyOnce) {
  const std::string head = "cluster: {nodes: 4}\nworkload:\n  collective: {primitive: all_reduce";
  EXPECT_THAT(ErrorsOf(head + "}\n"), HasSubstr("TL1205"));
  EXPECT_THAT(ErrorsOf(head + ", size: 1 KiB, sizes: [1 KiB]}\n"), HasSubstr("TL1205"));
  EXPECT_THAT(ErrorsOf(head + ", from: 2 KiB, to: 1 KiB}\n"), HasSubstr("TL1205"));
  EXPECT_THAT(ErrorsOf(head + ", from: 2 KiB}\n"), HasSubstr("TL1205"));
  EXPECT_THAT(ErrorsOf(head + ", size: 1 KiB, factor: 2}\n"), HasSubstr("TL1205"));
  EXPECT_THAT(ErrorsOf(head + ", sizes: []}\n"), HasSubstr("TL1108"));
  EXPECT_THAT(ErrorsOf(head + ", size: 5 PiB}\n"), HasSubstr("TL1108"));
}

TEST(Scenario, RefusesMoreRanksThanEndpoints) {
  EXPECT_THAT(ErrorsOf(kCollective, {{"workload.collective.ranks=5", "--ranks"}}),
              HasSubstr("5 ranks on 4 endpoints"));
  EXPECT_THAT(ErrorsOf(kCollective, {{"workload.collective.root=4", "--root"},
                                     {"workload.collective.primitive=reduce", "OP"}}),
              HasSubstr("from 0 to 3"));
}

TEST(Scenario, RefusesKeysThatNothingWouldRead) {
  EXPECT_THAT(ErrorsOf(kCollective, {{"cluster.transport={kind: ideal, mtu: 1 KiB}", "--set 1"}}),
              HasSubstr("TL1207"));
  EXPECT_THAT(ErrorsOf(kCollective, {{"workload.collective.primitive=barrier", "OP"}}),
              HasSubstr("a barrier moves no data [TL1205]"));
  EXPECT_THAT(ErrorsOf(kCollective, {{"cluster.fabric.switch={buffer: 1 MiB}", "--set 1"}}),
              HasSubstr("'buffer' is of Ethernet switches, and InfiniBand has credits [TL1207]"));
}

TEST(Scenario, RefusesTheRootOfAPrimitiveWithoutOne) {
  const Assignment root{"workload.collective.root=1", "--root"};
  EXPECT_THAT(ErrorsOf(kCollective, {root}), HasSubstr("all_reduce has no root [TL1207]"));
  const Scenario scenario =
      ReadText(kCollective, {root, {"workload.collective.primitive=broadcast", "OP"}});
  EXPECT_EQ(std::get<CollectiveJob>(scenario.workload).root, 1U);
}

TEST(Scenario, WarnsOfPlanKeysThatTheExtentsMakeMoot) {
  const auto warnings = [](const std::string& parallel, const std::string& overlap) {
    const std::vector<Assignment> assignments = {
        {"workload.training.parallel=" + parallel, "parallel"},
        {"workload.training.overlap=" + overlap, "overlap"}};
    const auto scenario =
        ReadScenario(TRUNKLINE_SOURCE_DIR "/examples/llama3.1-70b-512xh100.yaml", assignments);
    EXPECT_TRUE(scenario) << Format(scenario.error().front());
    std::string out;
    for (const Diagnostic& warning : scenario->warnings) out += Format(warning);
    return out;
  };
  const std::string moot = warnings("{tp: 1, pp: 1, dp: 512, sequence_parallel: true}",
                                    "{p2p: false, tp: false, param_gather: true}");
  EXPECT_THAT(moot, HasSubstr("'sequence_parallel' changes nothing: tp is 1 [TL1341]"));
  EXPECT_THAT(moot, HasSubstr("'p2p' changes nothing: pp is 1 [TL1341]"));
  EXPECT_THAT(moot, HasSubstr("'tp' changes nothing: tp is 1 [TL1341]"));
  EXPECT_THAT(moot, HasSubstr("'param_gather' changes nothing: zero is 0 [TL1341]"));
  EXPECT_THAT(warnings(
                  "{tp: 8, pp: 64, dp: 1, layout: [" +
                      [] {
                        std::string layout = "2";
                        for (int stage = 1; stage < 64; ++stage)
                          layout += stage < 16 ? ", 2" : ", 1";
                        return layout;
                      }() +
                      "], zero: 1}",
                  "{grad_reduce: false}"),
              testing::AllOf(HasSubstr("'zero' changes nothing: dp is 1"),
                             HasSubstr("'grad_reduce' changes nothing: dp is 1")));
  EXPECT_EQ(warnings("{tp: 8, pp: 4, dp: 16, zero: 1, sequence_parallel: true}",
                     "{p2p: false, tp: true, param_gather: false, grad_reduce: false}"),
            "");
}

TEST(Scenario, BlamesNoKeyForAPrimitiveThatItDoesNotKnow) {
  const std::string problems =
      ErrorsOf(kCollective, {{"workload.collective.primitive=brodcast", "OP"},
                             {"workload.collective.root=1", "--root"},
                             {"workload.collective.algorithm=tree", "--algorithm"}});
  EXPECT_THAT(problems, HasSubstr("did you mean 'broadcast'?"));
  EXPECT_THAT(problems, testing::Not(HasSubstr("all_reduce")));
}

TEST(Scenario, RefusesNodesBesideTheFabricAndInIt) {
  EXPECT_THAT(ErrorsOf(kCollective, {{"cluster.fabric=single-switch:nodes=8", "--fabric"}}),
              HasSubstr("'nodes' is given beside the fabric and in it [TL1105]"));
}

TEST(Scenario, TellsWhatIsAssumedOfAServerWhoseFileHasNoRates) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "matrix.txt";
  std::ofstream(file) << "\tGPU0\tNIC0\nGPU0\t X \tPIX\nNIC0\tPIX\t X \n";
  const Scenario scenario = ReadText("cluster: {node: " + file.string() +
                                     ", nodes: 2}\nworkload:\n"
                                     "  collective: {primitive: all_reduce, size: 1 MiB}\n");
  ASSERT_EQ(scenario.assumptions.size(), 4U);
  EXPECT_THAT(scenario.assumptions[2], HasSubstr("node: matrix, as nvidia-smi"));
  EXPECT_THAT(scenario.assumptions[2], HasSubstr("assumed are 400 Gb/s NICs"));
}

TEST(Scenario, SeeksANodeFileBesideTheScenario) {
  const std::string folder = testing::TempDir() + "/beside";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(TRUNKLINE_SOURCE_DIR "/data/nodes/dgx-h100.yaml",
                             folder + "/server.yaml",
                             std::filesystem::copy_options::overwrite_existing);
  std::ofstream(folder + "/s.yaml") << "cluster: {node: server.yaml, nodes: 2}\n"
                                       "workload: {collective: {primitive: barrier}}\n";
  const auto scenario = ReadScenario(folder + "/s.yaml");
  ASSERT_TRUE(scenario) << Format(scenario.error().front());
  EXPECT_EQ(scenario->cluster.fabric->fabric.endpoints().size(), 16U);
}

TEST(Scenario, RefusesAnAlgorithmThatCannotDoThePrimitive) {
  EXPECT_THAT(ErrorsOf(kCollective, {{"workload.collective.algorithm=pairwise", "--algorithm"}}),
              HasSubstr("pairwise does not do all_reduce"));
}

TEST(Scenario, ReadsATrainingPlanAndItsModelBesideTheFile) {
  const auto scenario = ReadScenario(TRUNKLINE_SOURCE_DIR "/examples/llama3.1-70b-512xh100.yaml");
  ASSERT_TRUE(scenario) << Format(scenario.error().front());
  const auto& job = std::get<TrainingJob>(scenario->workload);
  EXPECT_EQ(job.model.layers, 80);
  EXPECT_EQ(job.plan.tp, 8);
  EXPECT_EQ(job.plan.zero, 1);
  EXPECT_EQ(job.plan.ranks(), 512);
  // 512 sequences over 16 replicas, one at a time.
  EXPECT_EQ(job.plan.micro_batches(), 32);
}

TEST(Scenario, PointsAtThePlanThatDoesNotFitTheCluster) {
  const auto scenario =
      ReadScenario(TRUNKLINE_SOURCE_DIR "/examples/llama3.1-70b-512xh100.yaml",
                   std::vector<Assignment>{{"workload.training.parallel.dp=8", "--set 1"}});
  ASSERT_FALSE(scenario);
  EXPECT_EQ(scenario.error().front().code, "TL1321");
  EXPECT_EQ(scenario.error().front().where.file, "--set 1");
}

// 7 divides neither 512 GPUs, 64 heads, an MLP of 28,672 nor 8,192 tokens; the file is sound.
TEST(Scenario, BlamesWhatTheCommandLineChangesRatherThanTheFile) {
  const auto scenario =
      ReadScenario(TRUNKLINE_SOURCE_DIR "/examples/llama3.1-70b-512xh100.yaml",
                   std::vector<Assignment>{{"seed=2", "--set 1"},
                                           {"workload.training.parallel.tp=7", "--set 2"},
                                           {"workload.training.parallel.pp=3", "--set 3"}});
  ASSERT_FALSE(scenario);
  std::map<std::string, std::string> places;
  for (const Diagnostic& problem : scenario.error()) places[problem.code] = problem.where.file;
  EXPECT_EQ(places, (std::map<std::string, std::string>{{"TL1321", "--set 2"},
                                                        {"TL1322", "--set 2"},
                                                        {"TL1324", "--set 3"},
                                                        {"TL1328", "--set 2"}}));
}

std::vector<std::string> PlacesInTheDemo(const std::string& assignment) {
  const auto scenario = ReadScenario(TRUNKLINE_SOURCE_DIR "/examples/llama3.1-70b-512xh100.yaml",
                                     std::vector<Assignment>{{assignment, "--set 1"}});
  auto problems = scenario ? Diagnostics{} : scenario.error();
  if (scenario) {
    const auto result = RunScenario(*scenario);
    if (!result) problems = result.error();
  }
  std::vector<std::string> places;
  for (const Diagnostic& problem : problems) {
    places.push_back(problem.code + " " + problem.where.file.substr(0, 7));
  }
  return places;
}

TEST(Scenario, BlamesTheClustersKeyThatNoFabricCanBeBuiltOf) {
  EXPECT_THAT(PlacesInTheDemo("cluster.node=dgx-h1000"), ElementsAre("TL1400 --set 1"));
  EXPECT_THAT(PlacesInTheDemo("cluster.nodes=1000000"), ElementsAre("TL1404 --set 1"));
  EXPECT_THAT(ErrorsOf("cluster:\n  fabric: {kind: clos}\n  node: dgx-h1000\n  nodes: 4\n"
                       "workload: {collective: {primitive: barrier}}\n"),
              HasSubstr("s.yaml:3:9: error: unknown node template 'dgx-h1000' [TL1400]"));
  EXPECT_THAT(ErrorsOf("cluster:\n  fabric: {kind: clos}\n  nodes: 900000\n"
                       "workload: {collective: {primitive: barrier}}\n"),
              HasSubstr("s.yaml:3:10: error: the fabric is too large"));
}

TEST(Scenario, BlamesTheClusterThatThePlanDoesNotFit) {
  EXPECT_THAT(PlacesInTheDemo("cluster.nodes=3"), ElementsAre("TL1321 --set 1"));
  EXPECT_THAT(PlacesInTheDemo("cluster.node=gb200-nvl36"), ElementsAre("TL1321 --set 1"));
  EXPECT_THAT(PlacesInTheDemo("cluster={fabric: {kind: clos}, node: host, nodes: 512}"),
              ElementsAre("TL1208 --set 1"));
}

TEST(Scenario, BlamesThePrecisionThatNoKernelHas) {
  EXPECT_THAT(PlacesInTheDemo("workload.training.precision=fp32"), ElementsAre("TL1311 --set 1"));
}

TEST(Scenario, SaysNothingOfKeysThatDependOnWhichWorkloadIsKept) {
  EXPECT_THAT(
      ErrorsOf(kCollective, {{"jobs=[]", "--set 1"}}),
      testing::AllOf(HasSubstr("TL1203"), HasSubstr("TL1220"), testing::Not(HasSubstr("TL1104"))));
  EXPECT_THAT(PlacesInTheDemo("workload.collective.primitive=all_reduce"),
              ElementsAre(HasSubstr("TL1203")));
  EXPECT_THAT(PlacesInTheDemo("jobs=[]"),
              testing::UnorderedElementsAre(HasSubstr("TL1203"), "TL1220 --set 1"));
}

TEST(Scenario, GivesAKindThatNeedsNodesThoseThatTheRanksOfACollectiveTake) {
  const auto nodes = [](const std::string& cluster, int ranks) {
    const Scenario scenario =
        ReadText("cluster: " + cluster + "\nworkload: {collective: {primitive: all_reduce, " +
                 "size: 1 MiB, ranks: " + std::to_string(ranks) + "}}\n");
    EXPECT_THAT(scenario.assumptions, testing::Contains(HasSubstr("nodes: none are given")));
    return scenario.cluster.fabric->fabric.node_count();
  };
  EXPECT_EQ(nodes("{fabric: {kind: clos, radix: 64}}", 1024), 1024U);
  EXPECT_EQ(nodes("{node: dgx-h100, fabric: {kind: clos, radix: 64}}", 60), 8U);
  EXPECT_THAT(ErrorsOf("cluster: {fabric: {kind: clos, radix: 64}}\n"
                       "workload: {collective: {primitive: all_reduce, size: 1 MiB}}\n"),
              HasSubstr("needs a number of nodes"));
}

TEST(Scenario, PointsAtAnAlgorithmThatDoesNotExist) {
  const auto scenario =
      ReadScenario(TRUNKLINE_SOURCE_DIR "/examples/llama3.1-70b-512xh100.yaml",
                   std::vector<Assignment>{{"workload.training.algorithms.tp=rng", "--set 1"}});
  ASSERT_FALSE(scenario);
  EXPECT_EQ(scenario.error().front().where.file, "--set 1");
  EXPECT_THAT(scenario.error().front().hint, HasSubstr("'ring'"));
}

TEST(Scenario, StagesTcpInHostMemory) {
  EXPECT_EQ(ReadText(kCollective).cluster.gpudirect, GpuDirect::kOn);
  const Assignment tcp{"cluster.transport.kind=tcp", "--set 1"};
  EXPECT_EQ(ReadText(kCollective, {tcp}).cluster.gpudirect, GpuDirect::kOff);
  EXPECT_THAT(ErrorsOf(kCollective, {tcp, {"cluster.gpudirect=true", "--set 2"}}),
              testing::AllOf(HasSubstr("--set 2:1:"), HasSubstr("TL1209")));
}

TEST(Scenario, WarnsOfWhatTheAnalyticEngineCannotSee) {
  for (const char* key :
       {"cluster={node: dgx-h100, nodes: 4, fabric: rail-optimized, gpudirect: false}",
        "cluster.transport.kind=tcp", "cluster.fabric.routing=ecmp",
        "faults=[{target: host-2, kind: degrade, value: 50%}]"}) {
    const Assignment blind{key, "--set 2"};
    EXPECT_THAT(ReadText(kCollective, {blind}).warnings, testing::IsEmpty()) << key;
    const Diagnostics warnings =
        ReadText(kCollective, {{"engine=analytic", "--set 1"}, blind}).warnings;
    ASSERT_EQ(warnings.size(), 1U) << key;
    EXPECT_EQ(warnings.front().code, "TL1622");
  }
}

}  // namespace
}  // namespace trunkline
