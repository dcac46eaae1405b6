#include "trunkline/transport/transport.h"

#include <gtest/gtest.h>

namespace trunkline {
namespace {

TEST(Transport, NamesRoundTrip) {
  for (const auto kind :
       {TransportKind::kInfiniband, TransportKind::kRocev2, TransportKind::kTcp}) {
    EXPECT_EQ(ParseTransportKind(ToString(kind)), kind);
  }
  for (const auto protocol : {Protocol::kSimple, Protocol::kLl, Protocol::kLl128}) {
    EXPECT_EQ(ParseProtocol(ToString(protocol)), protocol);
  }
  EXPECT_EQ(ParseTransportKind("infinibandwidth"), std::nullopt);
  EXPECT_EQ(ParseProtocol(""), std::nullopt);
}

// Demystifying NCCL, arXiv 2507.04786, Table I: LL sends 4 B of flag with 4 B of data, LL128 8 B of
// flag with 120 B of data.
TEST(Transport, ProtocolsCarryThePayloadOfThePublishedTable) {
  EXPECT_EQ(PayloadPer128(Protocol::kSimple), 128);
  EXPECT_EQ(PayloadPer128(Protocol::kLl), 64);
  EXPECT_EQ(PayloadPer128(Protocol::kLl128), 120);
}

TEST(Transport, DefaultLatenciesGiveNcclsSmallMessageFigureOfEightGpus) {
  const TransportModel model = DefaultTransport(TransportKind::kInfiniband);
  const auto ll = static_cast<std::size_t>(Protocol::kLl);
  const auto nvlink = static_cast<std::size_t>(HopClass::kNvlink);
  EXPECT_EQ(model.ring_base_latency[ll] + model.step_latency[ll][nvlink] * 14,
            Time::Microseconds(15));
}

TEST(Transport, RingAndTreeRowsDifferWhereNcclsDo) {
  const TransportModel model = DefaultTransport(TransportKind::kRocev2);
  const auto ll128 = static_cast<std::size_t>(Protocol::kLl128);
  const auto network = static_cast<std::size_t>(HopClass::kNetwork);
  EXPECT_EQ(model.step_latency[ll128][network], Time::Microseconds(4));
  EXPECT_EQ(model.tree_step_latency[ll128][network], Time::Nanoseconds(8'500));
}

TEST(Transport, PacketsCarryTheHeadersOfTheirStandards) {
  EXPECT_EQ(DefaultTransport(TransportKind::kInfiniband).packet_overhead, Bytes(8 + 12 + 4 + 2));
  EXPECT_EQ(DefaultTransport(TransportKind::kRocev2).packet_overhead,
            Bytes(8 + 12 + 14 + 4 + 20 + 8 + 12 + 4));
  // 9,000-byte frames: MTU and overhead are the frame, preamble, gap, Ethernet header and FCS.
  const TransportModel tcp = DefaultTransport(TransportKind::kTcp);
  EXPECT_EQ(tcp.mtu + tcp.packet_overhead, Bytes(9000 + 8 + 12 + 14 + 4));
}

TEST(Transport, AnIdealTransportCostsNothing) {
  const TransportModel ideal = IdealTransport();
  EXPECT_EQ(ideal.packet_overhead, Bytes(0));
  EXPECT_EQ(ideal.message_overhead, Time());
  for (const auto& protocol : ideal.step_latency) {
    for (const Time latency : protocol) {
      EXPECT_EQ(latency, Time());
    }
  }
}

}  // namespace
}  // namespace trunkline
