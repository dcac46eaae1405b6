#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "trunkline/base/units.h"
#include "trunkline/transport/congestion_control.h"
#include "trunkline/transport/socket_model.h"
#include "trunkline/transport/transport.h"

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
  // Of a connection of a task graph; a message is split evenly over them.
  static constexpr std::uint8_t kMostQueuePairs = 32;
  std::uint8_t queue_pairs = 1;
  PathSelection path_selection = PathSelection::kOblivious;
  WindowRule window_rule = WindowRule::kFits;
  // Acknowledgements travel in the class of the data that they answer: switches queue them behind
  // data of the other direction, and PAUSE holds them back. Else they have the control class.
  bool acks_with_data = false;
  // What congestion controls take for the round trip of every idle path; none: each its own.
  std::optional<Time> base_rtt;
  // The sender is busy for so long before the first packet of a message (doorbell, descriptor).
  Time message_overhead;
  LossRecovery recovery = LossRecovery::kGoBackN;
  // kSelectiveRepeat: a packet that so many later ones have overtaken is lost. None: the first one
  // tells where all packets of a queue pair take one path, and none does where they do not.
  std::optional<std::uint32_t> loss_distance;
  // Without news for so long, a sender repeats what is unacknowledged; doubled with every timeout
  // in a row. IRN (Mittal et al., Revisiting Network Support for RDMA, SIGCOMM 2018, section 3.1)
  // has a shorter one where fewer than low_timeout_packets are in flight, so that repeating costs
  // little.
  Time retransmit_timeout = Time::Microseconds(4000);
  std::optional<Time> low_timeout;
  std::uint32_t low_timeout_packets = 3;
  std::uint8_t retry_limit = 7;  // timeouts in a row; one more is an error of the queue pair
  Time notification_interval = Time::Microseconds(50);  // between CNPs of one queue pair
  CongestionPolicy policy;
  std::shared_ptr<const void> policy_parameters;
  std::optional<SocketModel> sockets;  // sockets; none: NICs move data by themselves
};

// What endpoints of a kind do with packets, under no congestion control yet.
[[nodiscard]] PacketTransport DefaultPacketTransport(const TransportModel& model);

// Has endpoints obey a congestion control, with all that its preset wants of them.
void Adopt(const CongestionControl& control, PacketTransport& transport);

}  // namespace trunkline
