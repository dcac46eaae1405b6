#include "engine/analytic/closed_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "collective/ring_order.h"
#include "collective/slices.h"
#include "engine/analytic/ring_time.h"
#include "trunkline/collective/algorithm.h"

namespace trunkline {
namespace {

// The longest of `parts` pieces that cut `bytes` at element boundaries (collective/cut.h).
std::int64_t LongestPiece(std::int64_t bytes, std::int64_t element, std::int64_t parts) {
  const std::int64_t elements = bytes / element;
  return (elements + parts - 1) / parts * element;
}

struct Edge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

// The hops of edges that are all in use at once, each with `bytes` on it.
std::vector<RingHop> HopsOf(GroupModel& group, std::span<const Edge> edges, double bytes) {
  group.LoadStep([&](const auto& visit) {
    for (const Edge& edge : edges) visit(edge.from, edge.to, bytes);
  });
  std::vector<RingHop> hops;
  for (const Edge& edge : edges) {
    hops.push_back({.busy = group.BusySeconds(edge.from, edge.to, bytes),
                    .latency = group.WayOf(edge.from, edge.to).latency});
  }
  return hops;
}

// Ring: 2(p-1) steps for AllReduce, p-1 for ReduceScatter and AllGather, each of a channel's piece
// of a chunk, n/(p x channels). Broadcast and Reduce: a chain of p-1 hops, slice after slice.
double Ring(GroupModel& group, const CollectiveSpec& spec) {
  const std::uint32_t p = group.ranks();
  const RingOrder order(group.layout(), spec.channels);
  const bool chain =
      spec.primitive == Primitive::kBroadcast || spec.primitive == Primitive::kReduce;
  const std::int64_t element = spec.element_bytes;
  const std::int64_t slices = chain ? SliceCount(spec, spec.channels) : 1;
  const std::int64_t piece =
      chain
          ? LongestPiece(LongestPiece(spec.bytes.count(), element, spec.channels), element, slices)
          : LongestPiece(LongestPiece(spec.bytes.count(), element, p), element, spec.channels);

  // A chain leaves out the hop that closes the ring: into the root of a Broadcast, out of the root
  // of a Reduce.
  const std::uint32_t hops_per_channel = chain ? p - 1 : p;
  std::vector<Edge> edges;
  for (std::uint32_t channel = 0; channel < spec.channels; ++channel) {
    const std::uint32_t first =
        chain ? order.position(spec.root, channel) + (spec.primitive == Primitive::kReduce ? 1 : 0)
              : 0;
    for (std::uint32_t i = 0; i < hops_per_channel; ++i) {
      edges.push_back(
          {order.rank((first + i) % p, channel), order.rank((first + i + 1) % p, channel)});
    }
  }
  std::vector<RingHop> hops = HopsOf(group, edges, static_cast<double>(piece));
  if (chain && spec.slots > 0) {
    // A slot is free again when its slice has arrived.
    for (RingHop& hop : hops) {
      const double stay = std::max(hop.busy, (hop.busy + hop.latency) / spec.slots);
      hop = {.busy = stay, .latency = hop.latency - (stay - hop.busy)};
    }
  }
  const std::uint64_t steps = spec.primitive == Primitive::kAllReduce ? 2 * (p - 1) : p - 1;
  double slowest = 0;
  for (std::uint32_t channel = 0; channel < spec.channels; ++channel) {
    const auto own =
        std::span(hops).subspan(std::size_t{channel} * hops_per_channel, hops_per_channel);
    slowest = std::max(slowest, chain ? ChainSeconds(own, static_cast<std::uint64_t>(slices))
                                      : RingSeconds(own, steps));
  }
  return slowest;
}

using ClosedForm = double (*)(GroupModel&, const CollectiveSpec&);

constexpr std::pair<std::string_view, ClosedForm> kClosedForms[] = {
    {"ring", Ring},
};

}  // namespace

Result<Time> CollectiveTime(GroupModel& group, const CollectiveChoice& choice) {
  // Only the algorithm knows whether the layout and the sizes fit.
  if (auto schedule = MakeSchedule(choice.algorithm, choice.spec, group.layout()); !schedule) {
    return std::unexpected(schedule.error());
  }
  const auto form = std::ranges::find(kClosedForms, choice.algorithm,
                                      &std::pair<std::string_view, ClosedForm>::first);
  if (form == std::end(kClosedForms)) {
    return Error("TL1620",
                 fmt::format("the analytic engine has no closed form for '{}'", choice.algorithm),
                 "use engine: flow, which runs the schedule itself");
  }
  group.set_protocol(choice.protocol);
  const std::size_t protocol = static_cast<std::size_t>(choice.protocol);
  const Time base = group.transport().ring_base_latency[protocol];
  if (group.ranks() == 1) return base;
  const double seconds = form->second(group, choice.spec);
  if (group.failure()) return std::unexpected(*group.failure());
  return base + Time::FromSeconds(seconds);
}

}  // namespace trunkline
