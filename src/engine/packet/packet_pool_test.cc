#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "engine/packet/packet.h"

namespace trunkline {
namespace {

TEST(PacketPool, KeepsPacketsWhereTheyAreAsItGrows) {
  PacketPool pool;
  constexpr std::uint32_t kCount = 100'000;  // three huge pages
  std::vector<Packet*> places;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const std::uint32_t id = pool.Take();
    ASSERT_EQ(id, i);
    pool[id].psn = i;
    places.push_back(&pool[id]);
  }
  for (std::uint32_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(&pool[i], places[i]);
    ASSERT_EQ(pool[i].psn, i);
  }
  EXPECT_EQ(pool.in_use(), kCount);
}

TEST(PacketPool, GivesTheNewestOfThoseReturnedFirst) {
  PacketPool pool;
  const std::uint32_t first = pool.Take();
  const std::uint32_t second = pool.Take();
  pool.Give(first);
  pool.Give(second);
  EXPECT_EQ(pool.in_use(), 0U);
  EXPECT_EQ(pool.Take(), second);
  EXPECT_EQ(pool.Take(), first);
  EXPECT_EQ(pool.Take(), 2U);
}

}  // namespace
}  // namespace trunkline
