#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "process.h"

// Traffic, packet by packet, as a user runs it.
namespace trunkline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// A result without its last lines that the machine decides.
std::string WithoutClocks(const std::string& json) {
  std::string out;
  for (std::size_t begin = 0; begin < json.size();) {
    const std::size_t end = std::min(json.find('\n', begin), json.size());
    const std::string line = json.substr(begin, end - begin);
    const bool clock = line.find("\"wall_s\"") != std::string::npos ||
                       line.find("\"cpu_s\"") != std::string::npos ||
                       line.find("\"threads\"") != std::string::npos;
    if (!clock) out += line + '\n';
    begin = end + 1;
  }
  return out;
}

TEST(Traffic, SaysWhatToExpectAndWhatBecameOfIt) {
  const Outcome outcome = RunTrunkline({"run", "examples/permutation-roce.yaml"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("128 messages, about "), HasSubstr("packet-hops: ")));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("128 flows, all delivered"), HasSubstr("P99"),
                                 HasSubstr("dcqcn"), HasSubstr("Assumptions")));
  EXPECT_THAT(RunTrunkline({"run", "examples/permutation-roce.yaml", "-q"}).err, IsEmpty());
}

TEST(Traffic, GivesTheSameBytesForAnyNumberOfThreads) {
  const std::vector<std::string> one = {"run", "examples/permutation-roce.yaml", "--json", "-q"};
  std::vector<std::string> two = one;
  two.insert(two.end(), {"--threads", "3"});
  const Outcome outcome = RunTrunkline(one);
  EXPECT_THAT(outcome.out, AllOf(StartsWith("{"), HasSubstr("\"link_hops\": {")));
  EXPECT_EQ(WithoutClocks(outcome.out), WithoutClocks(RunTrunkline(two).out));
}

TEST(Packets, OfACollectiveGiveTheSameBytesForAnyNumberOfThreads) {
  const std::vector<std::string> one = {
      "collective",  "allreduce", "-b",       "1M",     "-e",          "1M",   "--ranks", "8",
      "--transport", "rocev2",    "--engine", "packet", "--algorithm", "ring", "--json",  "-q"};
  std::vector<std::string> two = one;
  two.insert(two.end(), {"--threads", "2"});
  const Outcome outcome = RunTrunkline(one);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\"busbw_Bps\""), HasSubstr("\"link_hops\": {")));
  const Outcome together = RunTrunkline(two);
  EXPECT_EQ(WithoutClocks(outcome.out), WithoutClocks(together.out));
  EXPECT_THAT(together.out, HasSubstr("\"threads\": 2"));
  EXPECT_THAT(together.err, IsEmpty());
}

TEST(Flows, SayThatTheyRunOnOneThread) {
  const Outcome outcome =
      RunTrunkline({"collective", "allreduce", "-b", "1M", "-e", "1M", "--ranks", "8", "--engine",
                    "flow", "--threads", "2", "--json", "-q"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("the flow engine runs on one thread [TL1004]"));
}

TEST(Traffic, RunsInTheFlowEngineToo) {
  const Outcome outcome =
      RunTrunkline({"run", "examples/incast-roce.yaml", "--engine", "flow", "--json", "-q"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\"count\": 32"), HasSubstr("\"packets\": null"),
                                 HasSubstr("\"pauses\": null")));
  // What it does not read it names.
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("'buffer' [TL1210]"), HasSubstr("examples/incast-roce")));
}

TEST(Traffic, RepeatsWithSeedsAndGivesIntervals) {
  const Outcome outcome =
      RunTrunkline({"run", "examples/permutation-roce.yaml", "--repeat", "3", "-q"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("Over 3 seeds, 1 to 3"), HasSubstr("± 95 %"),
                                 HasSubstr("slowdown.p99")));
}

TEST(Traffic, EndsWith1WhenTheNetworkDoesNotCarryTheLoad) {
  const Outcome outcome =
      RunTrunkline({"run", "examples/storage-infiniband.yaml", "-q", "--set", "cluster.fabric.k=4",
                    "--set", "cluster.fabric.routing=static", "--set", "workload.traffic.load=0.9",
                    "--set", "workload.traffic.window=20 ms"});
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("saturated: the network does not carry the load"));
}

TEST(Traffic, PrintsWhatHasHappenedOnCtrlC) {
  const std::string folder = FreshPath("out");
  const Outcome outcome = RunTrunkline({"run", "examples/storage-infiniband.yaml", "--set",
                                        "workload.traffic.window=80 ms", "--json", "--out", folder},
                                       folder);
  EXPECT_EQ(outcome.status, 130) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("interrupted"));
  // Stopped while messages are made there is nothing to print; later there is.
  if (outcome.out.empty()) return;
  EXPECT_THAT(outcome.out, HasSubstr("\"status\": \"interrupted\""));
}

TEST(Traffic, KeepsSamplesBesideItsResult) {
  const std::string folder = FreshPath("out");
  const Outcome outcome =
      RunTrunkline({"run", "examples/permutation-roce.yaml", "--set", "packet.sample.every=10 us",
                    "--json", "-q", "--out", folder});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\"file\": \"samples.jsonl.zst\""));
  std::ifstream file(folder + "/samples.jsonl.zst", std::ios::binary);
  std::string magic(4, ' ');
  file.read(magic.data(), 4);
  EXPECT_EQ(magic, "\x28\xB5\x2F\xFD");  // RFC 8878, section 3.1.1
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_NE(entry.path().extension(), ".part") << entry.path();
  }
}

TEST(Traffic, WarnsOfSamplesThatNothingKeeps) {
  const Outcome outcome = RunTrunkline(
      {"run", "examples/permutation-roce.yaml", "--set", "packet.sample.every=100 us", "-q"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("nothing keeps the samples [TL1006]"));
}

TEST(Traffic, RefusesContradictionsWithTheNumbersThatWork) {
  const auto run = [](const std::string& key) {
    return RunTrunkline({"run", "examples/permutation-roce.yaml", "--set", key});
  };
  for (const char* key :
       {"cluster.fabric.switch={pfc: {headroom: 1 KiB}}", "cluster.fabric.switch={buffer: 20 KB}",
        "cluster.transport={kind: infiniband, retry_limit: -1}",
        "cluster.transport={kind: rocev2, mtu: 65536 B}", "cluster.fabric.routing=sprey",
        "workload.traffic.size=-1 B", "workload.traffic.size=1e30 B",
        "workload.traffic={pattern: uniform, size: 1 MB, arrivals: poisson, load: 2, window: 1 ms}",
        "workload.traffic={pattern: uniform, sizes: nowhere.cdf}",
        "workload.traffic={file: nowhere.cm}"}) {
    const Outcome outcome = run(key);
    EXPECT_EQ(outcome.status, 2) << key << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("error: "), HasSubstr("[TL1"), HasSubstr("hint: ")))
        << key;
    EXPECT_THAT(outcome.out, IsEmpty()) << key;
    EXPECT_THAT(outcome.err, Not(HasSubstr("internal"))) << key;
  }
}

TEST(Traffic, ReadsHtsimsConnectionMatrices) {
  const std::string path = WriteFresh("two.cm",
                                      "Nodes 16\nConnections 2\n"
                                      "0->9 id 1 start 0 size 100000\n"
                                      "3->4 id 2 start 1000000 size 200000\n");
  const Outcome outcome = RunTrunkline({"run", "examples/permutation-roce.yaml", "--json", "-q",
                                        "--set", "workload.traffic={file: " + path + "}"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\"count\": 2"));
}

TEST(Traffic, ListsPatternsSizesAndCongestionControls) {
  EXPECT_THAT(RunTrunkline({"catalog", "patterns"}).out,
              AllOf(HasSubstr("permutation: "), HasSubstr("incast: ")));
  EXPECT_THAT(RunTrunkline({"catalog", "sizes"}).out, HasSubstr("web-search"));
  EXPECT_THAT(RunTrunkline({"catalog", "congestion"}).out,
              AllOf(HasSubstr("dcqcn: "), HasSubstr("preset connectx")));
}

}  // namespace
}  // namespace trunkline
