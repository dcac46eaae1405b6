#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include "trunkline/transport/congestion_control.h"

// What a congestion control is made of. Each is a class without objects in a file of its own:
//
//   kName, kSummary, kDefaultPreset
//   Parameters                    doubles, in the units of kParameters
//   kParameters                   their names, ranges and meanings
//   State                         what a flow remembers, at most FlowControl::memory
//   Start(parameters, path, now, flow)
//   OnAck, OnNotification, BeforeSend, OnLoss      those it has, as in CongestionPolicy
//   Declare(parameters, policy)   sets what the policy needs of the network
//   Contradiction(parameters)     optional: what does not go together, else empty
//
// TableOf<Policy>() makes the table of functions that engines call.
namespace trunkline::congestion {

template <typename Parameters>
struct ParameterSpec {
  const char* name;
  const char* unit;
  double low;
  double high;
  double Parameters::* field;
  const char* meaning;
};

inline constexpr double kPicosecondsPerMicrosecond = 1e6;
inline constexpr double kBitsPerMegabit = 1e6;

// Bytes of wire that fill the path of a flow at line rate.
inline double BandwidthDelayProduct(const PathView& path) {
  return path.line_rate.bytes_per_second() * static_cast<double>(path.base_rtt.ps()) / 1e12;
}
inline std::int64_t WholeBytes(double bytes) { return std::llround(bytes); }
inline double LineRate(const PathView& path) {
  return static_cast<double>(path.line_rate.bits_per_second());
}
inline double Microseconds(Time time) {
  return static_cast<double>(time.ps()) / kPicosecondsPerMicrosecond;
}
inline std::int64_t Picoseconds(double microseconds) {
  return static_cast<std::int64_t>(microseconds * kPicosecondsPerMicrosecond);
}

// The window of a rate-based control, the "+w" of HPCC's evaluation: `bdps` bandwidth-delay
// products, in proportion to the rate if `variable`; none when 0.
inline std::int64_t RateWindow(const PathView& path, const FlowControl& flow, double bdps,
                               bool variable) {
  if (bdps == 0) return INT64_MAX;
  const double share = variable ? flow.rate / LineRate(path) : 1;
  return WholeBytes(bdps * BandwidthDelayProduct(path) * share);
}

template <typename Policy>
CongestionPolicy TableOf(const typename Policy::Parameters& values) {
  using Parameters = Policy::Parameters;
  CongestionPolicy table{.name = Policy::kName, .summary = Policy::kSummary};
  Policy::Declare(values, table);
  table.start = [](const void* parameters, const PathView& path, Time now, FlowControl& flow) {
    Policy::Start(*static_cast<const Parameters*>(parameters), path, now, flow);
  };
  if constexpr (requires { &Policy::OnAck; }) {
    table.on_ack = [](const void* parameters, const PathView& path, const AckView& ack,
                      FlowControl& flow) {
      Policy::OnAck(*static_cast<const Parameters*>(parameters), path, ack, flow);
    };
  }
  if constexpr (requires { &Policy::OnNotification; }) {
    table.on_notification = [](const void* parameters, const PathView& path, Time now,
                               FlowControl& flow) {
      Policy::OnNotification(*static_cast<const Parameters*>(parameters), path, now, flow);
    };
  }
  if constexpr (requires { &Policy::BeforeSend; }) {
    table.before_send = [](const void* parameters, const PathView& path, Time now,
                           std::int64_t wire_bytes, FlowControl& flow) {
      Policy::BeforeSend(*static_cast<const Parameters*>(parameters), path, now, wire_bytes, flow);
    };
  }
  if constexpr (requires { &Policy::OnLoss; }) {
    table.on_loss = [](const void* parameters, const PathView& path, const LossView& loss,
                       FlowControl& flow) {
      Policy::OnLoss(*static_cast<const Parameters*>(parameters), path, loss, flow);
    };
  }
  return table;
}

}  // namespace trunkline::congestion
