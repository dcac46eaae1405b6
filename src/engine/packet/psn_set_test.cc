#include "engine/packet/psn_set.h"

#include <gtest/gtest.h>

#include <set>

#include "engine/packet/reorder_window.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

// Against std::set, with a base that moves on and numbers that pass 2^32.
TEST(PsnSet, HoldsWhatAnOrdinarySetWouldWhileTheWindowMoves) {
  PsnSet ours;
  std::set<std::uint64_t> theirs;
  std::uint64_t base = (std::uint64_t{1} << 32) - 1'000;
  std::uint64_t draws = 0;
  const auto below = [&](std::uint64_t n) { return Below(Draw(1, 2, draws++), n); };
  const auto psn = [](std::uint64_t wide) { return static_cast<std::uint32_t>(wide); };
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t at = base + below(step % 500 == 0 ? 700 : 150);
    switch (below(6)) {
      case 4: {
        const std::uint64_t bits = Draw(1, 3, draws++) | 1;
        for (std::uint64_t i = 0; i < 64; ++i) {
          if ((bits >> i & 1) != 0) theirs.insert(at + i);
        }
        ours.InsertWord(psn(base), psn(at), bits);
        EXPECT_EQ(ours.Word(psn(base), psn(at)) & bits, bits);
        break;
      }
      case 5: {
        const std::uint64_t bits = Draw(1, 4, draws++);
        std::uint32_t erased = 0;
        for (std::uint64_t i = 0; i < 64; ++i) {
          if ((bits >> i & 1) != 0) erased += theirs.erase(at + i) != 0 ? 1 : 0;
        }
        EXPECT_EQ(ours.EraseWord(psn(base), psn(at), bits), erased);
        break;
      }
      case 0:
      case 1:
        EXPECT_EQ(ours.Insert(psn(base), psn(at)), theirs.insert(at).second);
        break;
      case 2: {
        const std::uint64_t to = base + below(20);
        const auto end = theirs.lower_bound(to);
        EXPECT_EQ(ours.EraseRange(psn(base), psn(to)), std::distance(theirs.begin(), end));
        theirs.erase(theirs.begin(), end);
        base = to;
        break;
      }
      default: {
        const auto next = theirs.lower_bound(at);
        const std::uint64_t end = at + 300;
        EXPECT_EQ(ours.First(psn(base), psn(end)),
                  psn(theirs.empty() || *theirs.begin() >= end ? end : *theirs.begin()));
        std::uint64_t word = 0;
        for (auto each = next; each != theirs.end() && *each < at + 64; ++each) {
          word |= std::uint64_t{1} << (*each - at);
        }
        EXPECT_EQ(ours.Word(psn(base), psn(at)), word);
      }
    }
  }
}

TEST(ReorderWindow, GivesPacketsBackInOrderAndOnce) {
  ReorderWindow window;
  EXPECT_EQ(window.TakeRun(0).packets, 0U);
  EXPECT_TRUE(window.Insert(0, 2, true));
  EXPECT_FALSE(window.Insert(0, 2, true));
  EXPECT_TRUE(window.Insert(0, 1, false));
  EXPECT_TRUE(window.Insert(0, 4, true));
  EXPECT_EQ(window.Arrived(0, 0), 0b10110U);
  const ReorderWindow::Run run = window.TakeRun(1);
  EXPECT_EQ(run.packets, 2U);
  EXPECT_EQ(run.messages, 1U);
  EXPECT_EQ(window.TakeRun(3).packets, 0U);
}

TEST(ReorderWindow, GivesLongRunsBackIn64s) {
  ReorderWindow window;
  for (std::uint32_t psn = 1; psn <= 100; ++psn) {
    EXPECT_TRUE(window.Insert(0, psn, psn % 50 == 0));
  }
  EXPECT_EQ(window.TakeRun(1).messages, 1U);
  EXPECT_EQ(window.TakeRun(65).packets, 36U);
}

}  // namespace
}  // namespace trunkline
