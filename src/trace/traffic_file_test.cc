#include "trunkline/trace/traffic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "workload/traffic/reachability.h"

namespace trunkline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string kSamples = TRUNKLINE_SOURCE_DIR "/../shared/samples/";

TrafficWorkload Read(std::string_view text) {
  auto traffic = ParseTraffic(text, "flows.txt");
  EXPECT_TRUE(traffic.has_value()) << Format(traffic.error().front());
  return traffic ? *std::move(traffic) : TrafficWorkload();
}

Diagnostic OnlyError(std::string_view text) {
  const auto traffic = ParseTraffic(text, "flows.txt");
  EXPECT_FALSE(traffic.has_value()) << text;
  if (traffic.has_value()) return {};
  EXPECT_THAT(traffic.error(), SizeIs(1)) << text;
  EXPECT_EQ(traffic.error().front().where.file, "flows.txt");
  EXPECT_FALSE(traffic.error().front().hint.empty());
  return traffic.error().front();
}

std::int64_t TotalBytes(const TrafficWorkload& traffic) {
  return std::accumulate(
      traffic.flows.begin(), traffic.flows.end(), std::int64_t{0},
      [](std::int64_t sum, const TrafficFlow& flow) { return sum + flow.bytes.count(); });
}

// --- Connection matrices ------------------------------------------------------------------------

TEST(ConnectionMatrix, StartsAreInPicoseconds) {
  const TrafficWorkload traffic = Read(
      "Nodes 4\nConnections 2\n"
      "0->1 id 7 start 1500000 size 2000000\n"
      "3->2 start 2.5e6 size 1\n");
  EXPECT_EQ(traffic.ranks, 4U);
  ASSERT_THAT(traffic.flows, SizeIs(2));
  EXPECT_EQ(traffic.flows[0].source, RankId(0));
  EXPECT_EQ(traffic.flows[0].destination, RankId(1));
  EXPECT_EQ(traffic.flows[0].start, Time::Picoseconds(1'500'000));
  EXPECT_EQ(traffic.flows[0].bytes, Bytes(2'000'000));
  EXPECT_EQ(traffic.flows[0].trigger, TrafficFlow::kNoTrigger);
  EXPECT_EQ(traffic.flows[1].start, Time::Picoseconds(2'500'000));
}

TEST(ConnectionMatrix, TriggersKeepTheOrderOfTheirFlows) {
  const TrafficWorkload traffic = Read(
      "Nodes 4\nConnections 5\nTriggers 2\n"
      "0->1 id 1 start 0 size 10 send_done_trigger 9\n"
      "0->2 id 2 start 0 size 10 send_done_trigger 9\n"
      "0->3 id 3 trigger 9 size 10 recv_done_trigger 4\n"
      "1->3 id 4 trigger 9 size 10 recv_done_trigger 4\n"
      "2->3 id 5 trigger 4 size 10\n"
      "trigger id 9 multishot\n"
      "trigger id 4 barrier count 2\n");
  ASSERT_THAT(traffic.triggers, SizeIs(2));
  EXPECT_EQ(traffic.triggers[0].kind, TrafficTrigger::Kind::kMultiShot);
  EXPECT_THAT(traffic.triggers[0].flows, ElementsAre(2U, 3U));
  EXPECT_EQ(traffic.triggers[1].kind, TrafficTrigger::Kind::kBarrier);
  EXPECT_EQ(traffic.triggers[1].count, 2U);
  EXPECT_THAT(traffic.triggers[1].flows, ElementsAre(4U));
  EXPECT_EQ(traffic.flows[0].when_sent, 0U);
  EXPECT_EQ(traffic.flows[2].when_received, 1U);
  EXPECT_EQ(traffic.flows[4].trigger, 1U);
}

TEST(ConnectionMatrix, SizesBeyondHtsimsIntegersAreReadAsWritten) {
  EXPECT_EQ(Read("Nodes 2\nConnections 1\n0->1 start 0 size 4294967296\n").flows[0].bytes,
            Bytes(4'294'967'296));
}

struct Fault {
  const char* lines;  // after "Nodes 4\n"
  const char* code;
  int line;
  int column;
  const char* says;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.says; }

void ExpectNamed(const Diagnostic& error, const Fault& fault) {
  EXPECT_EQ(error.where.line, fault.line);
  EXPECT_EQ(error.where.column, fault.column);
  EXPECT_THAT(error.message, HasSubstr(fault.says));
}

class ConnectionMatrixFault : public ::testing::TestWithParam<Fault> {};

TEST_P(ConnectionMatrixFault, IsNamedWithItsPlace) {
  const Diagnostic error = OnlyError(std::string("Nodes 4\n") + GetParam().lines);
  EXPECT_EQ(error.code, GetParam().code);
  ExpectNamed(error, GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Lines, ConnectionMatrixFault,
    ::testing::Values(
        Fault{"Connections 1\n0->4 start 0 size 1\n", "TL1762", 3, 4, "'4' is not one of 4 hosts"},
        Fault{"Connections 1\n-1->2 start 0 size 1\n", "TL1762", 3, 1, "'-1'"},
        Fault{"Connections 1\n1->1 start 0 size 1\n", "TL1762", 3, 4, "host 1 sends to itself"},
        Fault{"Connections 1\n0->1 start 0 size 0\n", "TL1760", 3, 19, "size of 0"},
        Fault{"Connections 1\n0->1 start 0 size -5\n", "TL1760", 3, 19, "'-5' is not a size"},
        Fault{"Connections 1\n0->1 start 0 size 99999999999999999999\n", "TL1760", 3, 19,
              "is not a size"},
        Fault{"Connections 1\n0->1 start nan size 1\n", "TL1760", 3, 12, "'nan'"},
        Fault{"Connections 1\n0->1 start 1e300 size 1\n", "TL1760", 3, 12, "'1e300'"},
        Fault{"Connections 1\n0->1 start -1 size 1\n", "TL1760", 3, 12, "'-1'"},
        Fault{"Connections 1\n0->1 start 0\n", "TL1760", 3, 13, "without a size"},
        Fault{"Connections 1\n0->1 start 0 size\n", "TL1760", 3, 18, "size without a value"},
        Fault{"Connections 1\n0->1 size 1\n", "TL1763", 3, 12, "neither a start nor a trigger"},
        Fault{"Connections 1\n0->1 size 1 start 0 size 2\n", "TL1760", 3, 21, "given twice"},
        Fault{"Connections 1\n0->1 start 0 size 1 prio 5\n", "TL1764", 3, 21, "'prio'"},
        Fault{"Connections 1\n0->1 id 0 start 0 size 1\n", "TL1760", 3, 9, "'0' is not an id"},
        Fault{"Connections 2\n0->1 start 0 size 1\n", "TL1761", 2, 0, "2 flows are announced"},
        Fault{"0->1 start 0 size 1\n", "TL1761", 0, 0, "no `Connections` line"},
        Fault{"Connections 0\n", "TL1761", 0, 0, "no flows"},
        Fault{"Nodes 5\nConnections 1\n0->1 start 0 size 1\n", "TL1761", 2, 1, "given twice"},
        Fault{"Connections x\n0->1 start 0 size 1\n", "TL1760", 2, 13, "without a number"},
        Fault{"Connections 1\nFailures 1\n0->1 start 0 size 1\nfailure switch_type TOR switch_id "
              "0 link_id 1\n",
              "TL1764", 5, 1, "a failed link"},
        Fault{"Connections 1\nhello\n0->1 start 0 size 1\n", "TL1760", 3, 1, "'hello'"},
        Fault{"Connections 2\n0->1 id 3 start 0 size 1\n1->2 id 3 start 0 size 1\n", "TL1763", 4, 0,
              "id 3 is already"},
        Fault{"Connections 1\nTriggers 1\n0->1 id 1 start 0 trigger 1 size 1\ntrigger id 1 "
              "oneshot\n",
              "TL1763", 4, 35, "contradict"},
        Fault{"Connections 1\nTriggers 1\n0->1 trigger 1 size 1\ntrigger id 1 oneshot\n", "TL1763",
              4, 22, "without an id"},
        Fault{"Connections 1\n0->1 start 0 size 1 send_done_trigger 6\n", "TL1763", 3, 0,
              "trigger 6 is not described"},
        Fault{"Connections 1\nTriggers 2\n0->1 start 0 size 1 send_done_trigger 6\ntrigger id 6 "
              "oneshot\ntrigger id 6 oneshot\n",
              "TL1763", 6, 12, "described twice"},
        Fault{"Connections 1\nTriggers 1\n0->1 start 0 size 1\ntrigger id 6 sometimes\n", "TL1760",
              5, 14, "'sometimes'"},
        Fault{"Connections 1\nTriggers 1\n0->1 start 0 size 1\ntrigger id 6 barrier\n", "TL1760", 5,
              21, "without its count"},
        Fault{"Connections 1\nTriggers 1\n0->1 start 0 size 1\ntrigger id 6 oneshot count 2\n",
              "TL1764", 5, 22, "'count'"},
        Fault{"Connections 1\nTriggers 1\n0->1 start 0 size 1\ntrigger 6 oneshot\n", "TL1760", 5, 9,
              "not described"}));

// What would make a run wait for ever, or end early and call it success.
TEST(ConnectionMatrix, RefusesFlowsThatNothingEverStarts) {
  const std::string head = "Nodes 4\nConnections 3\nTriggers 1\n0->1 start 0 size 1";
  const std::string waiting = "1->2 id 2 trigger 5 size 1\n2->3 id 3 trigger 5 size 1\n";
  EXPECT_THAT(OnlyError(head + "\n" + waiting + "trigger id 5 oneshot\n").message,
              HasSubstr("trigger 5 is activated 0 times and 1 are needed"));
  const std::string activated = head + " send_done_trigger 5\n" + waiting;
  EXPECT_THAT(Read(activated + "trigger id 5 oneshot\n").flows, SizeIs(3));
  const Diagnostic second = OnlyError(activated + "trigger id 5 multishot\n");
  EXPECT_EQ(second.where.line, 6);
  EXPECT_THAT(second.message, HasSubstr("activated 1 times and 2 are needed"));
  EXPECT_THAT(OnlyError(activated + "trigger id 5 barrier count 3\n").message,
              HasSubstr("activated 1 times and 3 are needed"));
}

TEST(ConnectionMatrix, RefusesFlowsThatWaitForEachOther) {
  const Diagnostic error = OnlyError(
      "Nodes 3\nConnections 3\nTriggers 2\n"
      "0->1 start 0 size 1\n"
      "1->2 id 2 trigger 1 size 1 send_done_trigger 2\n"
      "2->1 id 3 trigger 2 size 1 send_done_trigger 1\n"
      "trigger id 1 oneshot\ntrigger id 2 oneshot\n");
  EXPECT_EQ(error.where.line, 5);
  EXPECT_THAT(error.hint, HasSubstr("2 flows do not start"));
}

TEST(ConnectionMatrix, ReportsAllProblemsUpToADozen) {
  std::string text = "Nodes 2\nConnections 30\n";
  for (int i = 0; i < 30; ++i) text += "0->0 start 0 size 1\n";
  const auto traffic = ParseTraffic(text, "flows.txt");
  ASSERT_FALSE(traffic.has_value());
  EXPECT_THAT(traffic.error(), SizeIs(13));
  EXPECT_EQ(traffic.error().back().code, "TL1112");
  EXPECT_THAT(traffic.error().back().message, HasSubstr("18 more"));
}

// Flows, triggers and bytes as the README beside the samples gives them.
TEST(ConnectionMatrix, ReadsTheSamplesOfHtsim) {
  if (!std::filesystem::exists(kSamples)) GTEST_SKIP() << "no samples";
  for (const auto& [name, hosts, bytes] :
       {std::tuple{"perm_128.cm", 128U, 2'000'000}, std::tuple{"perm_1024.cm", 1024U, 2'000'000},
        std::tuple{"perm_8192.cm", 8192U, 500'000}}) {
    const auto traffic = ReadTrafficFile(kSamples + "htsim/bench/" + name);
    ASSERT_TRUE(traffic.has_value()) << Format(traffic.error().front());
    EXPECT_EQ(traffic->ranks, hosts);
    EXPECT_THAT(traffic->flows, SizeIs(hosts));
    EXPECT_EQ(TotalBytes(*traffic), std::int64_t{hosts} * bytes);
  }
  // A ring AllReduce of 16 hosts: 31 steps of 16 chunks of 256 KiB, all but the first triggered.
  const auto ring = ReadTrafficFile(kSamples + "htsim/bench/ar_16.cm");
  ASSERT_TRUE(ring.has_value()) << Format(ring.error().front());
  EXPECT_THAT(ring->flows, SizeIs(31 * 16));
  EXPECT_THAT(ring->triggers, SizeIs(30 * 16));
  EXPECT_EQ(TotalBytes(*ring), std::int64_t{31} * 16 * 262'144);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kSamples + "htsim")) {
    if (entry.path().extension() != ".cm") continue;
    const auto traffic = ReadTrafficFile(entry.path());
    if (entry.path().filename() == "a2a.cm") {  // 3,600 flows by its header, 240 by its lines
      ASSERT_FALSE(traffic.has_value());
      EXPECT_EQ(traffic.error().front().code, "TL1761");
      continue;
    }
    EXPECT_TRUE(traffic.has_value()) << Format(traffic.error().front());
  }
}

TEST(ConnectionMatrix, CompressedFilesAreRefusedWithARemedy) {
  const Diagnostic error = OnlyError("\x1f\x8b\x08");
  EXPECT_EQ(error.code, "TL1765");
  EXPECT_THAT(error.hint, HasSubstr("gunzip"));
}

// --- Flow lists ---------------------------------------------------------------------------------

TEST(FlowList, ReadsHpccsSixFieldsAndConweavesFive) {
  const TrafficWorkload hpcc = Read("2\n2 1 3 100 200000000 2\n0 5 3 100 7 2.000000123\n");
  EXPECT_EQ(hpcc.ranks, 6U);
  ASSERT_THAT(hpcc.flows, SizeIs(2));
  EXPECT_EQ(hpcc.flows[0].source, RankId(2));
  EXPECT_EQ(hpcc.flows[0].destination, RankId(1));
  EXPECT_EQ(hpcc.flows[0].bytes, Bytes(200'000'000));
  EXPECT_EQ(hpcc.flows[0].start, Time::Picoseconds(2'000'000'000'000));
  EXPECT_EQ(hpcc.flows[0].traffic_class, 0);
  EXPECT_EQ(hpcc.flows[1].start, Time::Picoseconds(2'000'000'123'000));
  const TrafficWorkload conweave = Read("1\n2 1 3 4096 0.5\n");
  EXPECT_EQ(conweave.flows[0].bytes, Bytes(4096));
  EXPECT_EQ(conweave.flows[0].start, Time::Picoseconds(500'000'000'000));
}

TEST(FlowList, NumbersThePriorityGroupsThatAreUsed) {
  const TrafficWorkload traffic = Read("3\n0 1 6 1 0\n0 1 3 1 0\n1 0 6 1 0\n");
  EXPECT_EQ(traffic.flows[0].traffic_class, 1);
  EXPECT_EQ(traffic.flows[1].traffic_class, 0);
  EXPECT_EQ(traffic.flows[2].traffic_class, 1);
}

class FlowListFault : public ::testing::TestWithParam<Fault> {};

TEST_P(FlowListFault, IsNamedWithItsPlace) {
  const Diagnostic error = OnlyError(GetParam().lines);
  EXPECT_EQ(error.code, GetParam().code);
  ExpectNamed(error, GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Lines, FlowListFault,
    ::testing::Values(Fault{"2\n0 1 3 100 5 0\n", "TL1761", 1, 0, "2 flows are announced and 1"},
                      Fault{"0\n", "TL1761", 1, 1, "not the number of flows"},
                      Fault{"1\n0 1 3 100\n", "TL1760", 2, 10, "4 fields"},
                      Fault{"2\n0 1 3 100 5 0\n0 1 3 5 0\n", "TL1760", 3, 10, "5 fields"},
                      Fault{"1\n0 0 3 100 5 0\n", "TL1762", 2, 3, "itself"},
                      Fault{"1\n0 9999999 3 100 5 0\n", "TL1762", 2, 3, "not a host"},
                      Fault{"1\n-1 1 3 100 5 0\n", "TL1762", 2, 1, "not a host"},
                      Fault{"1\n0 1 8 100 5 0\n", "TL1760", 2, 5, "priority group"},
                      Fault{"1\n0 1 3 100 0 0\n", "TL1760", 2, 11, "size of 0"},
                      Fault{"1\n0 1 3 100 5 -2\n", "TL1760", 2, 13, "'-2'"},
                      Fault{"1\n0 1 3 100 5 inf\n", "TL1760", 2, 13, "'inf'"},
                      Fault{"1\n0 1 3 100 5 9e6\n", "TL1760", 2, 13, "'9e6'"}));

// What follows the announced flows is prose in HPCC's own example.
TEST(FlowList, WarnsOfWhatFollowsTheAnnouncedFlows) {
  const TrafficWorkload traffic = Read("1\n2 1 3 100 5 0\n3 1 3 100 5 0\n\nFirst line: flows\n");
  EXPECT_THAT(traffic.flows, SizeIs(1));
  ASSERT_THAT(traffic.warnings, SizeIs(1));
  EXPECT_EQ(traffic.warnings[0].severity, Severity::kWarning);
  EXPECT_EQ(traffic.warnings[0].where.line, 3);
}

TEST(FlowList, ReadsTheSampleOfHpcc) {
  const std::string path = kSamples + "simai/hpcc_flow_example.txt";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no samples";
  const auto traffic = ReadTrafficFile(path);
  ASSERT_TRUE(traffic.has_value()) << Format(traffic.error().front());
  EXPECT_THAT(traffic->flows, SizeIs(2));
  EXPECT_EQ(TotalBytes(*traffic), 400'000'000);
  EXPECT_THAT(traffic->warnings, SizeIs(1));
}

// --- Which is which -----------------------------------------------------------------------------

TEST(TrafficFile, IsToldApartByItsContent) {
  EXPECT_EQ(OnlyError("graph { a -- b }\n").code, "TL1765");
  EXPECT_EQ(OnlyError("").code, "TL1765");
  EXPECT_EQ(OnlyError("# only a comment\n").code, "TL1765");
  EXPECT_EQ(OnlyError(std::string(5000, 'a')).code, "TL1102");
  EXPECT_EQ(OnlyError(std::string_view("1\n0 \0", 5)).code, "TL1102");
  EXPECT_EQ(ReadTrafficFile("/nonexistent.cm").error().front().code, "TL1101");
  EXPECT_EQ(ReadTrafficFile("/").error().front().code, "TL1101");
}

TEST(TrafficFile, AFormatThatIsGivenIsNotGuessed) {
  const auto traffic =
      ParseTraffic("1\n0 1 3 100 5 0\n", "flows.txt", TrafficFormat::kConnectionMatrix);
  ASSERT_FALSE(traffic.has_value());
  EXPECT_EQ(traffic.error().front().code, "TL1760");
  for (const TrafficFormat format : {TrafficFormat::kConnectionMatrix, TrafficFormat::kFlowList}) {
    EXPECT_EQ(ParseTrafficFormat(ToString(format)), format);
  }
  EXPECT_EQ(ParseTrafficFormat("pcap"), std::nullopt);
}

// --- Reachability -------------------------------------------------------------------------------

TEST(Reachability, FollowsChainsHoweverLong) {
  constexpr std::uint32_t kLong = 100'000;
  TrafficWorkload traffic;
  traffic.ranks = 2;
  traffic.flows.resize(kLong);
  traffic.triggers.resize(kLong - 1);
  for (std::uint32_t i = 0; i + 1 < kLong; ++i) {
    traffic.flows[i].when_received = i;
    traffic.flows[i + 1].trigger = i;
    traffic.triggers[i].flows = {i + 1};
  }
  EXPECT_FALSE(FindNeverStarted(traffic).has_value());
  traffic.flows[500].when_received = TrafficFlow::kNoTrigger;
  const auto idle = FindNeverStarted(traffic);
  ASSERT_TRUE(idle.has_value());
  EXPECT_EQ(idle->flow, 501U);
  EXPECT_EQ(idle->flows, kLong - 501);
}

}  // namespace
}  // namespace trunkline
