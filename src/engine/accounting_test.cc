#include "engine/accounting.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/test_units.h"

namespace trunkline {
namespace {

// Builds a program task by task, with the times at which each ran (in microseconds).
class Account {
 public:
  Account& Ran(TaskKind kind, std::uint8_t stream, std::int64_t start, std::int64_t sent,
               std::int64_t end, std::vector<std::uint32_t> dependencies = {}) {
    Task task;
    task.kind = kind;
    task.stream = stream;
    task.first_dependency = static_cast<std::uint32_t>(program_.dependencies.size());
    task.dependency_count = static_cast<std::uint32_t>(dependencies.size());
    program_.dependencies.insert(program_.dependencies.end(), dependencies.begin(),
                                 dependencies.end());
    program_.tasks.push_back(task);
    times_.push_back({Us(start), Us(sent), Us(end)});
    return *this;
  }
  Account& Compute(std::int64_t start, std::int64_t end,
                   std::vector<std::uint32_t> dependencies = {}) {
    return Ran(TaskKind::kCompute, 0, start, start, end, std::move(dependencies));
  }
  Account& Collective(std::int64_t start, std::int64_t end,
                      std::vector<std::uint32_t> dependencies = {}) {
    return Ran(TaskKind::kCollective, 1, start, start, end, std::move(dependencies));
  }
  Account& Receive(std::int64_t start, std::int64_t sent, std::int64_t end,
                   std::vector<std::uint32_t> dependencies = {}) {
    return Ran(TaskKind::kReceive, 2, start, sent, end, std::move(dependencies));
  }
  [[nodiscard]] RankSummary Rank(std::int64_t step_end) const {
    const RankSummary s = AccountRank(RankId{7}, program_, times_, Us(step_end));
    EXPECT_EQ(s.compute + s.exposed_communication + s.bubble + s.other, Us(step_end));
    return s;
  }
  [[nodiscard]] std::vector<CollectiveSummary> Collectives() const {
    return AccountCollectives(program_, times_);
  }
  // With the bound of each set to that.
  [[nodiscard]] std::vector<CollectiveSummary> Timed(std::int64_t bound) const {
    std::vector<CollectiveSummary> summaries = Collectives();
    for (CollectiveSummary& summary : summaries) summary.bound = Us(bound);
    TimeCollectives(program_, times_, summaries);
    return summaries;
  }

 private:
  Program program_;
  std::vector<TaskTimes> times_;
};

TEST(AccountRank, CountsACollectiveThatComputeWaitsForAsExposed) {
  const RankSummary s =
      Account().Compute(0, 10).Collective(10, 14, {0}).Compute(14, 20, {1}).Rank(20);
  EXPECT_EQ(s.compute, Us(16));
  EXPECT_EQ(s.exposed_communication, Us(4));
  EXPECT_EQ(s.bubble, Us(0));
  EXPECT_EQ(s.other, Us(0));
  EXPECT_EQ(s.finish, Us(20));
  EXPECT_EQ(s.communication, Us(4));
  EXPECT_EQ(s.rank, RankId{7});
}

TEST(AccountRank, ChargesNothingForACollectiveBehindCompute) {
  const RankSummary s =
      Account().Compute(0, 10).Collective(10, 18, {0}).Compute(10, 20, {0}).Rank(20);
  EXPECT_EQ(s.compute, Us(20));
  EXPECT_EQ(s.exposed_communication, Us(0));
  EXPECT_EQ(s.communication, Us(8));
}

TEST(AccountRank, SplitsTheWaitForAReceiveAtTheStartOfTheSendersTransfer) {
  const RankSummary s = Account().Receive(0, 7, 9).Compute(9, 12, {0}).Rank(12);
  EXPECT_EQ(s.bubble, Us(7));
  EXPECT_EQ(s.exposed_communication, Us(2));
  EXPECT_EQ(s.communication, Us(2));
}

TEST(AccountRank, CountsNoBubbleForAMessageThatWasSentEarly) {
  const RankSummary s = Account().Compute(0, 5).Receive(5, 3, 8, {0}).Compute(8, 9, {1}).Rank(9);
  EXPECT_EQ(s.bubble, Us(0));
  EXPECT_EQ(s.exposed_communication, Us(3));
  EXPECT_EQ(s.communication, Us(5));
}

TEST(AccountRank, FollowsAChainOfCommunicationBackToTheLastCompute) {
  // compute, then a receive (bubble until 14), then a collective on what was received.
  const RankSummary s = Account()
                            .Compute(0, 10)
                            .Receive(2, 14, 16)
                            .Collective(16, 19, {1})
                            .Compute(19, 20, {2})
                            .Rank(20);
  EXPECT_EQ(s.compute, Us(11));
  EXPECT_EQ(s.bubble, Us(4));
  EXPECT_EQ(s.exposed_communication, Us(5));
}

TEST(AccountRank, FollowsTheStreamPredecessorOfACollective) {
  const RankSummary s =
      Account().Compute(0, 4).Collective(4, 8, {0}).Collective(8, 11).Compute(11, 12, {2}).Rank(12);
  EXPECT_EQ(s.exposed_communication, Us(7));
}

TEST(AccountRank, FollowsTheEarlierCollectiveOfTheSameCommunicatorOnAnotherStream) {
  const RankSummary s = Account()
                            .Compute(0, 4)
                            .Ran(TaskKind::kCollective, 2, 4, 4, 8, {0})
                            .Collective(8, 11)
                            .Compute(11, 12, {2})
                            .Rank(12);
  EXPECT_EQ(s.exposed_communication, Us(7));
}

TEST(AccountRank, ExposesCommunicationAfterTheLastComputeAndLeavesTheRestToOther) {
  const RankSummary s = Account().Compute(0, 10).Collective(10, 15, {0}).Rank(18);
  EXPECT_EQ(s.finish, Us(15));
  EXPECT_EQ(s.exposed_communication, Us(5));
  EXPECT_EQ(s.other, Us(3));
}

TEST(AccountRank, GivesTheWholeStepOfAnEmptyProgramToOther) {
  EXPECT_EQ(Account().Rank(5).other, Us(5));
}

TEST(AccountRank, DoesNotCountOverlappingComputeTwice) {
  const RankSummary s = Account().Compute(0, 10).Ran(TaskKind::kCompute, 3, 5, 5, 12).Rank(12);
  EXPECT_EQ(s.compute, Us(12));
}

TEST(AccountRank, CountsTheWaitForTheLastMemberOfACollectiveAsABubble) {
  const RankSummary s = Account()
                            .Compute(0, 10)
                            .Ran(TaskKind::kCollective, 1, 10, 13, 18, {0})
                            .Compute(18, 20, {1})
                            .Rank(20);
  EXPECT_EQ(s.bubble, Us(3));
  EXPECT_EQ(s.exposed_communication, Us(5));
  EXPECT_EQ(s.communication, Us(5));
}

TEST(SentOf, IsTheLastArrivalWhereTheResultNeedsEveryMember) {
  const TaskTimes times{.start = Us(2), .sent = Us(2), .end = Us(9)};
  EXPECT_EQ(SentOf(Primitive::kAllReduce, times, Us(5)), Us(5));
  EXPECT_EQ(SentOf(Primitive::kBroadcast, times, Us(5)), Us(2));
  // Done before the last came.
  EXPECT_EQ(SentOf(Primitive::kReduceScatter, times, Us(10)), Us(2));
}

TEST(AccountCollectives, TellsWaitingFromExposedCommunication) {
  const auto summaries =
      Account().Compute(0, 10).Ran(TaskKind::kCollective, 1, 8, 12, 15).Collectives();
  ASSERT_EQ(summaries.size(), 1U);
  EXPECT_EQ(summaries[0].total, Us(7));
  EXPECT_EQ(summaries[0].waiting, Us(4));
  EXPECT_EQ(summaries[0].exposed, Us(3));
}

TEST(AccountCollectives, SubtractsWhatComputeHides) {
  const auto summaries =
      Account().Compute(0, 10).Collective(8, 14).Compute(12, 13).Collective(14, 15).Collectives();
  ASSERT_EQ(summaries.size(), 1U);
  EXPECT_EQ(summaries[0].count, 2U);
  EXPECT_EQ(summaries[0].total, Us(7));
  EXPECT_EQ(summaries[0].exposed, Us(4));  // [10, 12], [13, 14], [14, 15]
}

// Calls take 6, 5 and 3 from their last member on; where 5 is the least that all bytes take, the
// third had moved some before.
TEST(TimeCollectives, LeavesOutCallsInWhichEarlyMembersHadMovedBytes) {
  const auto summaries = Account()
                             .Ran(TaskKind::kCollective, 1, 0, 2, 8)
                             .Ran(TaskKind::kCollective, 1, 8, 8, 13)
                             .Ran(TaskKind::kCollective, 1, 13, 20, 23)
                             .Timed(5);
  ASSERT_EQ(summaries.size(), 1U);
  EXPECT_EQ(summaries[0].count, 3U);
  EXPECT_EQ(summaries[0].timed_count, 2U);
  EXPECT_EQ(summaries[0].timed, Us(11));
}

}  // namespace
}  // namespace trunkline
