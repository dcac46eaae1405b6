#include "engine/packet/calendar_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

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
    const bool more = heap_.Turn(INT64_MAX);
    EXPECT_EQ(!calendar_.empty() || calendar_.Turn(INT64_MAX), more);
    if (!more || calendar_.empty()) return -1;
    const PacketEvent event = calendar_.Top();
    EXPECT_EQ(event.time, heap_.Top().time);
    EXPECT_EQ(event.key, heap_.Top().key);
    const std::int64_t time = event.time;
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

// Zones that push for each other a window or more ahead, as switches do over cables.
TEST(CalendarQueue, GoesThroughEachZoneInOrderAndThroughAllOfThemWindowByWindow) {
  constexpr std::uint32_t kZones = 70;
  constexpr std::int64_t kWindow = 1'000'000;
  CalendarQueue queue(Time::Picoseconds(kWindow), Time::Microseconds(3), kZones);
  std::mt19937_64 random(1);
  std::uint64_t pushed = 0;
  const auto push = [&](std::int64_t time, std::uint32_t zone) {
    queue.Push(PacketEvent::Make(time, Kind::kArrival, zone, static_cast<std::uint32_t>(pushed++)),
               zone);
  };
  for (std::uint32_t zone = 0; zone < kZones; ++zone) push(zone * 10'000, zone);
  std::vector<std::int64_t> now(kZones, 0);
  std::int64_t handled_until = 0;  // nothing of any zone may be before
  std::uint64_t popped = 0;
  for (std::int64_t limit = 700'000; limit < 300'000'000; limit += 700'000) {
    while (!queue.empty() || queue.Turn(limit)) {
      queue.Sort();
      ASSERT_LE(queue.until(), limit);
      ASSERT_LE(queue.until() - handled_until, kWindow);
      while (!queue.empty()) {
        const PacketEvent event = queue.Top();
        queue.Pop();
        ++popped;
        const std::uint32_t zone = event.entity();
        ASSERT_EQ(zone, queue.zone());
        ASSERT_GE(event.time, std::max(now[zone], handled_until));
        ASSERT_LT(event.time, queue.until());
        now[zone] = event.time;
        if (pushed > 30'000) continue;
        // At once here, a cable's delay later anywhere, or beyond the calendar.
        if (random() % 8 == 0) push(event.time, zone);
        if (random() % 8 != 0) {
          push(event.time + kWindow + static_cast<std::int64_t>(random() % 900'000),
               static_cast<std::uint32_t>(random() % kZones));
        }
        if (random() % 50 == 0)
          push(event.time + 40'000'000, static_cast<std::uint32_t>(random() % kZones));
      }
    }
    handled_until = limit;
    ASSERT_GE(queue.next_time(), limit);
  }
  EXPECT_EQ(popped, pushed);
  EXPECT_GT(pushed, 10'000U);
}

// Far off: a calendar of so few windows does not reach that far.
TEST(CalendarQueue, GivesAMarkedZoneItsTurnInTheWindowOfItsTimeOrSoonerIfThatIsFarOff) {
  constexpr std::int64_t kWindow = 1 << 20;
  CalendarQueue queue(Time::Picoseconds(kWindow), Time::Picoseconds(3 * kWindow), 70);
  queue.Mark(69, 2 * kWindow + 5);
  EXPECT_EQ(queue.next_time(), 2 * kWindow);
  ASSERT_TRUE(queue.Turn(INT64_MAX));
  EXPECT_EQ(queue.zone(), 69U);
  EXPECT_EQ(queue.until(), 3 * kWindow);
  EXPECT_TRUE(queue.empty());
  const std::int64_t far = 1'000 * kWindow + 5;
  std::int64_t before = queue.until();
  for (int turns = 0; queue.until() <= far; ++turns) {
    ASSERT_LT(turns, 1'000);
    queue.Mark(69, far);
    ASSERT_TRUE(queue.Turn(INT64_MAX));
    EXPECT_EQ(queue.zone(), 69U);
    EXPECT_GT(queue.until(), before);
    before = queue.until();
  }
  EXPECT_EQ(queue.until(), 1'001 * kWindow);
  EXPECT_FALSE(queue.Turn(INT64_MAX));
  EXPECT_EQ(queue.next_time(), INT64_MAX);
}

TEST(CalendarQueue, GivesAZonesBucketUnsortedAndKeepsWhatIsLeftOfIt) {
  CalendarQueue queue(Time::Microseconds(1), Time::Microseconds(3), 2);
  for (const std::int64_t time : {700'000, 20, 500'000, 300'000}) {
    queue.Push(PacketEvent::Make(time, Kind::kArrival, 1), 1);
  }
  ASSERT_TRUE(queue.Turn(INT64_MAX));
  ASSERT_EQ(queue.today().size(), 4U);
  std::uint32_t before = 0;
  for (const std::int64_t time : {20, 300'000, 500'000, 700'000}) {
    const std::uint32_t part = queue.parts().Of(time);
    EXPECT_GE(part, before);
    EXPECT_LT(part, CalendarQueue::kWindowParts);
    before = part;
  }
  EXPECT_GT(before, CalendarQueue::kWindowParts / 4);
  queue.Leave(2);
  queue.Sort();
  EXPECT_EQ(queue.Top().time, 20);
  queue.Pop();
  EXPECT_EQ(queue.Top().time, 700'000);
  queue.Pop();
  EXPECT_TRUE(queue.empty());
}

TEST(CalendarQueue, HasAllZonesComeToAnEventThatMayTouchAny) {
  CalendarQueue queue(Time::Microseconds(1), Time::Microseconds(3), 2);
  queue.Push(PacketEvent::Make(400, Kind::kArrival, 0, 1), 0);
  queue.Push(PacketEvent::Make(600, Kind::kArrival, 0, 2), 0);
  queue.Push(PacketEvent::Make(500, Kind::kArrival, 1, 3), 1);
  queue.PushEverywhere(PacketEvent::Make(500, Kind::kPost, 9, 0));
  queue.PushEverywhere(PacketEvent::Make(500, Kind::kFault, 8, 0));
  std::vector<std::int64_t> times;
  std::vector<Kind> kinds;
  while (!queue.empty() || queue.Turn(INT64_MAX)) {
    if (queue.empty()) continue;
    times.push_back(queue.Top().time);
    kinds.push_back(queue.Top().kind());
    queue.Pop();
  }
  EXPECT_EQ(times, (std::vector<std::int64_t>{400, 500, 500, 500, 600}));
  EXPECT_EQ(kinds, (std::vector<Kind>{Kind::kArrival, Kind::kFault, Kind::kArrival, Kind::kPost,
                                      Kind::kArrival}));
}

}  // namespace
}  // namespace trunkline
