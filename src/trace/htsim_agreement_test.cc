#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "trunkline/engine/packet.h"
#include "trunkline/fabric/build.h"
#include "trunkline/trace/traffic_file.h"

namespace trunkline {
namespace {

// Permutations of 2 MB messages between hosts of 100 Gb/s on k-ary fat trees of 1 us a link, whose
// completion times under spraying and NSCC were measured with the Ultra Ethernet Consortium's htsim
// (uet-htsim 40ccb05, `-sender_cc_only`, matrices of its generators). There a packet is 4,096 B
// with 64 B of headers, a queue holds a bandwidth-delay product of 43 packets and marks between 9
// and 35, an acknowledgement covers 16,384 B, and a flow completes when its sender knows.
struct HtsimRun {
  const char* matrix;
  const char* fabric;
  double min_us;
  double mean_us;
};

void PrintTo(const HtsimRun& run, std::ostream* out) { *out << run.matrix; }

class HtsimPermutation : public testing::TestWithParam<HtsimRun> {};

TEST_P(HtsimPermutation, CompletesWithinFivePercentOfHtsim) {
  const std::string path =
      std::string(TRUNKLINE_SOURCE_DIR) + "/../shared/samples/htsim/bench/" + GetParam().matrix;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const auto traffic = ReadTrafficFile(path);
  ASSERT_TRUE(traffic.has_value());

  auto spec = ParseFabricSpec(GetParam().fabric);
  ASSERT_TRUE(spec.has_value());
  spec->cable_latency = Time::Microseconds(1);
  spec->switch_latency = Time();
  const auto built = BuildFabric(*spec);
  ASSERT_TRUE(built.has_value());

  SwitchModel switches;
  switches.loss_control = LossControl::kLossy;
  switches.trimming = true;
  switches.buffer = Bytes(100'000'000);
  switches.queue = Bytes(43 * 4096);
  switches.marking = MarkingCurve{Bytes(9 * 4096), Bytes(35 * 4096), 1};
  // Six links of 1 us both ways, with a full packet one way and 64 B the other.
  const std::vector<CongestionOverride> overrides = {{"network_rtt", 12 + 6 * (0.32768 + 0.00512)}};
  const auto control = MakeCongestionControl("nscc", "", overrides, Rate::GigabitsPerSecond(100));
  ASSERT_TRUE(control.has_value());
  PacketTransport transport;
  transport.mtu = Bytes(4032);
  transport.packet_overhead = Bytes(64);
  transport.ack_bytes = Bytes(64);
  transport.ack_every = control->ack_every;
  transport.recovery = LossRecovery::kSelectiveRepeat;
  transport.path_selection = control->path_selection;
  transport.policy = control->policy;
  transport.policy_parameters = control->parameters;

  RouterOptions routing;
  routing.policy = RoutingPolicy::kSpray;
  const Router router(built->fabric, routing);
  const auto placement = PackedPlacement(built->fabric, traffic->ranks);
  ASSERT_TRUE(placement.has_value());
  const auto report = RunPacketTraffic({router, switches, transport}, *traffic, *placement, {});
  ASSERT_TRUE(report.has_value());
  ASSERT_EQ(report->status, RunStatus::kFinished);

  std::vector<double> us;
  for (const FlowRecord& flow : report->flows) {
    us.push_back((flow.acknowledged - flow.posted).seconds() * 1e6);
    EXPECT_GE(flow.delivered - flow.posted, flow.alone);
  }
  std::ranges::sort(us);
  double mean = 0;
  for (const double each : us) mean += each / static_cast<double>(us.size());
  std::cout << GetParam().matrix << ": min " << us.front() << " mean " << mean << " p99 "
            << us[us.size() * 99 / 100] << " max " << us.back() << " us; trimmed "
            << report->counters.trims << ", dropped " << report->counters.drops << ", timeouts "
            << report->counters.timeouts << ", marked " << report->counters.marks << "\n";
  EXPECT_NEAR(us.front(), GetParam().min_us, 0.05 * GetParam().min_us);
  EXPECT_NEAR(mean, GetParam().mean_us, 0.05 * GetParam().mean_us);
}

INSTANTIATE_TEST_SUITE_P(
    Bench, HtsimPermutation,
    testing::Values(HtsimRun{"perm_128.cm", "fat-tree:k=8,link=100Gb/s", 167.6, 191.7},
                    HtsimRun{"perm_1024.cm", "fat-tree:k=16,link=100Gb/s,uplink=200Gb/s", 167.2,
                             175.9}));

}  // namespace
}  // namespace trunkline
