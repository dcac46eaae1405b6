#include "engine/coupled/critical_messages.h"

#include <gtest/gtest.h>

namespace trunkline {
namespace {

MessageLog::Entry Message(std::uint32_t source, std::uint32_t destination, std::int64_t begin,
                          std::int64_t delivered) {
  return {.source = RankId(source),
          .destination = RankId(destination),
          .begin = Time::Picoseconds(begin),
          .delivered = Time::Picoseconds(delivered)};
}

TEST(MessageLog, FollowsWhatHadLastArrivedAtEachSender) {
  MessageLog log(3);
  log.Add(Message(0, 1, 0, 10));
  log.Add(Message(2, 1, 0, 20));
  log.Add(Message(1, 0, 20, 30));
  const auto chain = log.Chain();
  ASSERT_EQ(chain.size(), 2);
  EXPECT_EQ(chain[0].source, RankId(2));
  EXPECT_EQ(chain[1].source, RankId(1));
}

TEST(MessageLog, EndsWhereMessagesTakeNoTime) {
  MessageLog log(2);
  log.Add(Message(0, 1, 5, 5));
  log.Add(Message(1, 0, 5, 5));
  EXPECT_EQ(log.Chain().size(), 1);
}

}  // namespace
}  // namespace trunkline
