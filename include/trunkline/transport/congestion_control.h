#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/units.h"
#include "trunkline/fabric/switch_model.h"

// Congestion control as plain-data policies: one file each in transport/congestion_control/ and one
// line in its registry. An engine keeps a FlowControl for every queue pair, calls the policy's
// functions with what the wire brought, and obeys `rate` and `window`.
namespace trunkline {

// What a switch wrote into a packet as its first bit left (HPCC's in-band telemetry).
struct TelemetryHop {
  Time time;                     // when the packet began to leave
  std::int64_t sent_bytes = 0;   // by the port so far
  std::int64_t queue_bytes = 0;  // of the port, without this packet
  Rate rate;
};
inline constexpr std::size_t kMaxTelemetryHops = 8;

// What an acknowledgement tells the sender.
struct AckView {
  Time now;
  Time rtt;                          // of the newest acknowledged packet; host delays excluded
  std::int64_t acked_bytes = 0;      // newly acknowledged
  std::uint32_t acked_packets = 0;   // by this acknowledgement, in order or not
  std::uint32_t marked_packets = 0;  // of those, with the ECN mark
  std::uint64_t acked_psn = 0;       // the next packet number that the receiver expects
  std::uint64_t next_psn = 0;        // the next that this sender sends
  std::int64_t in_flight_bytes = 0;
  // By switch on the way; empty unless the policy needs telemetry. `previous_hops` are those of the
  // acknowledgement before, empty for the first.
  std::span<const TelemetryHop> hops;
  std::span<const TelemetryHop> previous_hops;
};

// What a sender knows of packets that did not arrive.
struct LossView {
  Time now;
  bool timeout = false;  // nothing was heard for too long
  bool trimmed = false;  // the header arrived without its payload
  std::int64_t lost_bytes = 0;
  std::int64_t in_flight_bytes = 0;
  std::uint64_t acked_psn = 0;  // as in AckView
  std::uint64_t next_psn = 0;
};

// What never changes during the life of a queue pair.
struct PathView {
  Rate line_rate;      // of the sender's NIC
  Time base_rtt;       // of a full packet and its acknowledgement on the idle path
  Bytes mtu;           // payload of a full packet
  Bytes frame;         // a full packet on the wire
  std::uint32_t hops;  // links that a packet crosses
};

// The state of one queue pair: what the engine obeys, and what the policy remembers.
struct FlowControl {
  double rate = 0;                         // bits/s of wire bytes, at most the line rate
  std::int64_t window = 0;                 // bytes that may be in flight; INT64_MAX: no window
  std::array<std::uint64_t, 14> memory{};  // the policy's own, trivially copyable

  template <typename State>
  [[nodiscard]] State& state() {
    static_assert(sizeof(State) <= sizeof(memory) && alignof(State) <= alignof(std::uint64_t));
    return *reinterpret_cast<State*>(memory.data());
  }
};

// The numbers of a policy by name, as presets and scenarios give them.
struct CongestionParameter {
  std::string name;  // "g"
  std::string unit;  // "us", "Mb/s", "KB", "1"
  std::string meaning;
  double value = 0;  // in the unit
  double low = 0;    // accepted range
  double high = 0;
};
using CongestionParameters = std::vector<CongestionParameter>;

// A policy made ready for a run: parameters resolved into the policy's own form.
struct CongestionPolicy {
  const char* name = "none";
  const char* summary = "";
  bool needs_cnp = false;        // receivers answer marked packets with paced notifications
  bool needs_marks = false;      // switches mark
  bool needs_telemetry = false;  // switches write TelemetryHop
  bool acks_marks = false;       // a marked packet is acknowledged at once
  // Rates may rise without news: a sender that waits for its pace asks before_send again after so
  // long. 0: they do not.
  Time reconsider = {};
  // A new queue pair at `now`.
  void (*start)(const void* parameters, const PathView&, Time now, FlowControl&) = nullptr;
  void (*on_ack)(const void* parameters, const PathView&, const AckView&, FlowControl&) = nullptr;
  // A congestion notification packet arrived.
  void (*on_notification)(const void* parameters, const PathView&, Time now,
                          FlowControl&) = nullptr;
  // A packet is about to be sent: timers and byte counters that ran out since catch up.
  void (*before_send)(const void* parameters, const PathView&, Time now, std::int64_t wire_bytes,
                      FlowControl&) = nullptr;
  // Packets were lost (a NACK, a trimmed packet or a timeout).
  void (*on_loss)(const void* parameters, const PathView&, const LossView&, FlowControl&) = nullptr;
};

// How a sender picks the entropies of packets, and so their paths, where switches spray by them.
//   kOblivious  a new one for every packet
//   kMixed      one of 64: those acknowledged unmarked once more, else in turn but for those marked
//               or trimmed (Ultra Ethernet)
enum class PathSelection : std::uint8_t { kOblivious, kMixed };

// When a window lets a packet leave.
//   kFits      while it and what is in flight, all counted as on the wire, are within the window
//   kNotFull   while less payload than the window is in flight, so that the last packet may exceed
//   it
//              (HPCC's and SimAI's ns-3, IsWinBound of rdma-queue-pair.cc)
enum class WindowRule : std::uint8_t { kFits, kNotFull };

// A named set of a policy's parameters (data/congestion).
struct CongestionPreset {
  std::string name;
  std::string source;
};

// What is built in, for catalogues and help: parameters have the values of the default preset at
// 100 Gb/s.
struct CongestionPolicyInfo {
  std::string name;
  std::string summary;
  CongestionParameters parameters;
  std::vector<CongestionPreset> presets;  // the default first; empty: the policy has no parameters
};
[[nodiscard]] const std::vector<CongestionPolicyInfo>& CongestionPolicies();

struct CongestionOverride {
  std::string name;  // of a parameter
  double value = 0;  // in its unit
};

// A policy ready for use, and what it wants of the network around it. A scenario that says
// otherwise wins over the latter.
struct CongestionControl {
  CongestionPolicy policy;
  std::shared_ptr<const void> parameters;  // PacketTransport::policy_parameters
  std::string preset;
  CongestionParameters values;          // as they are used
  std::optional<MarkingCurve> marking;  // of switches; none: the policy needs no marks
  Time notification_interval;           // between CNPs of one queue pair
  std::uint32_t ack_every = 16;         // packets an acknowledgement covers
  PathSelection path_selection = PathSelection::kOblivious;
  WindowRule window_rule = WindowRule::kFits;
  Bytes header;  // that it adds to every data packet (HPCC's telemetry)
};

// `preset` empty: the policy's default. Presets whose source scales with the link are scaled to
// `line_rate`, that of a NIC. TL1820: no such policy, TL1821: no such preset, TL1822: no such
// parameter, TL1823: a value out of range or at odds with another.
[[nodiscard]] Result<CongestionControl> MakeCongestionControl(
    std::string_view name, std::string_view preset, std::span<const CongestionOverride> overrides,
    Rate line_rate);

}  // namespace trunkline
