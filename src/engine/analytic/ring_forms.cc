#include <algorithm>
#include <span>
#include <vector>

#include "collective/ring_order.h"
#include "collective/slices.h"
#include "engine/analytic/forms.h"
#include "engine/analytic/ring_time.h"

namespace trunkline {
namespace {

struct Edge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

// The hops of edges that are all in use at once, each by `flows` puts of `bytes`. The busiest set
// the pace, so their puts meet all the time; on the way through the others a put is alone.
std::vector<RingHop> HopsOf(GroupModel& group, std::span<const Edge> edges, double bytes,
                            std::uint32_t flows = 1) {
  group.LoadStep([&](const auto& visit) {
    for (const Edge& edge : edges) visit(edge.from, edge.to, bytes * flows);
  });
  std::vector<RingHop> hops;
  hops.reserve(edges.size());
  double busiest = 0;
  for (const Edge& edge : edges) {
    hops.push_back({.busy = group.BusySeconds(edge.from, edge.to, bytes * flows, flows),
                    .latency = group.WayOf(edge.from, edge.to).latency});
    busiest = std::max(busiest, hops.back().busy);
  }
  for (std::size_t i = 0; i < hops.size(); ++i) {
    if (hops[i].busy < busiest * (1 - 1e-9))
      hops[i].busy = group.LoneSeconds(edges[i].from, edges[i].to, bytes);
  }
  return hops;
}

RingHop SlowestOf(std::span<const RingHop> hops) {
  RingHop slowest;
  for (const RingHop& hop : hops) {
    slowest.busy = std::max(slowest.busy, hop.busy);
    slowest.latency = std::max(slowest.latency, hop.latency);
  }
  return slowest;
}

// A chain of p-1 hops, slice after slice: it leaves out the hop that closes the ring, into the root
// of a Broadcast or out of the root of a Reduce.
double ChainForm(const FormInput& input) {
  const auto& [group, spec, schedule] = input;
  const std::uint32_t p = group.ranks();
  const RingOrder order(group.layout(), spec.channels);
  const std::int64_t slices = SliceCount(spec, spec.channels);
  const std::int64_t piece = LongestPiece(spec.bytes.count(), spec.element_bytes, spec.channels);
  const std::int64_t slice = LongestPiece(piece, spec.element_bytes, slices);
  const std::uint32_t skip = spec.primitive == Primitive::kReduce ? 1 : 0;
  std::vector<Edge> edges;
  for (std::uint32_t channel = 0; channel < spec.channels; ++channel) {
    const std::uint32_t first = order.position(spec.root, channel) + skip;
    for (std::uint32_t i = 0; i + 1 < p; ++i) {
      edges.push_back(
          {order.rank((first + i) % p, channel), order.rank((first + i + 1) % p, channel)});
    }
  }
  std::vector<RingHop> hops = HopsOf(group, edges, static_cast<double>(slice));
  for (RingHop& hop : hops) {
    if (spec.slots == 0) break;
    // A slot is free again when its slice has arrived.
    const double stay = std::max(hop.busy, (hop.busy + hop.latency) / spec.slots);
    hop = {.busy = stay, .latency = hop.latency - (stay - hop.busy)};
  }
  double slowest = 0;
  for (std::size_t begin = 0; begin < hops.size(); begin += p - 1) {
    slowest = std::max(slowest, ChainSeconds(std::span(hops).subspan(begin, p - 1),
                                             static_cast<std::uint64_t>(slices)));
  }
  return slowest;
}

// A ring phase of `members` whose chunks are `width` spans that travel one behind the other: a span
// leaves when those before it have left and the same span of the chunk before has arrived.
double WideRingSeconds(const RingHop& hop, std::uint32_t members, std::uint32_t width) {
  if (members < 2) return 0;
  const double chunk = width * hop.busy;
  return (members - 2) * std::max(chunk, hop.busy + hop.latency) + chunk + hop.latency;
}

}  // namespace

// 2(p-1) steps for AllReduce and Barrier, p-1 for ReduceScatter and AllGather, each of a channel's
// piece of a chunk, n/(p x channels).
double RingForm(const FormInput& input) {
  const auto& [group, spec, schedule] = input;
  if (spec.primitive == Primitive::kBroadcast || spec.primitive == Primitive::kReduce) {
    return ChainForm(input);
  }
  const std::uint32_t p = group.ranks();
  const RingOrder order(group.layout(), spec.channels);
  const std::int64_t chunk = LongestPiece(spec.bytes.count(), spec.element_bytes, p);
  const std::int64_t piece = LongestPiece(chunk, spec.element_bytes, spec.channels);
  std::vector<Edge> edges;
  edges.reserve(std::size_t{p} * spec.channels);
  for (std::uint32_t channel = 0; channel < spec.channels; ++channel) {
    for (std::uint32_t i = 0; i < p; ++i) {
      edges.push_back({order.rank(i, channel), order.rank((i + 1) % p, channel)});
    }
  }
  const std::vector<RingHop> hops = HopsOf(group, edges, static_cast<double>(piece));
  const bool half =
      spec.primitive == Primitive::kReduceScatter || spec.primitive == Primitive::kAllGather;
  const std::uint64_t steps = std::uint64_t{half ? 1U : 2U} * (p - 1);
  double slowest = 0;
  for (std::size_t begin = 0; begin < hops.size(); begin += p) {
    slowest = std::max(slowest, RingSeconds(std::span(hops).subspan(begin, p), steps));
  }
  return slowest;
}

// On N nodes of G: rings of G inside every node over chunks of n/G, rings of N between the ranks of
// each local index over chunks of n/p; back again for AllReduce. Inside, ReduceScatter and
// AllGather move a chunk as N spans (collective/algorithms/hierarchical.cc).
double HierarchicalForm(const FormInput& input) {
  const auto& [group, spec, schedule] = input;
  const std::uint32_t nodes = group.layout().node_count();
  const std::uint32_t per_node = group.ranks() / nodes;
  const RingOrder order(group.layout(), 1);
  const auto member = [&](std::uint32_t node, std::uint32_t local) {
    return order.rank(node % nodes * per_node + local % per_node, 0);
  };
  std::vector<Edge> inside;
  std::vector<Edge> between;  // ring after ring
  for (std::uint32_t local = 0; local < per_node; ++local) {
    for (std::uint32_t node = 0; node < nodes; ++node) {
      if (per_node > 1) inside.push_back({member(node, local), member(node, local + 1)});
      if (nodes > 1) between.push_back({member(node, local), member(node + 1, local)});
    }
  }
  const bool all_reduce = spec.primitive == Primitive::kAllReduce;
  const std::uint32_t passes = all_reduce ? 2 : 1;
  const std::uint32_t width = all_reduce ? 1 : nodes;
  const std::int64_t element = spec.element_bytes;
  const std::int64_t piece = LongestPiece(spec.bytes.count(), element, spec.channels);
  const std::int64_t of_local = LongestPiece(piece, element, per_node);
  const std::int64_t block = LongestPiece(of_local, element, nodes);

  const auto span = static_cast<double>(all_reduce ? of_local : block);
  const double seconds =
      passes *
      WideRingSeconds(SlowestOf(HopsOf(group, inside, span, spec.channels)), per_node, width);
  const std::vector<RingHop> hops =
      HopsOf(group, between, static_cast<double>(block), spec.channels);
  double slowest = 0;
  for (std::size_t begin = 0; begin < hops.size(); begin += nodes) {
    slowest = std::max(slowest, RingSeconds(std::span(hops).subspan(begin, nodes),
                                            std::uint64_t{passes} * (nodes - 1)));
  }
  return seconds + slowest;
}

}  // namespace trunkline
