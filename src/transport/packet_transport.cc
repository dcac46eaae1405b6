#include "trunkline/transport/packet_transport.h"

namespace trunkline {

PacketTransport DefaultPacketTransport(const TransportModel& model) {
  PacketTransport transport;
  transport.mtu = model.mtu;
  transport.packet_overhead = model.packet_overhead;
  transport.message_overhead = model.message_overhead;
  transport.sockets = model.sockets;
  if (!model.sockets) {
    // An acknowledgement is a packet whose payload is the four bytes of an AETH.
    transport.ack_bytes = model.packet_overhead + Bytes(4);
    return transport;
  }
  transport.ack_bytes = model.packet_overhead;
  transport.recovery = LossRecovery::kSelectiveRepeat;            // SACK
  transport.loss_distance = 3;                                    // DupThresh of RFC 6675
  transport.retransmit_timeout = Time::Microseconds(200 * 1000);  // TCP_RTO_MIN of Linux
  transport.retry_limit = 15;                                     // tcp_retries2 of Linux
  return transport;
}

void Adopt(const CongestionControl& control, PacketTransport& transport) {
  transport.policy = control.policy;
  transport.policy_parameters = control.parameters;
  transport.notification_interval = control.notification_interval;
  transport.ack_every = control.ack_every;
  transport.path_selection = control.path_selection;
  transport.window_rule = control.window_rule;
  transport.packet_overhead += control.header;
  if (control.policy.needs_telemetry) transport.ack_bytes += control.header;  // it goes back
}

}  // namespace trunkline
