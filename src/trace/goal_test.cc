#include "trunkline/trace/goal.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <tuple>

#include "engine/flow/test_inputs.h"

namespace trunkline {
namespace {

// LogGOPSim's defaults: a message takes o + L + o = 5500 ns beside its bytes, at G = 6 ns each.
constexpr std::int64_t kLatencyNs = 5500;
constexpr std::int64_t kByteNs = 6;

Timeline RunLikeLogGops(const TaskGraph& graph) {
  const CableSpec cable{.rate = Rate::BitsPerSecond(8'000'000'000 / kByteNs),
                        .latency = Time::Picoseconds(kLatencyNs * 1000 / 2)};
  FlowCase star{.fabric = Star(graph.ranks(), {cable})};
  return star.Run(graph);
}

GoalTrace Parse(const std::string& text) {
  auto trace = ParseGoal(text, "test.goal");
  if (trace) return *std::move(trace);
  for (const Diagnostic& problem : trace.error()) ADD_FAILURE() << Format(problem);
  return {};
}

// A third-party schedule, read from the samples beside the repository.
class GoalSample : public testing::Test {
 protected:
  static std::string PathOf(const std::string& name) {
    return TRUNKLINE_SOURCE_DIR "/../shared/samples/goal/" + name;
  }
  void SetUp() override {
    if (!std::filesystem::exists(PathOf("README.md"))) GTEST_SKIP() << "the samples are absent";
  }
  static GoalTrace Read(const std::string& name) {
    auto trace = ReadGoal(PathOf(name));
    if (trace) return *std::move(trace);
    for (const Diagnostic& problem : trace.error()) ADD_FAILURE() << Format(problem);
    return {};
  }
};

void ExpectEqual(const TaskGraph& a, const TaskGraph& b) {
  ASSERT_EQ(a.ranks(), b.ranks());
  for (std::uint32_t r = 0; r < a.ranks(); ++r) {
    const RankId rank{r};
    const Program& mine = a.program(a.program_of(rank));
    const Program& other = b.program(b.program_of(rank));
    ASSERT_EQ(mine.tasks.size(), other.tasks.size());
    EXPECT_EQ(mine.dependencies, other.dependencies);
    for (std::size_t i = 0; i < mine.tasks.size(); ++i) {
      const Task& x = mine.tasks[i];
      const Task& y = other.tasks[i];
      EXPECT_EQ(std::tuple(x.kind, x.stream, x.bytes, x.duration, x.first_dependency,
                           x.dependency_count, x.start_dependency_count),
                std::tuple(y.kind, y.stream, y.bytes, y.duration, y.first_dependency,
                           y.dependency_count, y.start_dependency_count));
      if (x.kind == TaskKind::kCompute) continue;
      EXPECT_EQ(a.peer(rank, x.role), b.peer(rank, y.role));
    }
  }
}

TEST_F(GoalSample, SaysTheSameInTextAndBinary) {
  const GoalTrace text = Read("gen_allreduce_ring_4.goal");
  const GoalTrace binary = Read("gen_allreduce_ring_4.bin");
  EXPECT_EQ(text.graph->ranks(), binary.graph->ranks());
  ExpectEqual(*text.graph, *binary.graph);
}

TEST_F(GoalSample, TakesWhatLogGopSimPrintsWhereMessagesDoNotShareALink) {
  // samples/goal/README.md. LogGOPSim charges (bytes - 1) G for a message, we bytes x G: the
  // difference is G for each message of the critical path.
  struct Case {
    const char* name;
    std::int64_t published_ns;
    std::int64_t messages;
  };
  for (const Case& c :
       {Case{"gen_allreduce_ring_4", 9'470'148, 6}, Case{"gen_allreduce_ring_32", 12'530'324, 62},
        Case{"gen_allreduce_recdoub_4", 9'459'160, 4},
        Case{"gen_allreduce_recdoub_32", 12'244'636, 10},
        Case{"gen_dissemination_4", 12'593'900, 2}, Case{"gen_dissemination_32", 31'484'750, 5}}) {
    const GoalTrace trace = Read(std::string(c.name) + ".goal");
    const Timeline timeline = RunLikeLogGops(*trace.graph);
    EXPECT_EQ(timeline.status, RunStatus::kFinished);
    const double expected = static_cast<double>(c.published_ns + c.messages * kByteNs) * 1e-9;
    // A message may end up to a picosecond late, since times are whole.
    const double tolerance = 1e-9 * expected + static_cast<double>(c.messages) * 1e-12;
    EXPECT_NEAR(timeline.end.seconds(), expected, tolerance) << c.name;
  }
}

TEST_F(GoalSample, SharesTheLinkOfItsSenderAmongItsMessages) {
  // LogGOPSim sends one after another and prints 18,890,850 ns for the same bytes.
  const Timeline all_to_all = RunLikeLogGops(*Read("gen_linear_alltoall_4.goal").graph);
  const auto expected =
      static_cast<double>(3 * std::int64_t{1'048'576} * kByteNs + kLatencyNs) * 1e-9;
  EXPECT_NEAR(all_to_all.end.seconds(), expected, 1e-9 * expected);
}

TEST_F(GoalSample, RunsEveryMessage) {
  // With one tag a step, and with tags that repeat, of which other tools run 14 of 16.
  for (const auto& [name, messages] :
       {std::pair("rd4t.goal", 16U), std::pair("gen_allreduce_recdoub_4.goal", 16U),
        std::pair("gen_allreduce_ring_4.goal", 24U), std::pair("ring16t.goal", 480U)}) {
    const GoalTrace trace = Read(name);
    EXPECT_EQ(trace.operations, 2 * messages);
    const Timeline timeline = RunLikeLogGops(*trace.graph);
    EXPECT_EQ(timeline.status, RunStatus::kFinished) << name;
    EXPECT_EQ(timeline.flow.transfers_represented, messages) << name;
  }
}

TEST_F(GoalSample, ComputesBeforeItSends) {
  // 8 us, then 80 MB at 4/3 Gb/s.
  const Timeline timeline = RunLikeLogGops(*Read("comp.goal").graph);
  EXPECT_NEAR(timeline.end.seconds(), 8e-6 + 80e6 * 6e-9 + 5.5e-6, 1e-9);
}

TEST(Goal, GivesRanksThatDoTheSameOneProgram) {
  std::string text = "num_ranks 100\n";
  for (int rank = 0; rank < 100; ++rank) {
    text += "rank " + std::to_string(rank) + " {\n";
    text += "a: send 8b to " + std::to_string((rank + 1) % 100) + " tag 3\n";
    text += "b: recv 8b from " + std::to_string((rank + 99) % 100) + " tag 3\n}\n";
  }
  const GoalTrace trace = Parse(text);
  ASSERT_TRUE(trace.graph);
  EXPECT_EQ(trace.graph->program_count(), 1U);
  EXPECT_EQ(trace.graph->peer(RankId(99), 0), RankId(0));
  EXPECT_EQ(trace.graph->sender_role(RankId(7), 1), 0U);
}

TEST(Goal, ReadsEveryStatementOfTheForm) {
  const GoalTrace trace = Parse(
      "num_ranks 2 // two\n"
      "/* a comment\n over lines */\n"
      "rank 1 {\n"
      "  recv 100 b from 0 tag 7 cpu 1 nic 0\n"
      "}\r\n"
      "rank 0 {\n"
      "  last requires first   // used before it is defined\n"
      "  first: calc 1000 cpu 2\n"
      "  beside: calc 500\n"
      "  beside irequires first\n"
      "  last: send 100b to 1 tag 7\n"
      "}");
  ASSERT_TRUE(trace.graph);
  EXPECT_EQ(trace.operations, 4U);
  const Program& program = trace.graph->program(trace.graph->program_of(RankId(0)));
  ASSERT_EQ(program.tasks.size(), 3U);
  EXPECT_EQ(program.tasks[0].duration, Time::Microseconds(1));
  EXPECT_EQ(program.tasks[0].stream, 2);
  EXPECT_EQ(program.start_dependencies_of(program.tasks[1]).front(), 0U);
  EXPECT_TRUE(program.dependencies_of(program.tasks[1]).empty());
  EXPECT_EQ(program.dependencies_of(program.tasks[2]).front(), 0U);
  EXPECT_EQ(trace.graph->streams().size(), 3U);
}

TEST(Goal, ReordersWhatTheFileListsBeforeWhatItNeeds) {
  const GoalTrace trace = Parse(
      "num_ranks 2\n"
      "rank 0 {\n"
      "late: send 8b to 1 tag 0\n"
      "early: send 16b to 1 tag 0\n"
      "late requires early\n"
      "}\n"
      "rank 1 {\n"
      "recv 16b from 0 tag 0\n"
      "recv 8b from 0 tag 0\n"
      "}\n");
  ASSERT_TRUE(trace.graph);
  EXPECT_EQ(trace.graph->program(0).tasks[0].bytes, Bytes(16));
}

TEST(Goal, NeverFinishesWhenRanksWaitForEachOther) {
  const GoalTrace trace = Parse(
      "num_ranks 2\n"
      "rank 0 {\nr: recv 8b from 1\ns: send 8b to 1\ns requires r\n}\n"
      "rank 1 {\nr: recv 8b from 0\ns: send 8b to 0\ns requires r\n}\n");
  ASSERT_TRUE(trace.graph);
  const Timeline timeline = RunLikeLogGops(*trace.graph);
  EXPECT_EQ(timeline.status, RunStatus::kUnfinished);
  ASSERT_FALSE(timeline.blocked.empty());
  EXPECT_EQ(timeline.blocked[0].rank, RankId(0));
  EXPECT_EQ(timeline.blocked[0].waits_for, "a message from rank 1");
}

TEST(Goal, WarnsOnceThatNicNumbersAreNotFollowed) {
  const GoalTrace trace = Parse(
      "num_ranks 2\n"
      "rank 0 {\nsend 8b to 1 tag 0 nic 1\nsend 8b to 1 tag 1 nic 2\n}\n"
      "rank 1 {\nrecv 8b from 0 tag 0\nrecv 8b from 0 tag 1\n}\n");
  ASSERT_EQ(trace.warnings.size(), 1U);
  EXPECT_EQ(trace.warnings[0].code, "TL1734");
  EXPECT_EQ(trace.warnings[0].where.line, 3);
}

}  // namespace
}  // namespace trunkline
