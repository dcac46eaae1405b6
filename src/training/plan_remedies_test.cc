#include <gmock/gmock.h>

#include <regex>
#include <string>

#include "training/test_models.h"
#include "trunkline/training/plan.h"

// Every remedy is followed, and the plan then accepted.
namespace trunkline {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Plan70B;

NodeNumbers Servers(std::int64_t most) {
  return {.gpus_per_node = 8, .possible = [most](std::int64_t nodes) { return nodes <= most; }};
}

std::string HintOf(const TrainingPlan& plan, std::int64_t gpus, std::string_view code,
                   const NodeNumbers& nodes = {}) {
  for (const Diagnostic& found : CheckPlan(testing::Llama70B(), plan, gpus, nodes)) {
    if (found.code == code) return found.hint;
  }
  return "absent";
}

std::int64_t Number(const std::ssub_match& match) { return std::stoll(match.str()); }

// Follows "tp 8 x pp 4 x dp 15" of a hint, from `start` on.
TrainingPlan Recut(TrainingPlan plan, const std::string& hint, std::size_t start = 0) {
  std::smatch found;
  const std::string rest = hint.substr(start);
  EXPECT_TRUE(std::regex_search(rest, found, std::regex(R"(tp (\d+) x pp (\d+) x dp (\d+))")))
      << hint;
  if (found.empty()) return plan;
  plan.tp = Number(found[1]);
  plan.pp = Number(found[2]);
  plan.dp = Number(found[3]);
  return plan;
}

// 60 servers: 512 is no multiple of the 15 that tp 8 and pp 4 leave, and 510 is the nearest.
TEST(PlanRemedies, NameTheBatchAndTheNodesWhereNoCutFillsTheCluster) {
  const std::string hint = HintOf(Plan70B(), 480, "TL1321", Servers(1000));
  EXPECT_THAT(hint, HasSubstr("global_batch 510 does with tp 8 x pp 4 x dp 15"));
  EXPECT_THAT(hint, HasSubstr("64 nodes do with tp 8 x pp 4 x dp 16"));
  for (const std::int64_t nodes : {57, 59, 60, 61, 62, 63, 65, 67, 1, 3, 127}) {
    const std::string text = HintOf(Plan70B(), nodes * 8, "TL1321", Servers(1000));
    std::smatch found;
    if (std::regex_search(text, found, std::regex(R"(global_batch (\d+) does)"))) {
      TrainingPlan plan = Recut(Plan70B(), text);
      plan.global_batch = Number(found[1]);
      EXPECT_THAT(CheckPlan(testing::Llama70B(), plan, nodes * 8), IsEmpty()) << text;
    }
    if (std::regex_search(text, found, std::regex(R"((\d+) nodes do)"))) {
      const auto at = static_cast<std::size_t>(found.position());
      EXPECT_THAT(CheckPlan(testing::Llama70B(), Recut(Plan70B(), text, at), Number(found[1]) * 8),
                  IsEmpty())
          << text;
    } else {
      EXPECT_THAT(text, HasSubstr("these fill")) << nodes;
    }
  }
}

TEST(PlanRemedies, NameNoNumberOfNodesThatTheClusterCannotHave) {
  // 32 servers are tp 8 x pp 4 x dp 8.
  EXPECT_THAT(HintOf(Plan70B(), 480, "TL1321", Servers(63)), HasSubstr("32 nodes do"));
  EXPECT_THAT(HintOf(Plan70B(), 480, "TL1321"), Not(HasSubstr("nodes")));
}

TEST(PlanRemedies, SayThatALayoutIsInTheWay) {
  TrainingPlan plan = Plan70B();
  plan.pp = 3;
  plan.layout = {27, 27, 26};
  const std::string hint = HintOf(plan, 512, "TL1321");
  EXPECT_THAT(hint, HasSubstr("parallel.layout is of 3 chunks"));
  EXPECT_THAT(hint, HasSubstr("without it these fill 512 GPUs"));
  plan.layout.clear();
  EXPECT_THAT(CheckPlan(testing::Llama70B(), Recut(plan, hint), 512), IsEmpty());
}

TEST(PlanRemedies, OfferNoLayoutWhoseChunksFillNoCluster) {
  TrainingPlan plan = Plan70B();
  plan.pp = 3;
  EXPECT_EQ(HintOf(plan, 512, "TL1324"), "use pp 2 or 4");
  // 384 GPUs are tp 8 x pp 3 x dp 16.
  EXPECT_THAT(HintOf(plan, 384, "TL1324"), HasSubstr("parallel.layout"));
  plan.layout = {27, 27, 26};
  EXPECT_THAT(CheckPlan(testing::Llama70B(), plan, 384), IsEmpty());
}

TEST(PlanRemedies, NameOnlyNumbersOfChunksThatSomeVpMakes) {
  TrainingPlan plan = Plan70B();
  plan.schedule = PipelineSchedule::kInterleaved;
  plan.vp = 3;
  EXPECT_THAT(HintOf(plan, 512, "TL1324"), HasSubstr("use vp 2 or 4, or give parallel.layout"));
  for (plan.vp = 2; plan.vp <= 25; ++plan.vp) {
    const std::string hint = HintOf(plan, 512, "TL1324");
    std::smatch found;
    if (!std::regex_search(hint, found, std::regex(R"(vp (\d+)(?: or (\d+))?)"))) continue;
    for (const std::size_t at : {1U, 2U}) {
      if (!found[at].matched) continue;
      TrainingPlan other = plan;
      other.vp = Number(found[at]);
      EXPECT_THAT(CheckPlan(testing::Llama70B(), other, 512), IsEmpty()) << hint;
    }
  }
}

TEST(PlanRemedies, NameNoBatchOutOfRange) {
  TrainingPlan plan = Plan70B();
  plan.micro_batch = plan.global_batch = 1'000'000;
  EXPECT_EQ(HintOf(plan, 512, "TL1326"),
            "with dp 16, use a micro_batch of at most 62500: global_batch is at most 1000000");
  plan.micro_batch = 62'500;
  EXPECT_EQ(HintOf(plan, 512, "TL1326"), "absent");
  plan.micro_batch = 1;
  plan.global_batch = 999'999;
  EXPECT_THAT(HintOf(plan, 512, "TL1326"), HasSubstr("use global_batch 999984 or 1000000"));
  plan.micro_batch = 40'000;
  EXPECT_THAT(HintOf(plan, 512, "TL1326"), ::testing::EndsWith("use global_batch 640000"));
}

TEST(PlanRemedies, NameTheBatchOfTheDataParallelSizeThatFillsTheCluster) {
  TrainingPlan plan = Plan70B();
  plan.dp = 5;
  EXPECT_EQ(HintOf(plan, 512, "TL1326"), "it is one with dp 16, which fills the cluster");
  plan.dp = 16;
  plan.global_batch = 500;
  EXPECT_EQ(HintOf(plan, 480, "TL1326"),
            "with dp 15, which fills the cluster, use global_batch 495 or 510");
}

}  // namespace
}  // namespace trunkline
