#include "engine/bounds.h"

#include <algorithm>
#include <cmath>

#include "engine/saturating_time.h"
#include "trunkline/engine/engine.h"

// Why no schedule is faster.
//
// Cut. Take any partition of the group (endpoints, nodes, scale units, pods). Bytes that must leave
// or enter a part cross its cut, whose capacity is the sum of its cables (on the wire: headers
// included), so they take at least bytes / capacity; the last of them then flies for at least the
// smallest latency between parts, and nothing flies before the launch of the collective and the
// overhead of a first message are over. Hence
//     T >= base + overhead + bytes / capacity + crossing latency       for each part and direction.
//
// Sum. Where every copy of a byte is sent by a member (no reduction or multicast in the network),
// the bytes sent by all parts together take at least total / (sum of capacities). With k parts:
//   AllReduce      2(k-1)n: let r be the first part to hold the whole sum of an element. The k-1
//                  others had each sent something that reached r, and none of them held the sum
//                  yet, so each still had to receive. With equal parts that is 2(k-1)/k n each.
//   ReduceScatter, AllGather, Broadcast, Reduce
//                  (k-1)n: every element has to be sent by, or to reach, each of the k-1 others.
// With in-network reduction an AllReduce needs only n out of and n into every part: the sums do not
// hold, the cuts do.
//
// Latency. One crossing, not ceil(log2 p) of them: a rank may put to all others at once (LogGP with
// a gap per peer), so a direct algorithm needs a single latency.
//
// Protocols: the least latency of any, of rings or trees, and payload undiluted (the simple
// protocol's).
namespace trunkline {
namespace {

// What one part has to send and to receive, in bytes.
struct Demand {
  double out = 0;
  double in = 0;
};

// How the blocks of a collective divide over ranks: at least `least`, at most `most` bytes each.
struct BlockSizes {
  double least = 0;
  double most = 0;
};

BlockSizes Blocks(const CollectiveSpec& spec, std::uint32_t ranks) {
  const std::int64_t elements = spec.bytes.count() / spec.element_bytes;
  const std::int64_t least = elements / ranks * spec.element_bytes;
  return {static_cast<double>(least),
          static_cast<double>(elements % ranks == 0 ? least : least + spec.element_bytes)};
}

Demand DemandOf(const CollectiveSpec& spec, const Partition& partition, std::uint32_t part,
                std::uint32_t ranks) {
  const double n = static_cast<double>(spec.bytes.count());
  const double members = partition.size[part];
  const BlockSizes block = Blocks(spec, ranks);
  const double own = members * block.least;
  const double foreign = std::max(0.0, n - members * block.most);
  const bool has_root = partition.part_of[spec.root] == part;
  switch (spec.primitive) {
    case Primitive::kAllReduce:
      return {n, n};
    case Primitive::kReduceScatter:
      return {foreign, own};
    case Primitive::kAllGather:
      return {own, foreign};
    case Primitive::kAllToAll: {
      const double crossing = own * (static_cast<double>(ranks) - members);
      return {crossing, crossing};
    }
    case Primitive::kBroadcast:
      return has_root ? Demand{n, 0} : Demand{0, n};
    case Primitive::kReduce:
      return has_root ? Demand{0, n} : Demand{n, 0};
    case Primitive::kGather:
      return has_root ? Demand{0, foreign} : Demand{own, 0};
    case Primitive::kScatter:
      return has_root ? Demand{foreign, 0} : Demand{0, own};
    case Primitive::kAllToAllV:
    case Primitive::kSendRecv:
    case Primitive::kBarrier:
      return {};
  }
  return {};
}

// Demands of the primitives whose traffic is given pair by pair.
std::vector<Demand> PairwiseDemands(const CollectiveSpec& spec, const Partition& partition,
                                    std::uint32_t ranks) {
  std::vector<Demand> demands(partition.parts());
  const auto add = [&](std::uint32_t from, std::uint32_t to, double bytes) {
    if (partition.part_of[from] == partition.part_of[to]) return;
    demands[partition.part_of[from]].out += bytes;
    demands[partition.part_of[to]].in += bytes;
  };
  for (std::uint32_t i = 0; i < ranks; ++i) {
    if (spec.primitive == Primitive::kSendRecv) {
      add(i, (i + 1) % ranks, static_cast<double>(spec.bytes.count()));
    } else {
      for (std::uint32_t j = 0; j < ranks; ++j) {
        add(i, j, static_cast<double>(spec.matrix[std::size_t{i} * ranks + j]));
      }
    }
  }
  return demands;
}

std::vector<Demand> Demands(const CollectiveSpec& spec, const Partition& partition,
                            std::uint32_t ranks) {
  if (spec.primitive == Primitive::kAllToAllV || spec.primitive == Primitive::kSendRecv) {
    return PairwiseDemands(spec, partition, ranks);
  }
  std::vector<Demand> demands(partition.parts());
  for (std::uint32_t part = 0; part < partition.parts(); ++part) {
    demands[part] = DemandOf(spec, partition, part, ranks);
  }
  return demands;
}

// Bytes that all parts together have to send when every copy is sent by a member.
double TotalSent(const CollectiveSpec& spec, std::uint32_t parts) {
  const double n = static_cast<double>(spec.bytes.count());
  switch (spec.primitive) {
    case Primitive::kAllReduce:
      return 2.0 * (parts - 1) * n;
    case Primitive::kReduceScatter:
    case Primitive::kAllGather:
    case Primitive::kBroadcast:
    case Primitive::kReduce:
      return (parts - 1) * n;
    default:
      return 0;  // the cuts say as much
  }
}

// Seconds that the cuts of one partition need; none where nothing has to cross.
double CutSeconds(const CollectiveChoice& choice, const Partition& partition, std::uint32_t ranks) {
  const CollectiveSpec& spec = choice.spec;
  const std::vector<Demand> demands = Demands(spec, partition, ranks);
  double seconds = 0;
  double egress = 0;
  double ingress = 0;
  for (std::uint32_t part = 0; part < partition.parts(); ++part) {
    const auto [out, in] = demands[part];
    if (out > 0) seconds = std::max(seconds, out / partition.egress[part]);
    if (in > 0) seconds = std::max(seconds, in / partition.ingress[part]);
    egress += partition.egress[part];
    ingress += partition.ingress[part];
  }
  const Algorithm* algorithm = FindAlgorithm(choice.algorithm);
  if (algorithm != nullptr && algorithm->reduces_in_network) return seconds;
  const double total = TotalSent(spec, partition.parts());
  return total > 0 ? std::max({seconds, total / egress, total / ingress}) : seconds;
}

Time LeastBaseLatency(const TransportModel& transport) {
  return std::min(*std::ranges::min_element(transport.ring_base_latency),
                  *std::ranges::min_element(transport.tree_base_latency));
}

Time LeastStepLatency(const TransportModel& transport, bool between_nodes) {
  Time least = Time::Max();
  for (const StepLatency* row : {&transport.step_latency, &transport.tree_step_latency}) {
    for (const auto& by_class : *row) {
      for (std::size_t hop_class = 0; hop_class < by_class.size(); ++hop_class) {
        const bool network = HopClass(hop_class) == HopClass::kNetwork;
        if (network || !between_nodes) least = std::min(least, by_class[hop_class]);
      }
    }
  }
  return least;
}

}  // namespace

Time LowerBoundOver(const std::vector<Partition>& partitions, const TransportModel& transport,
                    const CollectiveChoice& choice, std::uint32_t ranks) {
  TL_CHECK(choice.spec.root < ranks, "root outside the group", choice.spec.root, ranks);
  Time bound;
  for (const Partition& partition : partitions) {
    const double seconds = CutSeconds(choice, partition, ranks);
    if (seconds == 0 && choice.spec.primitive != Primitive::kBarrier) continue;
    // Less than double arithmetic and rounding up can have added, to stay a bound.
    const Time up = SaturatingTime(seconds * (1 - 1e-12));
    const Time bytes = up - Time::Picoseconds(std::min<std::int64_t>(up.ps(), 1));
    const Time overhead = seconds > 0 ? transport.message_overhead : Time();  // flags have none
    bound = std::max(bound, LeastBaseLatency(transport) + overhead + bytes + partition.crossing +
                                LeastStepLatency(transport, partition.between_nodes));
  }
  return bound;
}

Result<Time> LowerBound(const Router& router, const TransportModel& transport,
                        const CollectiveChoice& choice, const std::vector<DeviceId>& members) {
  const auto partitions = FabricCuts(router).PartitionsOf(members);
  if (!partitions) return std::unexpected(partitions.error());
  return LowerBoundOver(*partitions, transport, choice, static_cast<std::uint32_t>(members.size()));
}

}  // namespace trunkline
