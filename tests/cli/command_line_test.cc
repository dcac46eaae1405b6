#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/test_sanitizers.h"
#include "process.h"

namespace trunkline {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
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
                                             {"fabric", "--help"},
                                             {"catalog", "--help"},
                                             {"explain", "--help"},
                                             {"fabric", "path", "--help"},
                                             {"fabric", "check", "--help"},
                                             {"fabric", "advise", "--help"}}) {
    const Outcome outcome = RunTrunkline(arguments);
    EXPECT_EQ(outcome.status, 0) << arguments.front();
    EXPECT_THAT(outcome.out, HasSubstr("Usage: trunkline ")) << arguments.front();
    EXPECT_THAT(outcome.out, ContainsRegex("Examples:\n  .*trunkline ")) << arguments.front();
    EXPECT_THAT(outcome.err, IsEmpty());
  }
}

TEST(CommandLine, WhatFollowsASetIsNoMoreOfIt) {
  EXPECT_EQ(RunTrunkline({"run", "--set", "seed=2", "examples/two-jobs.yaml", "--json"}).status, 0);
}

// Some editors put a byte order mark first.
TEST(CommandLine, ReadsFilesThatBeginWithAByteOrderMark) {
  const std::string path = ::testing::TempDir() + "marked.csv";
  std::ofstream(path) << "\xEF\xBB\xBF" << RunTrunkline({"fabric", "export", "clos:nodes=4"}).out;
  EXPECT_EQ(RunTrunkline({"fabric", "show", path}).status, 0);
  EXPECT_EQ(RunTrunkline({"fabric", "show", "--set", "routing=ecmp", path}).status, 0);
}

TEST(CommandLine, HelpOfAVerbHasItsFlagsAlone) {
  const std::string check = RunTrunkline({"fabric", "check", "--help"}).out;
  EXPECT_THAT(check, HasSubstr("--expect"));
  EXPECT_THAT(check, Not(HasSubstr("--budget")));
  EXPECT_THAT(RunTrunkline({"fabric", "advise", "--help"}).out, HasSubstr("--budget"));
  EXPECT_THAT(RunTrunkline({"fabric", "--help"}).out, Not(HasSubstr("--budget")));
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

TEST(CommandLine, KnowsNoSubcommandThatItHasNot) {
  const Outcome outcome = RunTrunkline({"sweep"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("unknown subcommand 'sweep' [TL1001]"));
}

TEST(CommandLine, ExplainsATermByItsFirstWordAndInAnyCase) {
  EXPECT_THAT(RunTrunkline({"explain", "ECN"}).out, StartsWith("ecn: "));
  EXPECT_THAT(RunTrunkline({"explain", "PFC"}).out, StartsWith("pfc: "));
  EXPECT_THAT(RunTrunkline({"explain", "rail-only"}).out, StartsWith("rail-only: "));
  EXPECT_THAT(RunTrunkline({"explain", "bisection"}).out, StartsWith("bisection bandwidth: "));
  EXPECT_THAT(RunTrunkline({"explain", "BUSBWW"}).err, HasSubstr("did you mean 'busbw'?"));
}

TEST(CommandLine, ExplainsCodesTermsAndAlgorithms) {
  EXPECT_THAT(RunTrunkline({"explain", "TL1103"}).out, HasSubstr("400 Gb/s"));
  EXPECT_THAT(RunTrunkline({"explain", "busbw"}).out, HasSubstr("2(n-1)/n"));
  EXPECT_THAT(RunTrunkline({"explain", "Ring"}).out, HasSubstr("2(p-1)"));
  const Outcome unknown = RunTrunkline({"explain", "busbandwith"});
  EXPECT_EQ(unknown.status, 2);
}

// Words that results, documents and catalogues use without a word more.
TEST(CommandLine, ExplainsTheWordsThatItUses) {
  for (const char* word : {"rail-optimized", "hops", "fsdp", "placement", "flow", "upper bound",
                           "5M/n", "dragonfly", "spray", "torus"}) {
    const Outcome outcome = RunTrunkline({"explain", word});
    EXPECT_EQ(outcome.status, 0) << word;
    EXPECT_THAT(outcome.out, StartsWith(std::string(word) + ": "));
  }
}

TEST(CommandLine, ListsEveryWordThatItExplainsOnce) {
  std::istringstream lines(RunTrunkline({"explain"}).out);
  std::multiset<std::string> words;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ")) words.insert(line);
  }
  EXPECT_GT(words.size(), 40U);
  for (const std::string& word : words) EXPECT_EQ(words.count(word), 1U) << word;
}

TEST(CommandLine, ListsTheCatalogue) {
  const Outcome all = RunTrunkline({"catalog"});
  EXPECT_EQ(all.status, 0);
  for (const char* name :
       {"dgx-h100", "rail-optimized", "ring", "rocev2", "adaptive", "incast", "web-search"}) {
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

// A k-ary fat tree has k^3/4 hosts and 5k^2/4 switches (Al-Fares et al., SIGCOMM 2008).
TEST(Fabric, ShowsAKAryFatTree) {
  const Outcome outcome = RunTrunkline({"fabric", "fat-tree:k=16"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("1,024 of host"));
  // Full bisection: 512 pairs at 50 GB/s.
  EXPECT_THAT(outcome.out, HasSubstr("25.6 TB/s (exact)"));
  const Outcome json = RunTrunkline({"fabric", "show", "fat-tree:k=16", "--json"});
  EXPECT_THAT(json.out, StartsWith("{"));
  EXPECT_THAT(json.out, HasSubstr("\"bisection\""));
}

TEST(Fabric, PrintsEveryHopOfAPath) {
  const Outcome outcome = RunTrunkline(
      {"fabric", "path", "examples/llama3.1-70b-512xh100.yaml", "gpu:0/3", "gpu:17/5"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("gpu:17/5"));
  EXPECT_THAT(outcome.out, HasSubstr("leaf-"));
}

TEST(Fabric, ComparesSeveral) {
  const Outcome outcome = RunTrunkline({"fabric", "compare", "fat-tree:k=8", "fat-tree:k=4"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ContainsRegex("switches +80 +20\n"));  // 5 k^2 / 4
}

TEST(Fabric, RefusesWhatItCannotRead) {
  EXPECT_EQ(RunTrunkline({"fabric", "path", "fat-tree:k=4"}).status, 2);
  EXPECT_THAT(RunTrunkline({"fabric", "fat-tre:k=4"}).err, HasSubstr("did you mean 'fat-tree'?"));
  EXPECT_EQ(RunTrunkline({"fabric", "path", "fat-tree:k=4", "host-0", "host-99"}).status, 2);
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
  const Outcome outcome =
      RunTrunkline({"collective", "allreduce", "--ranks", "16384", "--algorithm", "ring", "-b",
                    "1G", "-e", "1G", "--no-fold", "--no-memo", "--out", folder},
                   folder);
  EXPECT_EQ(outcome.status, 130) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("interrupted"));
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(Run, WritesAllItsFilesOrNone) {
  const std::string folder = FreshPath("out");
  std::filesystem::create_directories(folder + "/report.html");
  const Outcome outcome =
      RunTrunkline({"run", "examples/allreduce-64xh100.yaml", "--out", folder, "-q"});
  if (outcome.err.find("needs a build with npm") != std::string::npos) GTEST_SKIP() << outcome.err;
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("TL1903"));
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_EQ(entry.path().filename(), "report.html");
  }
}

TEST(Collective, SaysWhoWaitsForWhomWhereItDoesNotFinish) {
  const Outcome outcome =
      RunTrunkline({"collective", "allgather", "--node", "dgx-h100", "--nodes", "2", "--algorithm",
                    "hierarchical", "--handshake", "rendezvous", "-b", "1M", "-e", "1M", "-q"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr("who waits for whom"));
  EXPECT_THAT(outcome.out, HasSubstr("its message to rank "));
}

TEST(Collective, RoutesAFabricThatIsSetAsAWhole) {
  const auto run = [](const std::string& fabric) {
    return RunTrunkline({"collective", "allreduce", "--ranks", "16", "-b", "1M", "-e", "1M", "-q",
                         "--set", "cluster.fabric=" + fabric, "--routing", "ecmp", "--set",
                         "name=x"})
        .out;
  };
  EXPECT_THAT(run("{kind: clos, radix: 16}"), HasSubstr("ecmp routing"));
}

TEST(Run, ReadsAScenarioFromAPipe) {
  const std::string pipe = FreshPath("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&pipe] {
    std::ofstream(pipe) << "cluster: {nodes: 2}\nworkload:\n"
                           "  collective: {primitive: all_reduce, size: 1 MiB}\n";
  });
  const Outcome outcome = RunTrunkline({"run", pipe});
  writer.join();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("1048576"));
}

TEST(Run, EndsWith130OnCtrlCWhileItWaitsForAPipe) {
  const std::string pipe = FreshPath("pipe");
  const std::string ready = FreshPath("ready");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::atomic<bool> over = false;
  // Opening a pipe to write succeeds once the program has opened it to read.
  std::thread opener([&] {
    const int writer = open(pipe.c_str(), O_WRONLY);
    std::ofstream(ready) << "open";
    while (!over.load()) std::this_thread::yield();
    close(writer);
  });
  const Outcome outcome = RunTrunkline({"run", pipe}, ready);
  over = true;
  opener.join();
  EXPECT_EQ(outcome.status, 130) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("interrupted"));
}

TEST(Run, SaysThatAFullDiskTookNoResult) {
  const Outcome outcome = RunTrunkline({"run", "examples/allreduce-64xh100.yaml"}, "", "/dev/full");
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("TL1904"));
}

TEST(Run, ReadsAScenarioFromStandardInput) {
  const Outcome outcome = RunTrunkline({"run", "-"});  // which has nothing in it
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("/dev/stdin: error: is empty [TL1102]"));
}

TEST(Run, SaysThatMemoryRanOutAndWhatTakesLess) {
  if (kSanitized) GTEST_SKIP() << "sanitizers need addresses of their own";
  const std::string err = FreshPath("err");
  const int status =
      std::system(("cd " TRUNKLINE_SOURCE_DIR " && ulimit -v 60000 && " TRUNKLINE_BINARY
                   " run examples/llama3.1-70b-512xh100.yaml --no-fold > /dev/null 2> " +
                   err)
                      .c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  std::ostringstream text;
  text << std::ifstream(err).rdbuf();
  EXPECT_THAT(text.str(), AllOf(HasSubstr("error: memory ran out"), HasSubstr("58.59 MiB"),
                                HasSubstr("no --no-fold"), HasSubstr("TL1007")));
}

// What comes before the engine asks nobody whether to stop.
TEST(Run, EndsSoonAfterCtrlCWhateverItIsDoing) {
  const std::string folder = FreshPath("out") + "/of/a/run";
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = RunTrunkline(
      {"collective", "alltoall", "--ranks", "16384", "-b", "1G", "--out", folder}, folder);
  EXPECT_EQ(outcome.status, 130) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("interrupted"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(folder).parent_path().parent_path()));
}

// A second signal, as a second without an answer, leaves no time to tidy up.
TEST(Run, LeavesNoFolderWhenASecondSignalEndsIt) {
  const std::string folder = FreshPath("out");
  const std::string script = "cd " TRUNKLINE_SOURCE_DIR " && " TRUNKLINE_BINARY
                             " collective alltoall --ranks 16384 -b 1G -q --out " +
                             folder +
                             "/of/a/run > /dev/null 2> /dev/null & p=$!\n"
                             "while [ ! -d " +
                             folder +
                             "/of/a/run ] && kill -0 $p; do :; done\n"
                             "while kill -TERM $p 2> /dev/null; do :; done\n"
                             "wait $p";
  EXPECT_EQ(WEXITSTATUS(std::system(script.c_str())), 130);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

// timeout(1) signals the process and then its group: the process hears it twice.
TEST(Run, PrintsItsResultWhenASignalComesTwiceAtOnce) {
  const std::string folder = FreshPath("out");
  const std::string result = FreshPath("result");
  const std::string script = "cd " TRUNKLINE_SOURCE_DIR " && " TRUNKLINE_BINARY
                             " run examples/permutation-roce.yaml -q --json --set "
                             "'workload.traffic.size=100 GB' --out " +
                             folder + " > " + result +
                             " 2> /dev/null & p=$!\n"
                             "while [ ! -d " +
                             folder +
                             " ] && kill -0 $p; do :; done\n"
                             "kill -TERM $p; kill -TERM $p\n"
                             "wait $p";
  EXPECT_EQ(WEXITSTATUS(std::system(script.c_str())), 130);
  std::ifstream file(result);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(text, HasSubstr("\"status\": \"interrupted\""));
}

}  // namespace
}  // namespace trunkline
