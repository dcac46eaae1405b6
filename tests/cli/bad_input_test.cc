#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "process.h"

// Each bad input ends in a message of at most one screen with the place and the remedy, exit status
// 2, and nothing on stdout.
namespace trunkline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Matcher;

testing::AssertionResult Refused(const Outcome& outcome,
                                 const Matcher<const std::string&>& message) {
  if (outcome.status != 2) {
    return testing::AssertionFailure() << "status " << outcome.status << ": " << outcome.err;
  }
  if (!outcome.out.empty()) return testing::AssertionFailure() << "on stdout: " << outcome.out;
  if (std::ranges::count(outcome.err, '\n') > 24) {
    return testing::AssertionFailure() << "more than a screen: " << outcome.err;
  }
  testing::StringMatchResultListener why;
  if (!testing::ExplainMatchResult(message, outcome.err, &why)) {
    return testing::AssertionFailure() << outcome.err << why.str();
  }
  return testing::AssertionSuccess();
}

// The demonstration scenario with one key changed.
Outcome RunWith(const std::string& assignment) {
  return RunTrunkline(
      {"run", "examples/llama3.1-70b-512xh100.yaml", "--engine", "analytic", "--set", assignment});
}

TEST(BadInput, UnknownKey) {
  EXPECT_TRUE(Refused(RunWith("cluster.noddes=4"),
                      AllOf(HasSubstr("--set 1:1:9: error: unknown key 'noddes' [TL1104]"),
                            HasSubstr("did you mean 'nodes'?"))));
}

TEST(BadInput, UnknownKeyInAFileNamesLineAndColumn) {
  const std::string path = WriteFresh(
      "s.yaml", "cluster: {nodes: 4}\nworkload:\n  colective: {primitive: all_reduce}\n");
  EXPECT_TRUE(Refused(RunTrunkline({"run", path}),
                      AllOf(HasSubstr("s.yaml:3:3: error: unknown key 'colective'"),
                            HasSubstr("did you mean 'collective'?"))));
}

TEST(BadInput, EmptyValuesOfFlagsAndEmptyWords) {
  for (const char* flag : {"--out", "--engine", "--set", "--node", "--fabric", "-b", "--ranks"}) {
    const auto message = AllOf(HasSubstr(std::string(flag) + " is given an empty value [TL1002]"),
                               HasSubstr("leave it out"));
    EXPECT_TRUE(Refused(RunTrunkline({"collective", "allreduce", flag, ""}), message));
    if (std::string(flag).starts_with("--")) {
      const std::string joined = std::string(flag) + "=";
      EXPECT_TRUE(Refused(RunTrunkline({"collective", "allreduce", joined}), message));
    }
  }
  EXPECT_TRUE(Refused(RunTrunkline({"run", ""}), HasSubstr("is empty [TL1002]")));
  EXPECT_TRUE(Refused(RunTrunkline({"fabric", "cost", "fat-tree:k=4", "--prices", ""}),
                      HasSubstr("--prices is given an empty value")));
}

TEST(BadInput, FlagsShowWhatTheUserWrote) {
  EXPECT_TRUE(Refused(RunTrunkline({"collective", "allreduce", "-b", "1M", "--ranks", "5x"}),
                      HasSubstr("--ranks:1:1: error: '5x' is not a whole number [TL1107]\n"
                                "    5x\n    ^\n")));
  EXPECT_TRUE(Refused(RunTrunkline({"collective", "allreduce", "-b", "1M", "--ranks", "8",
                                    "--fabric", "clos:rdix=3"}),
                      HasSubstr("--fabric:1:6: error: unknown key 'rdix'")));
  EXPECT_TRUE(Refused(RunTrunkline({"collective", "allreduce", "--ranks", "8", "-b", "1Gb"}),
                      HasSubstr("--minbytes:1:1: error: '1Gb' is not a size")));
  const Outcome outcome = RunTrunkline({"collective", "allreduuce", "--ranks", "8"});
  EXPECT_TRUE(Refused(outcome, HasSubstr("did you mean 'all_reduce'?")));
  EXPECT_EQ(outcome.err.find("sizes"), std::string::npos) << outcome.err;
}

TEST(BadInput, FabricsThatCannotBeBuiltHaveAPlaceInTheirSpec) {
  EXPECT_TRUE(Refused(RunTrunkline({"fabric", "fat-tree:k=4096"}),
                      AllOf(HasSubstr("fat-tree:k=4096:1:10: error"), HasSubstr("TL1404"))));
  EXPECT_TRUE(Refused(RunTrunkline({"fabric", "fat-tree"}),
                      AllOf(HasSubstr("fat-tree:1:1: error"), HasSubstr("TL1405"))));
  EXPECT_TRUE(Refused(RunTrunkline({"fabric", "path", "fat-tree:k=4", "host-0"}),
                      AllOf(HasSubstr("TO is missing"), HasSubstr("two ends"))));
}

TEST(BadInput, RatesThatNeverComeToAnEndAreBlamed) {
  EXPECT_TRUE(Refused(RunWith("cluster.fabric.link=1 b/s"),
                      AllOf(HasSubstr("--set 1:1:21: error"), HasSubstr("TL1602"))));
  EXPECT_TRUE(Refused(RunTrunkline({"run", "examples/allreduce-degraded-link.yaml", "--set",
                                    "faults.0.value=1 b/s"}),
                      AllOf(HasSubstr("--set 1:1:16: error"), HasSubstr("TL1602"))));
}

TEST(BadInput, AnAlgorithmThatTheRanksDoNotFitIsPlaced) {
  EXPECT_TRUE(
      Refused(RunTrunkline({"collective", "allreduce", "--node", "dgx-h100", "--nodes", "4",
                            "--ranks", "20", "-b", "1M", "--algorithm", "hierarchical"}),
              AllOf(HasSubstr("--algorithm:1:1: error: hierarchical needs"), HasSubstr("TL1507"))));
}

TEST(BadInput, ALargePairwiseExchangeInClosedFormIsWarnedOf) {
  const auto run = [](const char* size, const char* nodes) {
    return RunTrunkline({"collective", "alltoall", "--node", "dgx-h100", "--nodes", nodes, "-b",
                         size, "--algorithm", "pairwise", "--engine", "analytic"})
        .err;
  };
  EXPECT_THAT(run("1G", "2"), HasSubstr("TL1622"));
  EXPECT_THAT(run("1M", "2"), HasSubstr("TL1622"));
  EXPECT_THAT(run("256K", "2"), testing::Not(HasSubstr("TL1622")));
  EXPECT_THAT(run("1G", "1"), testing::Not(HasSubstr("TL1622")));
}

TEST(BadInput, ATreeWhoseRanksAreNotPackedInClosedFormIsWarnedOf) {
  const auto run = [](const char* placement, const char* size) {
    return RunTrunkline({"collective", "allreduce", "--node", "dgx-h100", "--nodes", "5", "-b",
                         size, "--algorithm", "tree", "--engine", "analytic", "--placement",
                         placement})
        .err;
  };
  EXPECT_THAT(run("random", "16M"), HasSubstr("TL1622"));
  EXPECT_THAT(run("random", "256K"), testing::Not(HasSubstr("TL1622")));
  EXPECT_THAT(run("packed", "16M"), testing::Not(HasSubstr("TL1622")));
}

TEST(BadInput, BareNumberWhereAUnitMatters) {
  EXPECT_TRUE(Refused(RunWith("cluster.fabric.link=400"),
                      AllOf(HasSubstr("no unit"), HasSubstr("400 Gb/s"), HasSubstr("TL1103"))));
}

TEST(BadInput, BitsForBytes) {
  EXPECT_TRUE(Refused(RunTrunkline({"run", "examples/allreduce-64xh100.yaml", "--set",
                                    "workload.collective={primitive: all_reduce, size: 8 Gb}"}),
                      HasSubstr("Gb is bits")));
}

TEST(BadInput, TensorParallelismThatDoesNotDivideTheHeads) {
  EXPECT_TRUE(Refused(RunWith("workload.training.parallel={tp: 3, pp: 4, dp: 16}"),
                      AllOf(HasSubstr("TL1322"), HasSubstr("--set 1:1:"))));
}

TEST(BadInput, PipelineStagesThatDoNotDivideTheLayers) {
  EXPECT_TRUE(Refused(RunWith("workload.training.parallel={tp: 8, pp: 32, dp: 2}"),
                      AllOf(HasSubstr("TL1324"), HasSubstr("layout"))));
  // 3 stages fill no 512 GPUs, whatever the layout.
  EXPECT_TRUE(Refused(RunWith("workload.training.parallel={tp: 8, pp: 3, dp: 16}"),
                      AllOf(HasSubstr("TL1324"), HasSubstr("hint: use pp 2 or 4\n"))));
}

TEST(BadInput, ProductThatIsNotTheNumberOfGpusListsFactorsThatWork) {
  EXPECT_TRUE(Refused(RunWith("workload.training.parallel.dp=8"),
                      AllOf(HasSubstr("TL1321"), HasSubstr("512"))));
}

TEST(BadInput, BatchThatDoesNotDivide) {
  EXPECT_TRUE(Refused(RunWith("workload.training.global_batch=500"),
                      AllOf(HasSubstr("TL1326"), HasSubstr("500"))));
}

TEST(BadInput, RadixTooSmall) {
  EXPECT_TRUE(Refused(RunWith("cluster.fabric.radix=2"), HasSubstr("cluster.fabric.radix=2")));
}

TEST(BadInput, ZeroNegativeAndHugeNumbers) {
  for (const char* bad : {"0", "-1", "1e30", "99999999999999999999"}) {
    for (const char* key : {"cluster.nodes", "workload.training.micro_batch",
                            "workload.training.sequence", "workload.training.parallel.tp"}) {
      const std::string assignment = std::string(key) + "=" + bad;
      EXPECT_TRUE(Refused(RunWith(assignment), HasSubstr("--set 1:1:")));
    }
  }
  EXPECT_TRUE(Refused(RunWith("cluster.fabric.link=0 Gb/s"), HasSubstr("rate of zero")));
  EXPECT_TRUE(Refused(RunWith("cluster.fabric.link=1e30 Gb/s"), HasSubstr("too large")));
  EXPECT_TRUE(Refused(RunWith("cluster.nodes=1000000"), HasSubstr("TL14")));
}

TEST(BadInput, TruncatedModel) {
  const std::string model = WriteFresh("config.json", "{\"model_type\": \"llama\", \"hidden_");
  EXPECT_TRUE(Refused(RunWith("workload.training.model=" + model),
                      AllOf(HasSubstr("config.json:1:"), HasSubstr("TL1102"))));
}

TEST(BadInput, DeeplyNestedModel) {
  const std::string model = WriteFresh("config.json", "{\"a\": " + std::string(1'000'000, '['));
  EXPECT_TRUE(Refused(RunWith("workload.training.model=" + model),
                      AllOf(HasSubstr("config.json:1:"), HasSubstr("TL1111"))));
}

TEST(BadInput, MissingScenarioAndModel) {
  EXPECT_TRUE(
      Refused(RunTrunkline({"run", "nowhere.yaml"}),
              AllOf(HasSubstr("nowhere.yaml: error: cannot be read"), HasSubstr("TL1101"))));
  EXPECT_TRUE(Refused(RunWith("workload.training.model=nowhere.json"), HasSubstr("nowhere.json")));
}

TEST(BadInput, UnwritableOutIsRefusedBeforeTheRun) {
  const std::string file = WriteFresh("file", "not a folder");
  EXPECT_TRUE(
      Refused(RunTrunkline({"run", "examples/allreduce-64xh100.yaml", "--out", file + "/inside"}),
              HasSubstr("TL1902")));
}

TEST(BadInput, KeysThatNothingReadsYet) {
  for (const char* assignment :
       {"workload.training.parallel.ep=2", "workload.training.parallel.etp=2",
        "workload.training.parallel.cp=2"}) {
    const Outcome outcome = RunWith(assignment);
    EXPECT_EQ(outcome.status, 2) << assignment << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("[TL1")) << assignment;
    EXPECT_THAT(outcome.err, HasSubstr("--set 1:1:")) << assignment;
  }
}

TEST(BadInput, AWindowThatIsNone) {
  for (const char* window : {"collectives", "{}", "{time: [1 s]}", "{layers: [0, 80]}",
                             "{collectives: [dp]}", "{time: [9 s, 8 s]}", "{time: [1 h, 2 h]}"}) {
    const Outcome outcome = RunWith(std::string("packet.window=") + window);
    EXPECT_EQ(outcome.status, 2) << window << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("--set 1:1:")) << window;
    EXPECT_THAT(outcome.err, HasSubstr("hint:")) << window;
  }
}

TEST(BadInput, FaultsThatComeAndGoInAnEngineWithoutThem) {
  const Outcome outcome = RunWith("faults=[{target: nic:0/0, kind: fail, at: 1 ms}]");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("this fault does not happen [TL1210]"));
  EXPECT_THAT(outcome.err, HasSubstr("--set 1:1:"));
}

TEST(BadInput, CollectiveFlags) {
  EXPECT_TRUE(Refused(RunTrunkline({"collective", "allreduce"}), HasSubstr("--ranks")));
  EXPECT_TRUE(Refused(RunTrunkline({"collective", "allredcue", "--ranks", "8", "-b", "8"}),
                      HasSubstr("did you mean 'all_reduce'?")));
  EXPECT_TRUE(Refused(RunTrunkline({"collective", "allreduce", "--ranks", "8", "-b", "8X"}),
                      HasSubstr("'8X' is not a size")));
  EXPECT_TRUE(Refused(RunTrunkline({"collective", "allreduce", "--ranks", "0", "-b", "8"}),
                      HasSubstr("--ranks:1:")));
  EXPECT_TRUE(Refused(
      RunTrunkline({"collective", "allreduce", "--node", "dgx-h10", "--nodes", "2", "-b", "8"}),
      HasSubstr("dgx-h100")));
  EXPECT_TRUE(Refused(
      RunTrunkline({"collective", "allreduce", "--ranks", "8", "-b", "8", "--algorithm", "rign"}),
      HasSubstr("did you mean 'ring'?")));
  EXPECT_TRUE(Refused(
      RunTrunkline({"collective", "allreduce", "--ranks", "8", "-b", "8", "--handshake", "firm"}),
      HasSubstr("neither eager nor rendezvous: firm")));
}

TEST(BadInput, RoutingIsAddedToAOneLineFabric) {
  const Outcome outcome =
      RunTrunkline({"collective", "allreduce", "--fabric", "rail-optimized:node=dgx-h100,nodes=2",
                    "--routing", "ecmp", "-b", "1M"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("2 x dgx-h100"), HasSubstr("ecmp routing")));
  EXPECT_TRUE(Refused(
      RunTrunkline({"collective", "allreduce", "--fabric", "single-switch:nodes=8,routing=spray",
                    "--routing", "ecmp", "-b", "1M"}),
      AllOf(HasSubstr("routing=ecmp"), HasSubstr("TL1105"))));
}

TEST(BadInput, ServersNamedTwiceInOneCluster) {
  EXPECT_TRUE(Refused(
      RunTrunkline({"collective", "allreduce", "--fabric", "rail-optimized:node=dgx-h100,nodes=8",
                    "--node", "dgx-a100", "--nodes", "4", "-b", "1M"}),
      AllOf(HasSubstr("'nodes' is given beside the fabric"),
            HasSubstr("'node' is given beside the fabric"), HasSubstr("TL1105"))));
}

TEST(BadInput, AKeyInsideAPlainValue) {
  EXPECT_TRUE(
      Refused(RunWith("cluster.nodes.x=3"), AllOf(HasSubstr("TL1113"), HasSubstr("no keys"))));
}

TEST(BadInput, ABadPlanIsNotJudgedByItsDefaults) {
  const Outcome outcome = RunWith("workload.training.parallel.tp=0");
  EXPECT_TRUE(Refused(outcome, HasSubstr("from 1 to 1000000")));
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("TL1321")));
  EXPECT_TRUE(Refused(RunWith("workload.training.global_batch=16000000"),
                      HasSubstr("--set 1:1:32: error: 16000000 is out of range")));
  EXPECT_TRUE(Refused(RunWith("workload.training.parallel={tp: 8, pp: 81, dp: 1}"),
                      HasSubstr("hint: use pp 16\n")));
  EXPECT_TRUE(Refused(RunWith("workload.training.parallel.layout=[]"), HasSubstr("an empty list")));
}

TEST(BadInput, AFaultThatCutsTheFabricIsNamed) {
  EXPECT_TRUE(
      Refused(RunWith("faults=[{target: nic:0/0, kind: fail}]"),
              AllOf(HasSubstr("--set 1:1:18: error: no path from gpu:"), HasSubstr("gpu:0/0"),
                    HasSubstr("the faults cut the fabric"), HasSubstr("TL1410"))));
}

TEST(BadInput, SuggestsNoKeyThatWouldBeRefused) {
  const Outcome outcome = RunWith("cluster.fabric.latency=1 us");
  EXPECT_TRUE(Refused(
      outcome, AllOf(HasSubstr("TL1104"), HasSubstr("known here: "), HasSubstr("cable_latency"))));
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("format")));
}

TEST(BadInput, ManyProblemsAreOneScreen) {
  EXPECT_TRUE(Refused(RunTrunkline({"run", "examples/models/llama-3.1-70b.json"}),
                      HasSubstr("more; mend these first")));
  const Outcome outcome = RunTrunkline({"explain", std::string(100'000, 'a')});
  EXPECT_TRUE(Refused(outcome, HasSubstr("...")));
  EXPECT_LT(outcome.err.size(), 1'000U);
}

TEST(BadInput, WordsOfTheCommandLine) {
  EXPECT_TRUE(Refused(RunTrunkline({"--nope"}), HasSubstr("unknown flag '--nope'")));
  EXPECT_TRUE(
      Refused(RunTrunkline({"run", "-x"}), HasSubstr("unknown flag '-x' of `trunkline run`")));
  EXPECT_TRUE(
      Refused(RunTrunkline({"fabric", "sho", "fat-tree:k=4"}), HasSubstr("did you mean 'show'?")));
  EXPECT_TRUE(
      Refused(RunTrunkline({"collective", "allreduce", "--ranks", "4"}), HasSubstr("add -b")));
  EXPECT_TRUE(Refused(RunTrunkline({"collective", "barrier}", "--ranks", "4", "-b", "8"}),
                      HasSubstr("'barrier}' is no collective")));
  EXPECT_TRUE(Refused(RunTrunkline({"collective", "allreduce", "--ranks", "1000000", "-b", "8"}),
                      HasSubstr("1000000 NICs")));
}

TEST(BadInput, AValueForAFlagThatTakesNone) {
  for (const char* flag : {"--json=3", "--json=false", "--no-fold=1", "--quiet="}) {
    EXPECT_TRUE(Refused(RunTrunkline({"run", "examples/allreduce-64xh100.yaml", flag}),
                        AllOf(HasSubstr("takes no value"), HasSubstr("TL1002"))));
  }
}

TEST(BadInput, AFlagWithoutItsValue) {
  EXPECT_TRUE(Refused(RunTrunkline({"fabric", "cost", "clos:radix=8", "--grow"}),
                      AllOf(HasSubstr("--grow needs a value"), HasSubstr("TL1002"))));
  EXPECT_TRUE(Refused(RunTrunkline({"run", "--engine", "--json", "x.yaml"}),
                      HasSubstr("--engine needs a value")));
}

TEST(BadInput, AFolderInPlaceOfAScenario) {
  EXPECT_TRUE(Refused(RunTrunkline({"run", "examples"}),
                      HasSubstr("examples: error: cannot be read: it is a folder [TL1101]")));
}

TEST(BadInput, ControlCharactersOfAFileNeverReachTheTerminal) {
  const std::string path = WriteFresh("s.yaml", "\"\\e[2Jx\": 1\ncluster: {nodes: 4}\n");
  EXPECT_EQ(RunTrunkline({"run", path}).err.find('\033'), std::string::npos);
}

int Errors(const Outcome& outcome) {
  int errors = 0;
  for (std::size_t at = 0; (at = outcome.err.find(": error: ", at)) != std::string::npos; ++at) {
    ++errors;
  }
  return errors;
}

// Plain hosts are as many as ranks, and no more than a cluster may have.
TEST(BadInput, ANumberOfRanksIsRefusedOnce) {
  for (const char* ranks : {"0", "-1", "1e30", "1000001"}) {
    const Outcome outcome = RunTrunkline({"collective", "allreduce", "-b", "1M", "--ranks", ranks});
    EXPECT_TRUE(Refused(outcome, HasSubstr("--ranks:1:1: error: ")));
    EXPECT_EQ(Errors(outcome), 1) << outcome.err;
  }
  EXPECT_TRUE(Refused(RunTrunkline({"collective", "allreduce", "-b", "1M", "--ranks", "8", "--set",
                                    "cluster.nodes=4"}),
                      HasSubstr("8 ranks on 4 endpoints [TL1206]")));
}

TEST(BadInput, OfAnUnfinishedAssignmentNothingElseIsSaid) {
  const Outcome outcome =
      RunTrunkline({"collective", "allreduce", "-b", "1M", "--set", "cluster.fabric={kind: torus"});
  EXPECT_TRUE(Refused(outcome, HasSubstr("--set 1:1:16: error: cannot be read")));
  EXPECT_EQ(Errors(outcome), 1) << outcome.err;
}

}  // namespace
}  // namespace trunkline
