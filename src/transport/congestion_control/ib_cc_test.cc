#include "base/test_units.h"
#include "transport/congestion_control/test_flow.h"

namespace trunkline {
namespace {

// Packets of 1,000 B take 80 ns at 100 Gb/s; entry 50 of 100 waits 500 ns after each.
TEST(IbCc, WaitsAfterEachPacketAsItsTableSays) {
  TestFlow flow("ib-cc", "", Rate::GigabitsPerSecond(100),
                {{"ccti_increase", 50}, {"ccti_limit", 100}, {"max_delay", 1}});
  EXPECT_EQ(flow.flow.rate, 100e9);
  flow.Notify(Us(1));
  EXPECT_NEAR(flow.flow.rate, 100e9 * 80 / 580, 1);
  for (int i = 0; i < 5; ++i) flow.Notify(Us(1));
  EXPECT_NEAR(flow.flow.rate, 100e9 * 80 / 1080, 1);  // the last entry
}

TEST(IbCc, MovesAStepBackWithEveryRunOfTheTimer) {
  TestFlow flow("ib-cc", "", Rate::GigabitsPerSecond(100),
                {{"ccti_increase", 5},
                 {"ccti_limit", 100},
                 {"ccti_min", 2},
                 {"ccti_timer", 10},
                 {"max_delay", 8}});
  const auto at = [&](double entry) { return 100e9 * 80 / (80 + 80 * entry); };
  EXPECT_NEAR(flow.flow.rate, at(2), 1);
  flow.Notify(Us(9));
  EXPECT_NEAR(flow.flow.rate, at(7), 1);
  flow.Send(Us(9.5));
  EXPECT_NEAR(flow.flow.rate, at(7), 1);
  flow.Send(Us(10.5));  // the timer runs freely
  EXPECT_NEAR(flow.flow.rate, at(6), 1);
  flow.Send(Us(35));
  EXPECT_NEAR(flow.flow.rate, at(4), 1);
  flow.Send(Us(500));
  EXPECT_NEAR(flow.flow.rate, at(2), 1);
}

}  // namespace
}  // namespace trunkline
