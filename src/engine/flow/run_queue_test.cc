#include "engine/flow/run_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "trunkline/base/random.h"

namespace trunkline {
namespace {

// What leaves is what came, in order of time; `delay(step)` is how far ahead of the clock it comes.
template <typename Delay>
void ExpectInOrder(Delay delay) {
  RunQueue queue;
  std::map<std::int64_t, std::set<std::uint32_t>> expected;
  std::int64_t clock = 0;
  const auto pop = [&] {
    ASSERT_FALSE(queue.empty());
    clock = queue.next_time().ps();
    ASSERT_EQ(clock, expected.begin()->first);
    const std::uint32_t id = queue.next_id();
    ASSERT_EQ(queue.Pop(), id);
    ASSERT_EQ(expected.begin()->second.erase(id), 1U);
    if (expected.begin()->second.empty()) expected.erase(expected.begin());
  };
  for (std::uint32_t step = 0; step < 4000; ++step) {
    const std::int64_t time = clock + delay(step);
    queue.Add(step, Time::Picoseconds(time));
    expected[time].insert(step);
    // About 100 wait at a time, and now and then none.
    if (step % 1000 == 999) {
      while (!expected.empty()) pop();
      EXPECT_TRUE(queue.empty());
    } else if (step % 1000 > 100) {
      pop();
    }
  }
}

TEST(RunQueue, LetsDelaysOfFewLengthsLeaveInOrderOfTime) {
  ExpectInOrder([](std::uint32_t step) {
    return std::int64_t{500} * (1 + static_cast<std::int64_t>(Below(Draw(1, 0, step), 4)));
  });
}

TEST(RunQueue, LetsDelaysOfAnyLengthLeaveInOrderOfTime) {
  ExpectInOrder(
      [](std::uint32_t step) { return static_cast<std::int64_t>(Below(Draw(2, 0, step), 1000)); });
}

TEST(RunQueue, LetsWhatComesInFallingOrderLeaveInOrderOfTime) {
  ExpectInOrder([](std::uint32_t step) { return std::int64_t{5000} - step; });
}

}  // namespace
}  // namespace trunkline
