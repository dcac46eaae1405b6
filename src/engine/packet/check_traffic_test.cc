#include "engine/packet/check_traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/test_fabrics.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A message from rank 0 to rank `destination` of two servers with two GPUs each.
class CheckPacketTrafficTest : public ::testing::Test {
 protected:
  CheckPacketTrafficTest() {
    flow_.source = RankId(0);
    flow_.destination = RankId(2);
    flow_.bytes = Bytes(4096);
    traffic_.ranks = 4;
  }
  Diagnostics Check() {
    traffic_.flows = {flow_};
    return CheckPacketTraffic({router_, switches_, transport_}, traffic_, placement_);
  }
  Diagnostic OnlyProblem() {
    const Diagnostics problems = Check();
    EXPECT_THAT(problems, SizeIs(1));
    return problems.empty() ? Diagnostic() : problems.front();
  }

  Fabric fabric_ = ServerFabric{.gpus = 2}.Build();
  Router router_{fabric_, {.policy = RoutingPolicy::kEcmp}};
  Placement placement_ = *PackedPlacement(fabric_, 4);
  SwitchModel switches_;
  PacketTransport transport_;
  TrafficFlow flow_;
  TrafficWorkload traffic_;
};

TEST_F(CheckPacketTrafficTest, AcceptsAMessageBetweenNodes) { EXPECT_THAT(Check(), IsEmpty()); }

TEST_F(CheckPacketTrafficTest, RefusesRanksWithoutAPlace) {
  traffic_.ranks = 5;
  EXPECT_EQ(OnlyProblem().code, "TL1600");
}

TEST_F(CheckPacketTrafficTest, RefusesTheClassOfControlPackets) {
  flow_.traffic_class = 1;
  EXPECT_EQ(OnlyProblem().code, "TL1816");
  EXPECT_THAT(OnlyProblem().hint, HasSubstr("3 classes"));
  switches_.classes = 3;
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(CheckPacketTrafficTest, RefusesMoreThanTwoBillionPackets) {
  flow_.bytes = Bytes(4096) * (std::int64_t{1} << 31);
  EXPECT_EQ(OnlyProblem().code, "TL1817");
  flow_.bytes = Bytes(4096) * (std::int64_t{1} << 30);
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(CheckPacketTrafficTest, RefusesMessagesInsideANode) {
  flow_.destination = RankId(1);
  EXPECT_EQ(OnlyProblem().code, "TL1818");
  EXPECT_THAT(OnlyProblem().message, HasSubstr("ranks 0 and 1"));
  const auto report = RunPacketTraffic({router_, switches_, transport_}, traffic_, placement_, {});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().front().code, "TL1818");
}

}  // namespace
}  // namespace trunkline
