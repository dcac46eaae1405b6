#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/flow/network.h"
#include "engine/flow/waiters.h"
#include "trunkline/base/diagnostics.h"
#include "trunkline/collective/schedule.h"
#include "trunkline/engine/engine.h"

// A run as the flow engine sees it: who talks to whom over which resources.
namespace trunkline {

// Everything that the members of a communicator run on it in one manner. Communicators of
// equal layout and use share one pattern.
struct Pattern {
  struct Use {
    std::uint32_t collective = 0;  // index into TaskGraph::collectives()
    std::shared_ptr<const Schedule> schedule;
    std::vector<char> pairs;  // by pair of the pattern: whether it is one of the schedule's; empty:
                              // all are
    [[nodiscard]] bool HasPair(std::uint32_t pair) const {
      return pairs.empty() || pairs[pair] != 0;
    }
  };
  std::vector<Use> uses;                      // by collective
  std::vector<Schedule::Pair> pairs;          // of all schedules, sorted; in a rotation those
                                              // from the first `period` members only
  std::vector<std::uint32_t> inbound;         // pair indices by (destination, source, channel)
  std::vector<std::uint32_t> first_outbound;  // by member, into pairs; one more at the end
  std::vector<std::uint32_t> first_inbound;   // by member, into inbound; one more at the end
  std::uint32_t channels = 1;
  std::uint32_t period = 0;  // members; fewer where a rotation takes the first ones to the others
  bool complete = false;     // pairs are all there can be

  [[nodiscard]] std::uint32_t members() const {
    return static_cast<std::uint32_t>(first_outbound.size() - 1);
  }
  // Sets what follows from `pairs`, `channels` and `period`.
  void IndexPairs(std::uint32_t members);
  [[nodiscard]] const Schedule& schedule(std::uint32_t collective) const;
  // The pair, or the one that a rotation takes to it: index into pairs. REQUIRES: it exists.
  [[nodiscard]] std::uint32_t IndexOf(Participant source, Participant destination,
                                      std::uint32_t channel) const {
    return complete && source < period && channel < channels
               ? IndexIfComplete(source, destination, channel)
               : Find(source, destination, channel);
  }
  // Whether all pairs of the channel are there.
  [[nodiscard]] bool has_all_of(std::uint32_t channel) const {
    return complete && period == members() && channel < channels;
  }
  // Where the source has all other members as destinations.
  [[nodiscard]] std::uint32_t IndexIfComplete(Participant source, Participant destination,
                                              std::uint32_t channel) const {
    const std::uint32_t others = destination - (destination > source ? 1 : 0);
    return first_outbound[source] + others * channels + channel;
  }

 private:
  [[nodiscard]] std::uint32_t Find(Participant source, Participant destination,
                                   std::uint32_t channel) const;
};

// A way for messages from one rank to another: messages leave one at a time, in order. One for each
// (source, destination, channel) of a communicator and manner, and for each (rank, peer role).
struct Connection {
  RankId source{};
  RankId destination{};
  std::uint32_t first_hop = 0;     // of those on resources that can bind
  std::uint32_t binding_hops = 0;  // how many they are
  FlowRate limit;
  Time latency;  // of the route and of the software step
};

// All hops of a connection. One source's paths to neighbours differ in the last hop only: they
// share the others.
struct FlowPath {
  std::uint32_t first_hop = 0;  // of the shared ones
  std::uint32_t hop_count = 0;  // of all
  FlowHop last_hop;

  [[nodiscard]] std::uint32_t shared_hops() const { return hop_count == 0 ? 0 : hop_count - 1; }
  [[nodiscard]] bool SharesHopsWith(const FlowPath& other) const {
    return first_hop == other.first_hop && hop_count == other.hop_count;
  }
};

// What of a collective's choice its connections depend on.
struct Manner {
  Protocol protocol = Protocol::kSimple;
  bool tree = false;  // latencies of trees rather than rings (StepLatencyOf)
  auto operator<=>(const Manner&) const = default;
};

// What a program asks of every rank that runs it.
struct ProgramShape {
  static constexpr std::uint32_t kNoSlot = UINT32_MAX;

  struct Port {  // a communicator role with the manner in which it is used
    std::uint32_t role = 0;
    Manner manner;
    auto operator<=>(const Port&) const = default;
  };
  std::vector<Port> ports;
  std::vector<std::uint64_t> collectives;  // by port: how many it runs
  std::vector<std::uint32_t> sends;        // peer roles
  std::vector<std::uint32_t> receives;     // peer roles
  // By task: index into ports, sends or receives; kNoSlot for compute.
  std::vector<std::uint32_t> slot;
  // By task: the previous one of the same communicator or peer role, which it starts after;
  // kNoSlot: none.
  std::vector<std::uint32_t> role_predecessor;
  std::vector<std::vector<std::uint32_t>> streams;  // the ordered tasks of each, in program order
  Waiters waiters;
  // By two of the ports, then sends: whether the program's order lets only one be busy at a time.
  // Empty: not known.
  std::vector<char> takes_turns;
};

[[nodiscard]] ProgramShape ShapeOf(const Program& program, const TaskGraph& graph);

struct FlowProblem {
  struct Communicator {
    CommunicatorId id{};
    Manner manner;
    std::uint32_t pattern = 0;
    std::uint32_t first_connection = 0;  // of pattern.pairs, in order
    std::vector<RankId> members;
  };
  static constexpr std::uint32_t kUnused = UINT32_MAX;
  // A rank's place in a communicator.
  struct Seat {
    std::uint32_t communicator = 0;
    Participant position = 0;
  };
  struct Rank {
    std::uint32_t program = 0;
    std::uint32_t first_seat = 0;     // of its program's ports, in order
    std::uint32_t first_send = 0;     // of its program's sends: into peer_connections
    std::uint32_t first_receive = 0;  // of its program's receives: into peer_connections
  };

  std::vector<ProgramShape> shapes;  // by program
  std::vector<Rank> ranks;
  std::vector<Seat> seats;
  std::vector<std::uint32_t> peer_connections;
  std::vector<Pattern> patterns;
  std::vector<Communicator> communicators;
  std::vector<Connection> connections;
  std::vector<FlowPath> paths;  // by connection
  // The paths in rows, those of a row with the same shared hops, and of one member where they are
  // of a communicator: where each row begins, and at last where the last one ends.
  std::vector<std::uint32_t> rows = {0};
  // By row: an earlier one from which it differs in the source and in the first hop alone, which is
  // another resource of equal capacity; kUnused: there is none, or none is known.
  std::vector<std::uint32_t> models;
  std::vector<FlowHop> hops;  // that paths share
  std::vector<FlowHop> binding_hops;
  // By ResourceId: those that connections use, numbered. In a rotation, resources that it takes to
  // one another share a number, and hops have the weight of all connections that one stands for.
  std::vector<std::uint32_t> resource_index;
  std::vector<Rate> capacities;  // by number
  // Rank r is the image of r mod period under a rotation (rotation.h); ranks.size() without one.
  // The connections are those from the first `period` ranks.
  std::uint32_t period = 0;

  [[nodiscard]] bool rotates() const { return period < ranks.size(); }

  // All but the last hop.
  [[nodiscard]] std::span<const FlowHop> shared_hops_of(const FlowPath& path) const {
    return std::span(hops).subspan(path.first_hop, path.shared_hops());
  }
  // Calls visit(first, end, model) for the connections of each row, `model` as in models.
  template <typename Visitor>
  void ForEachRow(Visitor visit) const {
    for (std::size_t row = 0; row < models.size(); ++row) {
      visit(rows[row], rows[row + 1], models[row]);
    }
  }
  // Calls visit(row) for the rows of the connections from `first` on, before `end`.
  // REQUIRES: they begin and end with rows.
  template <typename Visitor>
  void ForEachRowOf(std::uint32_t first, std::uint32_t end, Visitor visit) const {
    if (first == end) return;
    // Where several begin there, all but the last are empty.
    const auto after = std::ranges::upper_bound(rows, first) - rows.begin();
    for (auto row = static_cast<std::uint32_t>(after - 1); rows[row] < end; ++row) visit(row);
  }
  // The hop in which the paths of a row differ from those of its model. REQUIRES: it has one.
  [[nodiscard]] const FlowHop& first_hop_of_row(std::uint32_t row) const {
    return hops[paths[rows[row]].first_hop];
  }
  // Those on resources that their connections could overload. No other resource ever slows a
  // transfer.
  [[nodiscard]] std::span<const FlowHop> binding_hops_of(const Connection& connection) const {
    return std::span(binding_hops).subspan(connection.first_hop, connection.binding_hops);
  }
};

// Tells the connections of one pair of ranks apart: `flow` of Router::FindRoute.
[[nodiscard]] std::uint64_t FlowOf(CommunicatorId communicator, std::uint32_t channel);
[[nodiscard]] std::uint64_t FlowOfRole(std::uint32_t role);
// The software's part of a connection's latency.
[[nodiscard]] Time StepLatencyOf(const TransportModel& transport, const Manner& manner,
                                 HopClass hop_class);

// `rotate`: look for a rotation.
[[nodiscard]] Result<FlowProblem> BuildFlowProblem(const EngineInput& input, Handshake handshake,
                                                   bool rotate);

}  // namespace trunkline
