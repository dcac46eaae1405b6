#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/units.h"
#include "trunkline/transport/socket_model.h"

namespace trunkline {

enum class TransportKind : std::uint8_t { kInfiniband, kRocev2, kTcp };
[[nodiscard]] const char* ToString(TransportKind kind);
[[nodiscard]] std::optional<TransportKind> ParseTransportKind(std::string_view text);

// NCCL's wire protocols: simple (fences), ll (4 B data + 4 B flag), ll128 (120 B data + 8 B flag).
enum class Protocol : std::uint8_t { kSimple, kLl, kLl128 };
inline constexpr int kProtocolCount = 3;
[[nodiscard]] const char* ToString(Protocol protocol);
[[nodiscard]] std::optional<Protocol> ParseProtocol(std::string_view text);
// Payload bytes carried per 128 wire bytes: simple 128, ll 64, ll128 120 (Demystifying NCCL,
// arXiv 2507.04786, Table I).
[[nodiscard]] std::int64_t PayloadPer128(Protocol protocol);
// Payload bytes that NCCL hands on at once, an eighth of its buffer (2.30.7, src/include/device.h,
// src/init.cc): simple 4 MiB / 8; ll 8 lines of 16 bytes for each of 512 threads; ll128 120
// elements of 8 bytes for each of 640 threads; without the flags.
[[nodiscard]] constexpr Bytes PipelineStep(Protocol protocol) {
  switch (protocol) {
    case Protocol::kLl:
      return Bytes(8 * 16 * 512 / 2);
    case Protocol::kLl128:
      return Bytes(120 * 8 * 640 * 15 / 16);
    case Protocol::kSimple:
      break;
  }
  return Bytes((4 << 20) / 8);
}

// What the worst link class between two endpoints is; the software latency of a step depends on it.
enum class HopClass : std::uint8_t { kNvlink, kPcie, kNetwork };
inline constexpr int kHopClassCount = 3;

using StepLatency = std::array<std::array<Time, kHopClassCount>, kProtocolCount>;

// How messages travel, whatever the fabric: headers, per-message costs, protocol latencies.
struct TransportModel {
  TransportKind kind = TransportKind::kInfiniband;
  Bytes mtu{4096};           // payload bytes of a full packet
  Bytes packet_overhead{0};  // wire bytes added to each packet on network links
  // LogGP o: the sender and its channel are busy this long for each message, before its bytes.
  Time message_overhead;
  // Software latency of one step of a collective (pure delay), beside the fabric's own latency.
  StepLatency step_latency{};
  // NCCL's cost model has its own row for trees (StepLatencyOf of tuner.h).
  StepLatency tree_step_latency{};
  // Paid once per collective before its first step (kernel launch and set-up).
  std::array<Time, kProtocolCount> ring_base_latency{};
  std::array<Time, kProtocolCount> tree_base_latency{};
  std::optional<SocketModel> sockets;  // sockets; none: NICs move data by themselves
};

// The defaults of a transport with NCCL's cost-model latencies (data/protocols/nccl-2.30.yaml; each
// constant with its source there). Packet overheads: InfiniBand LRH 8 + BTH 12 + ICRC 4 + VCRC 2;
// RoCEv2 preamble 8 + gap 12 + Ethernet 14 + FCS 4 + IPv4 20 + UDP 8 + BTH 12 + ICRC 4.
[[nodiscard]] TransportModel DefaultTransport(TransportKind kind);

// A transport with no overhead and no software latency: bytes over links, as in closed forms and in
// SimGrid's CM02.
[[nodiscard]] TransportModel IdealTransport();

}  // namespace trunkline
