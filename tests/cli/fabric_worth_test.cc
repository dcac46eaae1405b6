#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "process.h"

namespace trunkline {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(FabricWorth, ComparisonIsOneDocumentWithTimesAndPrices) {
  const Outcome outcome = RunTrunkline(
      {"fabric", "compare", "single-switch:nodes=8", "tree:arity=[4,2],taper=[4]", "--json", "-q"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(json["fabrics"].size(), 2U);
  EXPECT_GT(json["fabrics"][0]["cost"]["total"], 0);
  ASSERT_EQ(json["trials"].size(), 2U);
  // 16 messages cross an uplink as fast as a NIC, which sends seven.
  const double flat = json["trials"][0]["all_to_all_s"];
  const double tapered = json["trials"][1]["all_to_all_s"];
  EXPECT_NEAR(tapered / flat, 16.0 / 7, 0.02 * 16 / 7);
}

TEST(FabricWorth, ComparesThePriceOfAnEndpointWhereThereAreNoGpus) {
  const Outcome outcome = RunTrunkline(
      {"fabric", "compare", "single-switch:nodes=8", "tree:arity=[4,2],taper=[4]", "-q"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("per endpoint"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("per GPU"), std::string::npos) << outcome.out;
}

TEST(FabricWorth, AdviceOverEveryBudgetEndsWithTheStatusOfTheInfeasible) {
  const Outcome outcome =
      RunTrunkline({"fabric", "advise", "--gpus", "16", "--radix", "32", "--budget", "1", "-q"});
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("over the budget"));
}

TEST(FabricWorth, GrowthIsWrittenAsPageAndFigures) {
  const std::string folder = testing::TempDir() + "fabric_worth_growth";
  std::filesystem::remove_all(folder);
  const Outcome outcome =
      RunTrunkline({"fabric", "cost", "clos:radix=8", "--grow", "100", "--out", folder});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("a tier more"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/growth.json"));
}

TEST(FabricWorth, RefusesFlagsThatItsVerbDoesNotReadAndValuesThatAreNone) {
  const auto refused = [](const std::vector<std::string>& words, const std::string& message) {
    const Outcome outcome = RunTrunkline(words);
    EXPECT_EQ(outcome.status, 2) << outcome.out;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, HasSubstr(message));
  };
  refused({"fabric", "show", "fat-tree:k=4", "--prices", "ndr-2024"}, "does not read --prices");
  refused({"fabric", "cost", "fat-tree:k=4", "--prices", "ndr-2042"}, "TL1430");
  refused({"fabric", "cost", "fat-tree:k=4", "--out", "x"}, "add --grow");
  refused({"fabric", "cost", "clos:radix=8", "--grow", "-5"}, "not a whole number");
  refused({"fabric", "cost", "clos:radix=8", "--grow", "1"}, "TL1433");
  refused({"fabric", "export", "fat-tree:k=4", "--json"}, "--json: what is written is a file");
  refused({"fabric", "advise"}, "add --gpus 2048");
  refused({"fabric", "advise", "--gpus", "99999999999"}, "from 1 to 4294967295");
  refused({"fabric", "show", "fat-tree:k=4", "--radix", "5"}, "it is of `fabric advise`");
  refused({"fabric", "check", "-", "--expect", "-"}, "standard input can be read once");
  refused({"fabric", "advise", "--gpus", "12"}, "TL1432");
  refused({"fabric", "advise", "--gpus", "16", "--budget", "5 M"}, "not an amount");
  refused({"fabric", "advise", "--gpus", "16", "--mix", "allreduce=x"}, "no weight");
  refused({"fabric", "advise", "--gpus", "16", "--mix", "alltoall=1,alltoall=2"}, "two weights");
  refused({"fabric", "advise", "--gpus", "16", "--node", "dgx-h10"}, "dgx-h100");
}

}  // namespace
}  // namespace trunkline
