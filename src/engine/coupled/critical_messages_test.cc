#include "engine/coupled/critical_messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace trunkline {
namespace {

MessageLog::Entry Message(std::uint32_t source, std::uint32_t destination, std::int64_t begin,
                          std::int64_t delivered) {
  return {.source = RankId(source),
          .destination = RankId(destination),
          .begin = Time::Picoseconds(begin),
          .delivered = Time::Picoseconds(delivered)};
}

TEST(CriticalChain, FollowsWhatHadLastArrivedAtEachSenderWhicheverShardKeptIt) {
  std::vector<MessageLog::Entry> messages = {Message(0, 1, 0, 10), Message(2, 1, 0, 20),
                                             Message(1, 0, 20, 30)};
  for (std::size_t turn = 0; turn < messages.size(); ++turn) {
    const auto chain = CriticalChain(messages, 3);
    ASSERT_EQ(chain.size(), 2);
    EXPECT_EQ(chain[0].source, RankId(2));
    EXPECT_EQ(chain[1].source, RankId(1));
    std::ranges::rotate(messages, messages.begin() + 1);
  }
}

TEST(CriticalChain, EndsWhereMessagesTakeNoTime) {
  EXPECT_EQ(CriticalChain({Message(0, 1, 5, 5), Message(1, 0, 5, 5)}, 2).size(), 1);
}

}  // namespace
}  // namespace trunkline
