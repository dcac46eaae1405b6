#include "engine/packet/queue_pair_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "engine/packet/test_runs.h"
#include "trunkline/engine/packet.h"

namespace trunkline {
namespace {

TEST(QueuePairPool, GivesTheOneThatWasFreedLastToTheNextFlow) {
  QueuePairPool pool(true);
  EXPECT_EQ(pool.Take(7), 0U);
  EXPECT_EQ(pool.Take(3), 1U);
  EXPECT_EQ(pool.Find(3), 1U);
  pool.Give(0);
  EXPECT_EQ(pool.Take(9), 0U);
  EXPECT_EQ(pool.flow_of(0), 9U);
  EXPECT_EQ(pool.Take(1), 2U);
  EXPECT_EQ(pool.size(), 3U);
}

TEST(QueuePairPool, GivesEachFlowItsOwnWhereTracesOfOthersRemain) {
  QueuePairPool pool(false);
  EXPECT_EQ(pool.Take(7), 7U);
  pool.Give(7);
  EXPECT_EQ(pool.Take(3), 3U);
  EXPECT_EQ(pool.flow_of(7), 7U);
}

// Many small flows one after the other, between few hosts, without sampling and with it: where
// flows are sampled, each has its own queue pair.
TEST(QueuePairPool, ChangesNothingOfTheRun) {
  int reused = 0;
  for (SmallRun& small : SmallRuns(120)) {
    if (small.switches.loss_control == LossControl::kLossy || small.switches.frame_loss > 0) {
      continue;
    }
    small.faults.clear();
    small.transport.sockets.reset();
    const std::vector<SmallRun::Flow> once = small.flows;
    for (std::uint32_t round = 1; round <= 8; ++round) {
      for (SmallRun::Flow flow : once) {
        flow.start += Time::Microseconds(30) * round;
        flow.bytes = flow.bytes * round % 60'000;
        small.flows.push_back(flow);
      }
    }
    PacketOptions options;
    options.until = Time::Microseconds(3'000);
    const PacketReport report = RunSmall(small, options);
    options.sampling = PacketSampling{.every = options.until, .links = 1, .flows = 1};
    const PacketReport expected = RunSmall(small, options);
    EXPECT_EQ(report.events, expected.events) << small.description;
    EXPECT_EQ(report.stuck, expected.stuck) << small.description;
    EXPECT_EQ(report.counters.marks, expected.counters.marks) << small.description;
    EXPECT_EQ(report.counters.packets.control, expected.counters.packets.control)
        << small.description;
    ASSERT_EQ(report.flows.size(), expected.flows.size());
    for (std::size_t i = 0; i < report.flows.size(); ++i) {
      EXPECT_EQ(report.flows[i].delivered, expected.flows[i].delivered) << small.description;
      EXPECT_EQ(report.flows[i].acknowledged, expected.flows[i].acknowledged) << small.description;
      EXPECT_EQ(report.flows[i].alone, expected.flows[i].alone) << small.description;
    }
    ++reused;
  }
  EXPECT_GT(reused, 20);
}

}  // namespace
}  // namespace trunkline
