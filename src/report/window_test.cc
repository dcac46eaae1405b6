#include "report/window.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/blocked.h"
#include "report/test_result.h"
#include "trunkline/engine/packet_window.h"
#include "trunkline/report/report.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(Window, IsHeldAgainstTheSameAsFlowsInText) {
  const RunResult result = testing::WindowResult();
  const std::string text = RenderText(result);
  EXPECT_THAT(text, HasSubstr("From 100 ms to 110 ms as packets"));
  EXPECT_THAT(text, HasSubstr("1.250"));
  EXPECT_THAT(text, HasSubstr("takes 12 ms as packets, 10 ms as flows"));
  EXPECT_THAT(text, HasSubstr(Humanize(result.time + Time::Microseconds(1'000))));
}

TEST(Window, LabelsItsEngineInJsonAndLeavesTheRestToFlows) {
  const RunResult result = testing::WindowResult();
  const Json json = Json::parse(RenderJson(result));
  EXPECT_EQ(json["engine"], "flow");
  EXPECT_DOUBLE_EQ(json["time_s"], result.time.seconds());
  EXPECT_TRUE(json["packets"].is_null());
  const Json& window = json["window"];
  EXPECT_EQ(window["engine"], "packet");
  EXPECT_DOUBLE_EQ(window["step_time_s"], result.time.seconds() + 1e-3);
  EXPECT_EQ(window["packets"]["data"], 1'000);
  EXPECT_EQ(window["kinds"][0]["latest_rank"], 3);
  EXPECT_TRUE(Json::parse(RenderJson(testing::PipelineResult()))["window"].is_null());
}

TEST(Window, ThatDidNotFinishSaysNothingOfTheStep) {
  RunResult result = testing::WindowResult();
  WindowReport window = *result.window;
  window.status = RunStatus::kDeadlocked;
  result.window = std::make_shared<const WindowReport>(window);
  EXPECT_TRUE(Json::parse(RenderJson(result))["window"]["step_time_s"].is_null());
  EXPECT_THAT(RenderText(result), HasSubstr("deadlocked"));
}

TEST(ChainOfWaits, FollowsRanksToACircleOrAnEnd) {
  const auto waits = [](int rank, std::optional<int> peer) {
    BlockedTask task{.rank = RankId(rank), .task = 0, .waits_for = "its messages to arrive"};
    if (peer) task.peer = RankId(*peer);
    return task;
  };
  EXPECT_EQ(ChainOfWaits({waits(0, 2), waits(2, 1), waits(1, 0)}),
            "rank 0 waits for rank 2, which waits for rank 1, which waits for rank 0: they wait in "
            "a circle");
  EXPECT_EQ(ChainOfWaits({waits(0, 2), waits(2, {})}),
            "rank 0 waits for rank 2, which waits for its messages to arrive");
  EXPECT_EQ(ChainOfWaits({waits(0, 2)}),
            "rank 0 waits for rank 2, which waits for nobody: what it sent did not arrive");
}

}  // namespace
}  // namespace trunkline
