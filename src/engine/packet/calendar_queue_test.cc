#include "engine/packet/calendar_queue.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace trunkline {
namespace {

using Kind = PacketEventKind;

// Pushes the same into a calendar and a heap; whether both give it back in the same order.
class Both {
 public:
  explicit Both(Time width) : calendar_(width, Time::Microseconds(3)) {}

  void Push(std::int64_t time, Kind kind, std::uint32_t entity, std::uint32_t payload) {
    const PacketEvent event = PacketEvent::Make(time, kind, entity, payload);
    calendar_.Push(event);
    heap_.Push(event);
  }
  // The time of the next event, which is taken; -1 when there is none.
  std::int64_t Pop() {
    const PacketEvent* const expected = heap_.Top();
    const PacketEvent* const event = calendar_.Top();
    EXPECT_EQ(event == nullptr, expected == nullptr);
    if (event == nullptr || expected == nullptr) return -1;
    EXPECT_EQ(event->time, expected->time);
    EXPECT_EQ(event->key, expected->key);
    const std::int64_t time = event->time;
    calendar_.Pop();
    heap_.Pop();
    return time;
  }

 private:
  CalendarQueue calendar_;
  HeapQueue heap_{Time(), Time()};
};

TEST(CalendarQueue, GivesRandomEventsInTheOrderOfAHeap) {
  for (const std::int64_t width : {1, 300, 5'000, 100'000, 40'000'000}) {
    Both queues(Time::Picoseconds(width));
    std::mt19937_64 random(static_cast<std::uint64_t>(width));
    std::int64_t now = 0;
    const auto push = [&] {
      // Mostly a cable's latency later, sometimes at once, sometimes beyond the calendar.
      const std::uint64_t how = random() % 16;
      const std::int64_t after = how == 0 ? 0
                                 : how == 1
                                     ? static_cast<std::int64_t>(random() % 100'000'000)
                                     : 1'000'000 + static_cast<std::int64_t>(random() % 9'000);
      queues.Push(now + after, random() % 4 == 0 ? Kind::kPortDone : Kind::kArrival,
                  static_cast<std::uint32_t>(random() % 5'000),
                  static_cast<std::uint32_t>(random() % 1'000'000));
    };
    for (int i = 0; i < 2'000; ++i) push();
    for (int i = 0; i < 20'000; ++i) {
      now = queues.Pop();
      ASSERT_FALSE(HasFailure()) << "width " << width << ", event " << i;
      push();
    }
    while (queues.Pop() >= 0) ASSERT_FALSE(HasFailure()) << "width " << width;
  }
}

TEST(CalendarQueue, OrdersEventsOfOneTimeByKindEntityAndPayload) {
  for (const std::uint32_t count : {2U, 4U, 7U, 8U, 9U, 16U, 17U, 300U, 5'000U}) {
    for (const std::uint32_t entities : {1U, 3U, 100'000U}) {
      for (const std::uint32_t kinds : {1U, 2U}) {
        Both queues(Time::Picoseconds(4'096));
        std::mt19937_64 random(count + entities + kinds);
        for (std::uint32_t i = 0; i < count; ++i) {
          queues.Push(7'777, random() % kinds == 0 ? Kind::kArrival : Kind::kRefresh,
                      static_cast<std::uint32_t>(random() % entities), count - i);
        }
        while (queues.Pop() >= 0) {
          ASSERT_FALSE(HasFailure()) << count << " events of " << entities << " entities";
        }
      }
    }
  }
}

TEST(CalendarQueue, TakesEventsBeforeTheOneItHasShown) {
  Both queues(Time::Picoseconds(1'000));
  queues.Push(5'000'000, Kind::kArrival, 1, 1);
  queues.Push(1'000, Kind::kArrival, 1, 1);
  EXPECT_EQ(queues.Pop(), 1'000);
  EXPECT_EQ(queues.Pop(), 5'000'000);
  EXPECT_EQ(queues.Pop(), -1);
  queues.Push(5'000'000, Kind::kPost, 3, 0);
  EXPECT_EQ(queues.Pop(), 5'000'000);
}

}  // namespace
}  // namespace trunkline
