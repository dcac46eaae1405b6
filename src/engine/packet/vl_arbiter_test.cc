#include "engine/packet/vl_arbiter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace trunkline {
namespace {

// Lanes in the order in which they send packets of `bytes` when all of `ready` always could.
std::string Order(const VlArbitration& tables, std::uint8_t ready, std::uint32_t bytes,
                  int packets) {
  VlArbiter arbiter;
  std::string order;
  for (int i = 0; i < packets; ++i) {
    const auto lane = arbiter.Pick(tables, ready);
    if (!lane) return order + "none";
    order += std::to_string(*lane);
    arbiter.Sent(tables, ready, bytes);
  }
  return order;
}

// 4,096 bytes are 64 units: a weight of 128 is two packets, and one of 1 is a whole packet.
TEST(VlArbiter, SharesByWeightInTurns) {
  const VlArbitration tables{.high = {}, .low = {{0, 128}, {1, 1}, {2, 64}}, .high_limit = 0};
  EXPECT_EQ(Order(tables, 0b111, 4096, 9), "001200120");
  EXPECT_EQ(Order(tables, 0b101, 4096, 6), "002002");
}

TEST(VlArbiter, LetsHighPriorityGoFirstUpToItsLimit) {
  VlArbitration tables{.high = {{1, 255}}, .low = {{0, 255}}, .high_limit = 2};
  EXPECT_EQ(Order(tables, 0b11, 4096, 7), "1101101");  // 8 KiB, then one of low priority
  tables.high_limit = 0;
  EXPECT_EQ(Order(tables, 0b11, 4096, 6), "101010");
  tables.high_limit = VlArbitration::kNoLimit;
  EXPECT_EQ(Order(tables, 0b11, 4096, 6), "111111");
  EXPECT_EQ(Order(tables, 0b01, 4096, 3), "000");
}

TEST(VlArbiter, PassesOverLanesOfNoWeight) {
  const VlArbitration tables{.high = {{0, 0}}, .low = {{1, 10}}, .high_limit = 0};
  EXPECT_EQ(Order(tables, 0b11, 100, 3), "111");
  EXPECT_EQ(Order(tables, 0b01, 100, 3), "none");
}

}  // namespace
}  // namespace trunkline
