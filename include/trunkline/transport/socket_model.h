#pragma once

#include <cstdint>

#include "trunkline/base/units.h"

// The kernel's share of a TCP connection: what RDMA spares. Every engine reads the same costs.
namespace trunkline {

// What one core takes to move data one way between an application and a NIC. Large writes go
// through the stack in units, each cut to packets by the NIC (GSO), and packets that have arrived
// go up merged (GRO).
struct SocketCost {
  Time unit;  // protocol, buffers, interrupts, system calls
  Rate copy;  // between user and kernel memory

  [[nodiscard]] Time Of(Bytes bytes) const { return unit + TransferTime(bytes, copy); }
};

struct SocketModel {
  Bytes unit{65'536};  // most that one pass through the stack carries
  SocketCost send;
  SocketCost receive;
  Bytes window;             // most of a connection that is written and not yet read
  std::uint16_t cores = 1;  // of a NIC; its connections take turns in being given one
};

// The costs of Linux on a server (data/protocols/sockets.yaml, each with its source).
[[nodiscard]] SocketModel DefaultSockets();

// What a unit holds in whole packets of `mtu`.
[[nodiscard]] Bytes UnitOf(const SocketModel& sockets, Bytes mtu);
// Payload that a connection with a core of its own at either end moves in the long run.
[[nodiscard]] Rate RateOf(const SocketModel& sockets, Bytes mtu);
// What a message meets on its way beside its time at RateOf: the passes of its first unit at the
// sender and of its last one at the receiver.
[[nodiscard]] Time LatencyOf(const SocketModel& sockets);

}  // namespace trunkline
