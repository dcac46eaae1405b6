#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "trunkline/engine/packet.h"
#include "trunkline/scenario/run.h"

namespace trunkline {
namespace {

// A scenario of two hosts beside a GOAL file.
class TraceScenario : public testing::Test {
 protected:
  void SetUp() override {
    // Tests run side by side: a folder for each.
    folder_ = testing::TempDir() + "trunkline_trace_test_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Result<RunResult> Run(const std::string& goal, const std::string& engine = "flow",
                        const std::string& transport = "ideal") {
    std::ofstream(folder_ + "/work.goal") << goal;
    const auto scenario = ParseScenario(
        "cluster: {nodes: 2, fabric: {kind: single-switch, link: 400 Gb/s}, "
        "transport: {kind: " +
            transport + "}}\nworkload: {trace: {file: work.goal}}\nengine: " + engine + "\n",
        folder_ + "/s.yaml");
    if (!scenario) return std::unexpected(scenario.error());
    return RunScenario(*scenario);
  }

 private:
  std::string folder_;
};

TEST_F(TraceScenario, RunsItsFileToTheEnd) {
  // 3 us of computation, then 5 MB at 50 GB/s.
  const auto result =
      Run("num_ranks 2\nrank 0 {\na: calc 3000\nb: send 5000000b to 1\nb requires a\n}\n"
          "rank 1 {\nrecv 5000000b from 0\n}\n");
  ASSERT_TRUE(result) << Format(result.error().front());
  EXPECT_EQ(result->status, RunStatus::kFinished);
  EXPECT_NEAR(result->time.seconds(), 103e-6, 2e-6);
  EXPECT_NEAR(result->bound.seconds(), 100e-6, 1e-9);
  EXPECT_EQ(result->timeline.spans.size(), 3U);
}

TEST_F(TraceScenario, RunsAsPackets) {
  const auto result =
      Run("num_ranks 2\nrank 0 {\na: calc 3000\nb: send 5000000b to 1\nb requires a\n}\n"
          "rank 1 {\nrecv 5000000b from 0\n}\n",
          "packet", "infiniband");
  ASSERT_TRUE(result) << Format(result.error().front());
  EXPECT_EQ(result->status, RunStatus::kFinished);
  ASSERT_NE(result->packets, nullptr);
  EXPECT_EQ(result->packets->counters.packets.data, 1221U);  // of 4,096 bytes
  EXPECT_GE(result->time, Time::Microseconds(103));
}

TEST_F(TraceScenario, NeverSucceedsWhenSomethingDidNotRun) {
  const auto result =
      Run("num_ranks 2\n"
          "rank 0 {\nr: recv 8b from 1\ns: send 8b to 1\ns requires r\n}\n"
          "rank 1 {\nr: recv 8b from 0\ns: send 8b to 0\ns requires r\n}\n");
  ASSERT_TRUE(result) << Format(result.error().front());
  EXPECT_EQ(result->status, RunStatus::kUnfinished);
  EXPECT_FALSE(result->timeline.blocked.empty());
}

TEST_F(TraceScenario, RefusesWhatDoesNotFit) {
  const auto garbled = Run("num_ranks 1\nrank 0 {\ncalc\n}\n");
  ASSERT_FALSE(garbled);
  EXPECT_EQ(garbled.error().front().code, "TL1720");
  EXPECT_EQ(garbled.error().front().where.line, 3);
  const auto large = Run("num_ranks 3\nrank 0 {}\nrank 1 {}\nrank 2 {}\n");
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().front().code, "TL1420");
  const auto analytic = Run("num_ranks 1\nrank 0 {}\n", "analytic");
  ASSERT_FALSE(analytic);
  EXPECT_EQ(analytic.error().front().code, "TL1623");
}

}  // namespace
}  // namespace trunkline
