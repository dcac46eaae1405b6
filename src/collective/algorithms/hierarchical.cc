#include <fmt/format.h>

#include <vector>

#include "collective/cost_terms.h"
#include "collective/program_schedule.h"
#include "collective/registry.h"
#include "collective/ring_order.h"
#include "collective/ring_phase.h"

namespace trunkline {
namespace {

// Rings inside nodes, then rings between the ranks of one local index, then rings inside again:
//
//   reduce-scatter in the node, reduce-scatter between nodes    (ReduceScatter, AllReduce)
//   all-gather between nodes, all-gather in the node            (AllGather, AllReduce)
//
// so that only 1/G of the data of each of a node's G ranks leaves through its NIC. The unit of data
// is a block for each rank (node j, local index h). What a rank passes around its node is all
// blocks of one h: a single span for AllReduce, whose blocks are numbered for that; one span for
// each node otherwise, since ReduceScatter and AllGather keep blocks in rank order.
class HierarchicalSchedule : public ProgramSchedule<HierarchicalSchedule> {
 public:
  HierarchicalSchedule(const CollectiveSpec& spec, const GroupLayout& layout)
      : ProgramSchedule("hierarchical", spec, layout.size()),
        order_(layout, 1),
        nodes_(layout.node_count()),
        per_node_(layout.size() / nodes_),
        ranked_(spec.bytes.count(), spec.element_bytes, layout.size(), spec.channels),
        pieces_(spec.bytes.count(), spec.element_bytes, spec.channels) {
    for (std::uint32_t channel = 0; channel < spec.channels; ++channel) {
      local_.emplace_back(pieces_.size(channel), spec.element_bytes, per_node_, nodes_);
    }
  }

  // All spans of one step share a slot: with fewer, every rank would wait for the next one to take
  // in its first spans, around the ring.
  [[nodiscard]] ChannelShape channel_shape(std::uint32_t) const override {
    return {spec().slots * Inside(0).width};
  }

  // Sums in transit: of the node, and, where blocks are in rank order, of all nodes.
  [[nodiscard]] std::int64_t scratch_bytes(Participant) const override {
    return scatters() ? bytes() * (gathers() ? 1 : 2) : 0;
  }

  [[nodiscard]] std::uint64_t op_count(Participant rank, std::uint32_t) const override {
    const RingPhase inside = Inside(order_.position(rank, 0));
    const RingPhase between = Between(order_.position(rank, 0));
    return prologue() +
           (scatters() ? inside.reduce_scatter_ops() + between.reduce_scatter_ops() : 0) +
           (gathers() ? between.all_gather_ops() + inside.all_gather_ops() : 0);
  }

  [[nodiscard]] Op OpAt(Participant rank, std::uint32_t channel, std::uint64_t index) const {
    const std::uint32_t position = order_.position(rank, 0);
    if (index < prologue()) {
      return Copy(Alone(Buffer::kInput, rank, channel),
                  InRankOrder(Buffer::kOutput, rank, channel));
    }
    index -= prologue();
    const RingPhase inside = Inside(position);
    const RingPhase between = Between(position);
    const Blocks blocks{*this, channel, position % per_node_};
    if (scatters()) {
      if (index < inside.reduce_scatter_ops()) {
        return inside.ReduceScatterOp(index, ScatterInside{blocks});
      }
      index -= inside.reduce_scatter_ops();
      if (index < between.reduce_scatter_ops()) {
        return between.ReduceScatterOp(index, ScatterBetween{blocks});
      }
      index -= between.reduce_scatter_ops();
    }
    if (index < between.all_gather_ops()) {
      return between.AllGatherOp(index, GatherBetween{blocks});
    }
    return inside.AllGatherOp(index - between.all_gather_ops(), GatherInside{blocks});
  }

  // Blocks in rank order, or spans inside nodes and between them.
  [[nodiscard]] std::int64_t sent_bytes(std::int64_t size) const override {
    if (!scatters() || !gathers()) return Padded(size, ranked_.longest());
    // The first channel's piece is a longest one.
    const std::int64_t inside = Padded(size, local_.front().outer().longest());
    return inside == size ? Padded(size, local_.front().longest()) : inside;
  }

  template <typename Visit>
  void ForEachDestination(Participant rank, std::uint32_t, Visit visit) const {
    const std::uint32_t position = order_.position(rank, 0);
    if (per_node_ > 1) {
      visit(Inside(position).next);
    }
    if (nodes_ > 1) {
      visit(Between(position).next);
    }
  }

 private:
  [[nodiscard]] bool scatters() const { return primitive() != Primitive::kAllGather; }
  [[nodiscard]] bool gathers() const { return primitive() != Primitive::kReduceScatter; }
  // An AllGather copies its own block; a lone rank, whatever it has.
  [[nodiscard]] std::uint64_t prologue() const { return !scatters() || ranks() == 1 ? 1 : 0; }

  [[nodiscard]] Participant Member(std::uint32_t node, std::uint32_t local) const {
    return order_.rank(node * per_node_ + local, 0);
  }
  [[nodiscard]] RingPhase Inside(std::uint32_t position) const {
    const std::uint32_t node = position / per_node_;
    const std::uint32_t local = position % per_node_;
    return {.members = per_node_,
            .position = local,
            .next = Member(node, (local + 1) % per_node_),
            .previous = Member(node, (local + per_node_ - 1) % per_node_),
            .width = scatters() && gathers() ? 1 : nodes_};
  }
  [[nodiscard]] RingPhase Between(std::uint32_t position) const {
    const std::uint32_t node = position / per_node_;
    const std::uint32_t local = position % per_node_;
    return {.members = nodes_,
            .position = node,
            .next = Member((node + 1) % nodes_, local),
            .previous = Member((node + nodes_ - 1) % nodes_, local)};
  }

  // The channel's piece of a rank's block: in a buffer of all blocks in rank order, and in a buffer
  // of that block only.
  [[nodiscard]] BufferSpan InRankOrder(Buffer buffer, Participant rank,
                                       std::uint32_t channel) const {
    return Span(buffer, ranked_.range(rank, channel));
  }
  [[nodiscard]] BufferSpan Alone(Buffer buffer, Participant rank, std::uint32_t channel) const {
    return Span(buffer, ranked_.piece(rank, channel));
  }

  // Blocks as a rank of local index `local` names them.
  struct Blocks {
    const HierarchicalSchedule& schedule;
    std::uint32_t channel;
    std::uint32_t local;

    [[nodiscard]] bool all_reduce() const { return schedule.scatters() && schedule.gathers(); }
    // The blocks of local index `h`, of which the `j`-th span.
    [[nodiscard]] BufferSpan OfLocal(Buffer buffer, std::uint32_t h, std::uint64_t j) const {
      if (!all_reduce()) {
        return schedule.InRankOrder(buffer, Rank(static_cast<std::uint32_t>(j), h), channel);
      }
      ByteRange range = schedule.local_[channel].outer().range(h);
      range.offset += schedule.pieces_.offset(channel);
      return Span(buffer, range);
    }
    // The block of node `j` and this rank's local index.
    [[nodiscard]] BufferSpan OfNode(Buffer buffer, std::uint32_t j) const {
      if (!all_reduce()) {
        return schedule.InRankOrder(buffer, Rank(j, local), channel);
      }
      ByteRange range = schedule.local_[channel].range(local, j);
      range.offset += schedule.pieces_.offset(channel);
      return Span(buffer, range);
    }
    [[nodiscard]] Participant Rank(std::uint32_t node, std::uint32_t h) const {
      return schedule.Member(node, h);
    }
  };

  struct ScatterInside : Blocks {
    [[nodiscard]] BufferSpan own(std::uint32_t h, std::uint64_t j) const {
      return OfLocal(Buffer::kInput, h, j);
    }
    [[nodiscard]] BufferSpan sum(std::uint32_t h, std::uint64_t j, bool at_owner) const {
      if (at_owner && schedule.nodes_ == 1) {
        return all_reduce() ? OfLocal(Buffer::kOutput, h, j)
                            : schedule.Alone(Buffer::kOutput, Rank(0, h), channel);
      }
      return OfLocal(Buffer::kScratch, h, j);
    }
  };

  struct ScatterBetween : Blocks {
    [[nodiscard]] BufferSpan own(std::uint32_t j, std::uint64_t) const {
      return OfNode(schedule.per_node_ == 1 ? Buffer::kInput : Buffer::kScratch, j);
    }
    [[nodiscard]] BufferSpan sum(std::uint32_t j, std::uint64_t, bool at_owner) const {
      if (all_reduce()) {
        return OfNode(Buffer::kOutput, j);
      }
      if (at_owner) {
        return schedule.Alone(Buffer::kOutput, Rank(j, local), channel);
      }
      BufferSpan span = OfNode(Buffer::kScratch, j);
      span.offset += schedule.bytes();
      return span;
    }
  };

  struct GatherBetween : Blocks {
    [[nodiscard]] BufferSpan own(std::uint32_t j, std::uint64_t) const {
      return OfNode(Buffer::kOutput, j);
    }
    [[nodiscard]] BufferSpan gathered(std::uint32_t j, std::uint64_t) const {
      return OfNode(Buffer::kOutput, j);
    }
  };

  struct GatherInside : Blocks {
    [[nodiscard]] BufferSpan own(std::uint32_t h, std::uint64_t j) const {
      return OfLocal(Buffer::kOutput, h, j);
    }
    [[nodiscard]] BufferSpan gathered(std::uint32_t h, std::uint64_t j) const {
      return OfLocal(Buffer::kOutput, h, j);
    }
  };

  RingOrder order_;
  std::uint32_t nodes_;
  std::uint32_t per_node_;
  NestedCut ranked_;              // by rank, then by channel
  EvenCut pieces_;                // by channel, and each piece …
  std::vector<NestedCut> local_;  // … by local index, then by node
};

bool HierarchicalSupports(Primitive primitive) {
  return primitive == Primitive::kAllReduce || primitive == Primitive::kReduceScatter ||
         primitive == Primitive::kAllGather;
}

Result<std::shared_ptr<const Schedule>> MakeHierarchical(const CollectiveSpec& spec,
                                                         const GroupLayout& layout) {
  if (!layout.uniform()) {
    return Error("TL1507",
                 fmt::format("hierarchical needs the same local indices in each of {} nodes",
                             layout.node_count()),
                 fmt::format("use ring{} for a group that fills its nodes unevenly",
                             spec.primitive == Primitive::kAllReduce ? " or tree" : ""));
  }
  return std::make_shared<HierarchicalSchedule>(spec, layout);
}

std::vector<CostTerm> HierarchicalTerms(const CollectiveSpec& spec, const GroupShape& shape) {
  const double ways = spec.primitive == Primitive::kAllReduce ? 2 : 1;
  const double inside = ways * (shape.per_node - 1);
  const double outside = ways * (shape.nodes - 1);
  const double bytes = BytesOf(spec);
  const double share = bytes / shape.per_node * outside / shape.nodes;
  return {{.inside_steps = inside, .inside_bytes = bytes * inside / shape.per_node},
          {.outside_steps = outside, .outside_bytes = share, .node_bytes = share * shape.per_node}};
}

}  // namespace

Algorithm HierarchicalAlgorithm() {
  return {.name = "hierarchical",
          .summary = "rings inside nodes, rings between equal local indices, rings inside again",
          .cost =
              "all_reduce on N nodes of G: 2(G-1) + 2(N-1) steps, 2(p-1)/p n bytes sent by each "
              "rank, of which 2(N-1)/N n/G leave the node",
          .supports = HierarchicalSupports,
          .make = MakeHierarchical,
          .cost_terms = HierarchicalTerms};
}

}  // namespace trunkline
