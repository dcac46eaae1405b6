#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "trunkline/transport/congestion_control.h"

namespace trunkline {

// One flow under a congestion control, told by hand what the network does.
class TestFlow {
 public:
  // A path with a base round trip of 10 us and packets of 1,000 B on the wire: at 100 Gb/s it holds
  // 125 of them.
  TestFlow(std::string_view policy, std::string_view preset, Rate rate,
           std::vector<CongestionOverride> overrides = {}) {
    const auto made = MakeCongestionControl(policy, preset, overrides, rate);
    EXPECT_TRUE(made.has_value());
    control = *made;
    path = {.line_rate = rate,
            .base_rtt = Time::Microseconds(10),
            .mtu = Bytes(1000),
            .frame = Bytes(1000),
            .hops = 4};
    control.policy.start(control.parameters.get(), path, Time(), flow);
  }

  // An acknowledgement of `packets` new packets, `marked` of them, `rtt` after the newest was sent.
  void Ack(Time now, Time rtt, std::uint32_t packets = 1, std::uint32_t marked = 0,
           std::span<const TelemetryHop> hops = {}, std::span<const TelemetryHop> before = {}) {
    acked += packets;
    control.policy.on_ack(control.parameters.get(), path,
                          {.now = now,
                           .rtt = rtt,
                           .acked_bytes = packets * path.frame.count(),
                           .acked_packets = packets,
                           .marked_packets = marked,
                           .acked_psn = acked,
                           .next_psn = acked + in_flight,
                           .in_flight_bytes = std::int64_t{in_flight} * path.frame.count(),
                           .hops = hops,
                           .previous_hops = before},
                          flow);
  }
  void Notify(Time now) {
    control.policy.on_notification(control.parameters.get(), path, now, flow);
  }
  void Send(Time now, std::int64_t bytes = 1000) {
    control.policy.before_send(control.parameters.get(), path, now, bytes, flow);
  }
  void Lose(Time now, bool timeout, bool trimmed, std::int64_t bytes = 1000) {
    control.policy.on_loss(control.parameters.get(), path,
                           {.now = now,
                            .timeout = timeout,
                            .trimmed = trimmed,
                            .lost_bytes = bytes,
                            .in_flight_bytes = std::int64_t{in_flight} * path.frame.count(),
                            .acked_psn = acked,
                            .next_psn = acked + in_flight},
                           flow);
  }

  CongestionControl control;
  PathView path;
  FlowControl flow;
  std::uint64_t acked = 0;
  std::uint32_t in_flight = 10;  // packets sent beyond those acknowledged
};

}  // namespace trunkline
