#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "process.h"

namespace trunkline {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST(CommandLine, EveryHelpEndsInExamples) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--help"},
                                             {"run", "--help"},
                                             {"collective", "--help"},
                                             {"catalog", "--help"},
                                             {"explain", "--help"}}) {
    const Outcome outcome = RunTrunkline(arguments);
    EXPECT_EQ(outcome.status, 0) << arguments.front();
    EXPECT_THAT(outcome.out, HasSubstr("Examples:\n  trunkline ")) << arguments.front();
    EXPECT_THAT(outcome.err, IsEmpty());
  }
}

TEST(CommandLine, PrintsItsVersion) {
  EXPECT_THAT(RunTrunkline({"--version"}).out, StartsWith("trunkline 0."));
}

TEST(CommandLine, SuggestsTheSubcommandAndTheFlagThatWereMeant) {
  const Outcome command = RunTrunkline({"colective", "allreduce"});
  EXPECT_EQ(command.status, 2);
  EXPECT_THAT(command.err, HasSubstr("unknown subcommand 'colective' [TL1001]"));
  EXPECT_THAT(command.err, HasSubstr("did you mean 'collective'?"));
  const Outcome flag = RunTrunkline({"run", "--enginee", "flow", "x.yaml"});
  EXPECT_EQ(flag.status, 2);
  EXPECT_THAT(flag.err, HasSubstr("did you mean '--engine'?"));
  EXPECT_THAT(flag.out, IsEmpty());
}

TEST(CommandLine, RefusesSubcommandsThatComeLater) {
  for (const char* later :
       {"plan", "sweep", "calibrate", "diagnose", "exec", "convert", "validate"}) {
    const Outcome outcome = RunTrunkline({later});
    EXPECT_EQ(outcome.status, 2) << later;
    EXPECT_THAT(outcome.err, HasSubstr("comes later [TL1003]")) << later;
  }
}

TEST(CommandLine, ExplainsCodesTermsAndAlgorithms) {
  EXPECT_THAT(RunTrunkline({"explain", "TL1103"}).out, HasSubstr("400 Gb/s"));
  EXPECT_THAT(RunTrunkline({"explain", "busbw"}).out, HasSubstr("2(n-1)/n"));
  EXPECT_THAT(RunTrunkline({"explain", "Ring"}).out, HasSubstr("2(p-1)"));
  const Outcome unknown = RunTrunkline({"explain", "busbandwith"});
  EXPECT_EQ(unknown.status, 2);
}

TEST(CommandLine, ListsTheCatalogue) {
  const Outcome all = RunTrunkline({"catalog"});
  EXPECT_EQ(all.status, 0);
  for (const char* name : {"dgx-h100", "rail-optimized", "ring", "rocev2", "adaptive"}) {
    EXPECT_THAT(all.out, HasSubstr(name));
  }
  const Outcome nodes = RunTrunkline({"catalog", "nodes"});
  EXPECT_THAT(nodes.out, Not(HasSubstr("rocev2")));
  EXPECT_THAT(RunTrunkline({"catalog", "node"}).err, HasSubstr("did you mean 'nodes'?"));
}

// 1024 plain hosts at 400 Gb/s: 2(p-1)/p n at 50 GB/s is what a ring cannot beat.
TEST(Collective, PrintsTheColumnsOfNcclTests) {
  const Outcome outcome =
      RunTrunkline({"collective", "allreduce", "--ranks", "8", "-b", "8", "-e", "8G", "-f", "2",
                    "--transport", "ideal", "--algorithm", "ring"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("out-of-place"));
  EXPECT_THAT(outcome.out, HasSubstr("algbw"));
  EXPECT_THAT(outcome.out, HasSubstr("8589934592"));
  // 2 x 7/8 x 8 GiB at 50 GB/s is 300.65 ms.
  EXPECT_THAT(outcome.out, HasSubstr(" 300648 ")) << outcome.out;
}

TEST(Collective, SaysWhichFabricItChose) {
  const Outcome outcome = RunTrunkline(
      {"collective", "allreduce", "--node", "dgx-h100", "--nodes", "2", "-b", "1M", "-e", "1M"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("non-blocking rail-optimized"));
}

TEST(Collective, TakesItsClusterFromAScenario) {
  const Outcome outcome = RunTrunkline({"collective", "allgather", "-b", "1M", "-e", "1M",
                                        "--scenario", "examples/allreduce-64xh100.yaml"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("all_gather"));
}

TEST(Run, PrintsOneJsonDocumentOnStdout) {
  const Outcome outcome =
      RunTrunkline({"run", "examples/allreduce-64xh100.yaml", "--json", "--engine", "analytic"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("{"));
  EXPECT_THAT(outcome.out, EndsWith("}\n"));
  for (const char* key : {"\"schema\"", "\"status\"", "\"time_s\"", "\"bound_s\"", "\"rows\""}) {
    EXPECT_THAT(outcome.out, HasSubstr(key));
  }
}

TEST(Run, GivesTheSameBytesTwice) {
  const std::vector<std::string> arguments = {"run", "examples/allreduce-degraded-link.yaml",
                                              "--set", "cluster.placement=random"};
  EXPECT_EQ(RunTrunkline(arguments).out, RunTrunkline(arguments).out);
}

TEST(Run, WritesWholeFilesAndNoOthers) {
  const std::string folder = FreshPath("out");
  const Outcome outcome =
      RunTrunkline({"run", "examples/allreduce-64xh100.yaml", "--out", folder, "-q"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(std::filesystem::exists(folder + "/result.json"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/trace.json"));
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_NE(entry.path().extension(), ".part") << entry.path();
  }
}

TEST(Run, EndsWith3WhenTheModelDoesNotFitInMemoryAndStillPrintsTheResult) {
  const Outcome outcome =
      RunTrunkline({"run", "examples/llama3.1-70b-512xh100.yaml", "--engine", "analytic", "--set",
                    "workload.training.parallel={tp: 1, pp: 1, dp: 512}"});
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_THAT(outcome.out, Not(IsEmpty()));
}

TEST(Run, EndsWith130OnCtrlCAndLeavesNoFile) {
  const std::string folder = FreshPath("out");
  const Outcome outcome = RunTrunkline({"collective", "alltoall", "--ranks", "4096", "-b", "1G",
                                        "-e", "1G", "--no-fold", "--no-memo", "--out", folder},
                                       500);
  EXPECT_EQ(outcome.status, 130) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("interrupted"));
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

}  // namespace
}  // namespace trunkline
