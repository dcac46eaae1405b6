#include "base/side_by_side.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <thread>
#include <vector>

#include "base/test_sanitizers.h"

namespace trunkline {
namespace {

TEST(SideBySide, DoesEveryPieceOnce) {
  for (const std::size_t count : {0U, 1U, 2U, 1000U}) {
    std::vector<int> done(count);
    SideBySide(count, [&](std::size_t i) { ++done[i]; });
    EXPECT_THAT(done, ::testing::Each(1));
    EXPECT_EQ(done.size(), count);
  }
}

TEST(SideBySide, ThrowsOnWhatAPieceThrows) {
  EXPECT_THROW(SideBySide(100,
                          [](std::size_t i) {
                            if (i == 7) throw std::bad_alloc();
                          }),
               std::bad_alloc);
}

TEST(SideBySide, DoesTheOwnPieceOnTheCallingThreadBesideTheOthers) {
  std::vector<int> done(100);
  std::thread::id own;
  Beside([&] { own = std::this_thread::get_id(); }, done.size(), [&](std::size_t i) { ++done[i]; });
  EXPECT_EQ(own, std::this_thread::get_id());
  EXPECT_THAT(done, ::testing::Each(1));
}

TEST(SideBySide, ThrowsOnWhatTheOwnPieceThrows) {
  EXPECT_THROW(Beside([] { throw std::bad_alloc(); }, 3, [](std::size_t) {}), std::bad_alloc);
}

// Threads have stacks, for which a process that may have no more addresses has no room.
TEST(SideBySide, DoesEveryPieceWhereTheSystemLendsNoThread) {
  const auto alone = [] {
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = 1;
    if (!kSanitized) setrlimit(RLIMIT_AS, &limit);
    std::array<std::atomic<int>, 100> done{};
    SideBySide(done.size(), [&](std::size_t i) { ++done[i]; });
    _exit(std::ranges::all_of(done, [](int times) { return times == 1; }) ? 0 : 1);
  };
  EXPECT_EXIT(alone(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace trunkline
