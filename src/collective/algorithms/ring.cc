#include "collective/algorithms/chain.h"
#include "collective/cost_terms.h"
#include "collective/program_schedule.h"
#include "collective/registry.h"
#include "collective/ring_order.h"
#include "collective/ring_phase.h"
#include "collective/slices.h"

namespace trunkline {
namespace {

// ReduceScatter, AllGather, and both in a row for AllReduce (Patarasuk and Yuan, JPDC 2009). Chunk
// c belongs to rank c; each channel carries its piece of every chunk around a ring of its own.
//
// AllReduce needs no scratch: the running sum of a chunk lands in the output, is passed on, and is
// overwritten by the final value only after that value has come all the way around.
class RingSchedule : public ProgramSchedule<RingSchedule> {
 public:
  RingSchedule(const CollectiveSpec& spec, const GroupLayout& layout)
      : ProgramSchedule("ring", spec, layout.size()),
        order_(layout, spec.channels),
        pieces_(spec.bytes.count(), spec.element_bytes, layout.size(), spec.channels) {}

  [[nodiscard]] std::int64_t scratch_bytes(Participant) const override {
    return primitive() == Primitive::kReduceScatter && ranks() > 1 ? bytes() : 0;
  }

  [[nodiscard]] std::uint64_t op_count(Participant, std::uint32_t) const override {
    const RingPhase ring{.members = ranks()};
    return prologue() + (scatters() ? ring.reduce_scatter_ops() : 0) +
           (gathers() ? ring.all_gather_ops() : 0);
  }

  [[nodiscard]] std::optional<std::uint32_t> program_class(Participant rank) const override {
    const bool alike = sent_bytes(pieces_.longest() - element()) == pieces_.longest();
    return pieces_.outer().even() || alike ? 0 : rank;
  }
  [[nodiscard]] std::int64_t sent_bytes(std::int64_t size) const override {
    return Padded(size, pieces_.longest());
  }

  [[nodiscard]] Op OpAt(Participant rank, std::uint32_t channel, std::uint64_t index) const {
    const std::uint32_t position = order_.position(rank, channel);
    if (index < prologue()) {
      // For a lone rank its chunk is the whole.
      return Copy(Alone(Buffer::kInput, position, channel), In(Buffer::kOutput, position, channel));
    }
    index -= prologue();
    const RingPhase ring{
        .members = ranks(),
        .position = position,
        .next = order_.rank(position + 1 == ranks() ? 0 : position + 1, channel),
        .previous = order_.rank(position == 0 ? ranks() - 1 : position - 1, channel)};
    if (scatters()) {
      if (index < ring.reduce_scatter_ops()) {
        return ring.ReduceScatterOp(index, Scatter{*this, channel});
      }
      index -= ring.reduce_scatter_ops();
    }
    return ring.AllGatherOp(index, Gather{*this, channel});
  }

  template <typename Visit>
  void ForEachDestination(Participant rank, std::uint32_t channel, Visit visit) const {
    if (ranks() > 1) {
      visit(order_.rank((order_.position(rank, channel) + 1) % ranks(), channel));
    }
  }

 private:
  [[nodiscard]] bool scatters() const { return primitive() != Primitive::kAllGather; }
  [[nodiscard]] bool gathers() const { return primitive() != Primitive::kReduceScatter; }
  // An AllGather copies its own chunk; a lone rank, whatever it has.
  [[nodiscard]] std::uint64_t prologue() const { return !scatters() || ranks() == 1 ? 1 : 0; }

  // The channel's piece of the chunk of the rank at `position`, in a buffer of all chunks …
  [[nodiscard]] BufferSpan In(Buffer buffer, std::uint32_t position, std::uint32_t channel) const {
    return Span(buffer, pieces_.range(order_.rank(position, channel), channel));
  }
  // … and in a buffer of that chunk only.
  [[nodiscard]] BufferSpan Alone(Buffer buffer, std::uint32_t position,
                                 std::uint32_t channel) const {
    return Span(buffer, pieces_.piece(order_.rank(position, channel), channel));
  }

  struct Scatter {
    const RingSchedule& schedule;
    std::uint32_t channel;

    [[nodiscard]] BufferSpan own(std::uint32_t chunk, std::uint64_t) const {
      return schedule.In(Buffer::kInput, chunk, channel);
    }
    [[nodiscard]] BufferSpan sum(std::uint32_t chunk, std::uint64_t, bool at_owner) const {
      if (schedule.gathers()) {
        return schedule.In(Buffer::kOutput, chunk, channel);
      }
      return at_owner ? schedule.Alone(Buffer::kOutput, chunk, channel)
                      : schedule.In(Buffer::kScratch, chunk, channel);
    }
  };

  struct Gather {
    const RingSchedule& schedule;
    std::uint32_t channel;

    [[nodiscard]] BufferSpan own(std::uint32_t chunk, std::uint64_t) const {
      return schedule.scatters() ? gathered(chunk, 0)
                                 : schedule.Alone(Buffer::kInput, chunk, channel);
    }
    [[nodiscard]] BufferSpan gathered(std::uint32_t chunk, std::uint64_t) const {
      return schedule.In(Buffer::kOutput, chunk, channel);
    }
  };

  RingOrder order_;
  NestedCut pieces_;  // by rank, then by channel
};

bool RingSupports(Primitive primitive) {
  switch (primitive) {
    case Primitive::kAllReduce:
    case Primitive::kReduceScatter:
    case Primitive::kAllGather:
    case Primitive::kBroadcast:
    case Primitive::kReduce:
    case Primitive::kBarrier:
      return true;
    default:
      return false;
  }
}

Result<std::shared_ptr<const Schedule>> MakeRing(const CollectiveSpec& spec,
                                                 const GroupLayout& layout) {
  if (spec.primitive == Primitive::kBroadcast || spec.primitive == Primitive::kReduce) {
    return MakeChain("ring", spec, layout);
  }
  return std::make_shared<RingSchedule>(spec, layout);
}

std::vector<CostTerm> RingTerms(const CollectiveSpec& spec, const GroupShape& shape) {
  const double others = shape.ranks - 1;
  switch (spec.primitive) {
    case Primitive::kBroadcast:
    case Primitive::kReduce: {
      // Every hop forwards all of the data; the last rank begins when the first slice is there.
      const double bytes = BytesOf(spec);
      const double slice =
          bytes / spec.channels / static_cast<double>(SliceCount(spec, spec.channels));
      const CostTerm hops = RingTerm(spec, shape, others, bytes);
      return {hops,
              {.inside_bytes = slice * hops.inside_steps},
              {.outside_bytes = slice * hops.outside_steps}};
    }
    case Primitive::kReduceScatter:
    case Primitive::kAllGather:
      return {RingTerm(spec, shape, others, BytesOf(spec) * others / shape.ranks)};
    default:
      return {RingTerm(spec, shape, 2 * others, 2 * BytesOf(spec) * others / shape.ranks)};
  }
}

}  // namespace

Algorithm RingAlgorithm() {
  return {.name = "ring",
          .summary = "each rank passes chunks to the next: least bytes, many steps",
          .cost =
              "all_reduce: 2(p-1) steps, 2(p-1)/p n bytes sent by each rank; reduce_scatter, "
              "all_gather: half of both; broadcast, reduce: p-1 hops pipelined, n bytes",
          .supports = RingSupports,
          .make = MakeRing,
          .cost_terms = RingTerms,
          .in_nccl = RingSupports};
}

}  // namespace trunkline
