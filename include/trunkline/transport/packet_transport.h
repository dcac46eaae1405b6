#pragma once

#include <cstdint>
#include <memory>

#include "trunkline/base/units.h"
#include "trunkline/transport/congestion_control.h"

// What endpoints do with packets: `cluster.transport` of a scenario, as the packet engine reads it.
namespace trunkline {

// What the ends do about packets that are lost or come out of order.
//   kGoBackN           the receiver takes packets in order only; the sender goes back to the gap
//   kSelectiveRepeat   the receiver takes any order; the sender repeats what is missing
enum class LossRecovery : std::uint8_t { kGoBackN, kSelectiveRepeat };

struct PacketTransport {
  Bytes mtu{4096};
  Bytes packet_overhead{82};  // wire bytes beyond the payload
  Bytes ack_bytes{84};        // wire bytes of an acknowledgement or notification
  std::uint32_t ack_every =
      16;  // packets an acknowledgement covers; the last of a message asks for one
  LossRecovery recovery = LossRecovery::kGoBackN;
  Time retransmit_timeout = Time::Microseconds(4000);
  std::uint8_t retry_limit = 7;
  Time notification_interval = Time::Microseconds(50);  // between CNPs of one queue pair
  CongestionPolicy policy;
  std::shared_ptr<const void> policy_parameters;
};

}  // namespace trunkline
