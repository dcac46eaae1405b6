#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trunkline/base/units.h"

// How a switch queues, marks, pauses and drops: `cluster.fabric.switch` of a scenario.
namespace trunkline {

// What keeps a switch from losing packets, or that nothing does.
//   kPause    Ethernet with priority flow control: PAUSE frames per class
//   kCredits  InfiniBand: a packet leaves only when the next buffer has room for it
//   kLossy    Ethernet without: what does not fit is dropped (or trimmed)
enum class LossControl : std::uint8_t { kPause, kCredits, kLossy };

// Random early marking of a port's queue, at the moment a packet leaves.
struct MarkingCurve {
  Bytes low;        // Kmin: nothing is marked up to here
  Bytes high;       // Kmax: everything is beyond
  double most = 1;  // Pmax: the probability at `high`
  // Rate of the ports that `low` and `high` are meant for: those of others are in proportion. 0:
  // the same for all ports.
  Rate at_rate{};
  // Only where a port sends without a gap: one that waits for PAUSE or credits is not where
  // congestion comes from (InfiniBand's root and victim ports).
  bool roots_only = false;
  Bytes smallest{};  // on the wire; what is smaller is never marked (InfiniBand's Packet_Size)
};

// Priority flow control on a shared buffer.
struct PauseModel {
  double alpha = 0.125;  // a class may take this share of what is free of the shared pool
  Bytes reserved{4096};  // of each port and class before it draws on the pool
  Bytes resume{3072};    // XON: this far below XOFF
  // What may still come in after a PAUSE was sent, by port; none: from rate, cable and MTU.
  std::optional<Bytes> headroom;
  // How long a PAUSE holds, in quanta of 512 bit times of the link (IEEE 802.3, Annex 31B). It is
  // repeated at half of this time for as long as it is meant.
  std::uint16_t quanta = 65'535;
};

// How a port of InfiniBand shares its link among virtual lanes: VLArbitration of the specification.
// A lane may stand in both tables, and several times in one.
struct VlWeight {
  std::uint8_t lane = 0;
  std::uint8_t weight = 0;  // in units of 64 bytes; 0: passed over
};
struct VlArbitration {
  static constexpr std::uint8_t kNoLimit = 255;

  std::vector<VlWeight> high;
  std::vector<VlWeight> low;
  // What high priority may send while low priority waits, in units of 4 KiB; 0: one packet.
  std::uint8_t high_limit = kNoLimit;
};

struct SwitchModel {
  LossControl loss_control = LossControl::kPause;
  Bytes buffer{0};  // shared by all ports (kPause, kLossy); 0: from rate and ports
  bool cut_through = false;
  std::uint8_t classes = 2;  // priorities or virtual lanes; the last is for control, served first
  PauseModel pause;
  std::optional<MarkingCurve> marking;  // none: no ECN
  bool trimming = false;                // kLossy: cut the payload off instead of dropping
  double egress_alpha = 1;              // kLossy: share of the free pool one queue may take
  Bytes queue{0};         // kLossy: most that one port may queue; 0: what the pool has
  double frame_loss = 0;  // chance that a cable spoils a frame, which is then lost
  Bytes lane_buffer{0};   // kCredits: receive buffer of a port's lane; 0: what keeps it busy
  std::vector<std::uint8_t> weights;         // of the data classes, in packets; empty: all alike
  std::optional<VlArbitration> arbitration;  // kCredits: instead of weights
  // kCredits: the data lane of each traffic class (SL-to-VL mapping, one for all ports); empty: its
  // own.
  std::vector<std::uint8_t> lane_of_class;
};

}  // namespace trunkline
