#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trunkline/base/ids.h"
#include "trunkline/fabric/route.h"

// Whether packets of a lossless network can come to wait for each other in a circle.
namespace trunkline {

// The receive buffer of one virtual channel of a link between switches: a packet in it holds room
// until there is some in the buffer that it goes to next.
struct Channel {
  LinkId link{};
  std::uint8_t lane = 0;  // virtual channel of its class
};

// Dally and Seitz (IEEE ToC C-36(5), 1987): no deadlock is possible where the graph of channels,
// with an edge for every two that some packet may hold one after the other, has no cycle. Here
// edges are of all packets that routing may send between any two NICs, whatever queues make it
// choose; so an acyclic graph is a proof for adaptive routing, too. Ends consume whatever arrives,
// acknowledgements have lanes of their own, and classes do not share buffers: what holds of one
// class holds of all.
struct DeadlockProof {
  enum class Verdict : std::uint8_t {
    kProved,  // the graph has no cycle
    kCycle,
    kSampled  // none among the edges of a sample of the destinations
  };

  Verdict verdict = Verdict::kProved;
  std::uint32_t lanes = 1;  // virtual channels of a class
  // Adaptive routing with an escape: the edges are those of the escape channels alone, by which
  // packets reach every end from every switch, and for which alone packets wait (Duato, IEEE TPDS
  // 7(8), 1996).
  bool escape = false;
  // Every shortest path goes up through the tiers of switches, then down: packets wait for others
  // farther on only, and no edge was looked at.
  bool tiers = false;
  std::uint64_t channels = 0;          // between switches
  std::uint64_t dependencies = 0;      // edges; with a cycle, those looked at before it showed
  std::vector<Channel> cycle;          // kCycle: each is waited for by the one before
  std::uint64_t destinations = 0;      // kSampled: how many were looked at …
  std::uint64_t all_destinations = 0;  // … of how many
};

// `virtual_channels`: whether packets change among the policy's virtual channels.
[[nodiscard]] DeadlockProof ProveDeadlockFree(const Router& router, bool virtual_channels);

// The same as the router's parameters say, by default under credits alone (RoutingParameters).
[[nodiscard]] bool UsesVirtualChannels(const Router& router, bool credits);

// "leaf-0/leaf-1 -> leaf-1/leaf-2 -> … -> leaf-0/leaf-1", with lanes where there are several.
[[nodiscard]] std::string NameCycle(const Fabric& fabric, const DeadlockProof& proof);

}  // namespace trunkline
