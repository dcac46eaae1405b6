#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/cuts.h"
#include "trunkline/base/diagnostics.h"
#include "trunkline/collective/schedule.h"
#include "trunkline/fabric/route.h"
#include "trunkline/transport/transport.h"

namespace trunkline {

// What a put between two members costs when nothing else of its group moves, in seconds.
struct Way {
  double per_byte = 0;           // the narrowest hop of the route, or the kernel; protocol included
  double per_hop_byte = 0;       // the same without the kernel, which limits each connection alone
  double per_sent_byte = 0;      // a wire byte on the way to its NIC and out of it
  double per_received_byte = 0;  // and on the way in; both are shared with other puts
  double latency = 0;            // of the fabric and of the software step
  // The place in its server of the GPU that forwards it to another rail (route.h), whose NIC sends.
  std::uint32_t relay = kNoRelay;

  static constexpr std::uint32_t kNoRelay = UINT32_MAX;
  // Of a put that is split over so many connections.
  [[nodiscard]] double PerByte(std::uint32_t connections) const {
    return std::max(per_hop_byte, per_byte / connections);
  }
};

// A group as closed forms see it: who is how far from whom, and what the cuts around its parts
// carry.
//
// Where pairs that sit alike fare alike (FabricCuts::alike), ways are those of one representative
// pair for each (level, local index, local index), so their number does not depend on the size of
// the group. Elsewhere every pair has its own, and the puts of a step also share every link that
// their routes cross, not the cuts alone: with each other, and with those of the groups that take
// the same step side by side. The slowest of these groups counts.
class GroupModel {
 public:
  // With `load`, cuts are shared with the ranks counted there (cuts.h). `siblings`: of groups of as
  // many members, those beside it, in the order of their counterparts here; where one stands for
  // all, none need be given.
  static Result<GroupModel> Make(const Router& router, const TransportModel& transport,
                                 const FabricCuts& cuts, std::vector<DeviceId> members,
                                 const CutLoad* load,
                                 std::vector<std::vector<DeviceId>> siblings = {});

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(members_.size()); }
  [[nodiscard]] const GroupLayout& layout() const { return layout_; }
  [[nodiscard]] const TransportModel& transport() const { return *transport_; }

  // `steps`: the software latencies that apply, of the transport.
  void set_protocol(Protocol protocol, const StepLatency& steps);
  [[nodiscard]] Protocol protocol() const { return protocol_; }

  [[nodiscard]] bool SameNode(std::uint32_t a, std::uint32_t b) const {
    return layout_.node[a] == layout_.node[b];
  }
  [[nodiscard]] const Way& WayOf(std::uint32_t from, std::uint32_t to) {
    return each_pair_ ? PathOf(from, to).way : WayAt(Level(from, to), from, to);
  }

  // A step in which every put that for_each(visit) visits, as visit(from, to, bytes), starts as
  // soon as its sender has reached the step, and all of them share the cuts. `reached` is when each
  // member gets there; a member has gone on when what is sent to it has arrived. Each put is split
  // over so many connections.
  template <typename ForEachPut>
  void TakeStep(const ForEachPut& for_each, std::vector<double>& reached,
                std::uint32_t connections = 1) {
    LoadStep(for_each);
    const std::vector<double> before = reached;
    for_each([&](std::uint32_t from, std::uint32_t to, double bytes) {
      const double busy = BusySeconds(from, to, bytes, connections);
      reached[to] = std::max(reached[to], before[from] + busy + WayOf(from, to).latency);
    });
  }
  // Counts the puts of a step against the cuts, for BusySeconds.
  template <typename ForEachPut>
  void LoadStep(const ForEachPut& for_each) {
    ClearLoad();
    for_each([&](std::uint32_t from, std::uint32_t to, double bytes) { AddLoad(from, to, bytes); });
  }
  // How many members a node has where nodes are alike in all that a step depends on: members stand
  // node by node, by local index; all nodes, and all blocks of one level, have as many of them, a
  // power of two, and the same capacity. Else 0.
  [[nodiscard]] std::uint32_t AlikeNodeSize() const;
  // A step in which every member i puts `bytes` to i xor `distance`. Alike nodes reach it alike, so
  // `reached` is that of the members of one node. O(members of a node).
  // REQUIRES: nodes are alike; distance is a power of two below ranks().
  void TakeExchange(std::uint32_t distance, double bytes, std::vector<double>& reached);
  // A step in which every member puts `bytes` to every other. O(members); where every pair has its
  // own way O(members^2), up to so many: the routes of more take longer than the flow engine.
  static constexpr std::uint32_t kMostInAllPairs = 256;
  static constexpr std::size_t kMostPairs = std::size_t{1} << 20;  // of it and its siblings
  [[nodiscard]] double AllPairsSeconds(double bytes, std::uint32_t connections);
  // How long a put of the loaded step keeps its sender busy, message overhead included, where it is
  // split over so many connections.
  [[nodiscard]] double BusySeconds(std::uint32_t from, std::uint32_t to, double bytes,
                                   std::uint32_t connections = 1);

  // The same when nothing else moves.
  [[nodiscard]] double LoneSeconds(std::uint32_t from, std::uint32_t to, double bytes) {
    return transport_->message_overhead.seconds() + bytes * WayOf(from, to).per_byte;
  }

  // The first route that could not be found since set_protocol, if any: results are void then.
  [[nodiscard]] const std::optional<Diagnostics>& failure() const { return failure_; }

 private:
  struct Loads {
    std::vector<double> out;
    std::vector<double> in;
    void Resize(std::size_t parts) {
      out.resize(parts);
      in.resize(parts);
    }
    void Clear() {
      std::ranges::fill(out, 0.0);
      std::ranges::fill(in, 0.0);
    }
  };

  // A pair's way and the links that it and its counterparts cross, numbered as they are met.
  struct Path {
    Way way;
    std::uint32_t first_hop = 0;
    std::uint32_t hop_count = 0;
  };
  struct LoadedHop {
    std::uint32_t link = 0;
    double weight = 1;
  };

  GroupModel() = default;
  // 0 inside a node, else the number of partitions into nodes and blocks that part the two.
  [[nodiscard]] std::size_t Level(std::uint32_t from, std::uint32_t to) const {
    std::size_t level = blocks_.size();
    while (level > 0 && blocks_[level - 1].part_of[from] == blocks_[level - 1].part_of[to]) {
      --level;
    }
    return level;
  }
  [[nodiscard]] const Way& WayAt(std::size_t level, std::uint32_t from, std::uint32_t to);
  [[nodiscard]] Way FindWay(std::uint32_t from, std::uint32_t to);
  // The members that stand for all that are as far apart: the first two.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> FirstAlike(std::size_t level,
                                                                   std::uint32_t from,
                                                                   std::uint32_t to) const;
  [[nodiscard]] const Path& PathOf(std::uint32_t from, std::uint32_t to);
  [[nodiscard]] double MostOnOneLink(const Path& path) const;
  [[nodiscard]] std::optional<Route> FindRoute(DeviceId from, DeviceId to);
  [[nodiscard]] Way WayOver(const Route& route) const;
  template <typename Iterator>
  [[nodiscard]] double NarrowestUpTo(Iterator hop, Iterator end) const;
  [[nodiscard]] std::uint32_t LinkOf(ResourceId resource);
  [[nodiscard]] double AllPairsOverLinks(double bytes);
  // Where a relay's load is counted: that of the member there, or one of its own beyond them.
  [[nodiscard]] std::uint32_t RelayOf(std::uint32_t from, std::uint32_t place);
  // Counts a put to another node against what its sender, or the relay, has; returns which of them.
  std::uint32_t LoadSender(std::uint32_t from, const Way& way, double wire);
  // What all pairs take for the NICs and relays that send them; 0 where none are relayed.
  [[nodiscard]] double AllPairsOverRelays(double wire);
  // How many members are at a place of a part, by level, part and place; last of all parts
  // together.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> CountAtPlaces() const;
  void ClearLoad();
  void AddLoad(std::uint32_t from, std::uint32_t to, double bytes);
  // As if every member of every part had sent and received `wire` bytes over `level`, `partner` of
  // this one.
  void LoadEvenly(std::uint32_t member, std::uint32_t partner, std::size_t level, double wire);
  // Of every member to every other, over the cuts of the rails.
  void LoadAllPairsOverRails(double wire);

  const Router* router_ = nullptr;
  const TransportModel* transport_ = nullptr;
  std::vector<DeviceId> members_;
  std::vector<std::vector<DeviceId>> siblings_;
  GroupLayout layout_;
  std::vector<Partition> blocks_;  // nodes first; none where all share a node
  std::vector<Partition> rails_;   // FabricCuts::RailsOf; cuts of what leaves a node alone
  Loads inside_capacity_;          // by member: what its links inside the node carry
  Protocol protocol_ = Protocol::kSimple;
  const StepLatency* steps_ = nullptr;
  double dilution_ = 1;  // wire bytes a payload byte under the protocol

  std::uint32_t locals_ = 1;
  std::vector<std::optional<Way>> ways_;  // [level][local of from][local of to]
  std::vector<std::vector<std::uint32_t>> members_of_local_;

  bool relayed_ = false;                           // there may be relays
  bool each_pair_ = false;                         // as is what follows
  std::unordered_map<std::uint64_t, Path> paths_;  // by from and to
  std::vector<LoadedHop> hops_;                    // of the paths
  std::unordered_map<ResourceId, std::uint32_t> links_;
  std::vector<double> link_rate_;
  std::vector<double> link_load_;
  std::vector<std::uint32_t> loaded_links_;                  // whose loads may not be 0
  std::vector<Loads> block_load_;                            // by level - 1, by part
  std::vector<Loads> rail_load_;                             // by level of the rails, by part
  Loads inside_load_;                                        // by member, and relay beyond them
  Loads outside_load_;                                       // as inside_load_
  std::unordered_map<std::uint64_t, std::uint32_t> relays_;  // by node and place; empty until asked
  std::vector<std::uint32_t> loaded_relays_;                 // whose loads may not be 0
  std::vector<std::uint32_t> loaded_;                        // members whose loads may not be 0
  std::optional<Diagnostics> failure_;
};

}  // namespace trunkline
