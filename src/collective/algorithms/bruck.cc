#include <algorithm>
#include <bit>

#include "collective/cost_terms.h"
#include "collective/program_schedule.h"
#include "collective/registry.h"

namespace trunkline {
namespace {

// AllGather after Bruck et al. (IEEE TPDS 1997). A rank gathers blocks into scratch in the order
// own, next, next but one, …; at step k it holds min(2^k, p) of them, sends as many as its partner
// 2^k places before still lacks, and receives its next ones from 2^k places behind. Two copies turn
// the order into that of ranks. Channels would cut the runs of blocks apart.
class BruckSchedule : public ProgramSchedule<BruckSchedule> {
 public:
  BruckSchedule(const CollectiveSpec& spec, const GroupLayout& layout)
      : ProgramSchedule("bruck", spec, layout.size()),
        steps_(static_cast<std::uint32_t>(std::bit_width(layout.size() - 1))) {}

  [[nodiscard]] std::int64_t scratch_bytes(Participant) const override { return bytes(); }

  // copy, { put, wait } for each step, copy, copy.
  [[nodiscard]] std::uint64_t op_count(Participant, std::uint32_t) const override {
    return std::uint64_t{2} * steps_ + 3;
  }

  [[nodiscard]] Op OpAt(Participant rank, std::uint32_t, std::uint64_t index) const {
    if (index == 0) {
      return Copy({Buffer::kInput, 0, chunks().size(rank)}, Held(rank, 0, 1));
    }
    --index;
    if (index < std::uint64_t{2} * steps_) {
      const std::uint32_t distance = 1U << (index / 2);
      if (index % 2 == 1) {
        return Wait((rank + distance) % ranks());
      }
      const Participant peer = (rank + ranks() - distance) % ranks();
      const std::uint32_t blocks = std::min(distance, ranks() - distance);
      return Put(peer, Held(rank, 0, blocks), Held(peer, distance, blocks));
    }
    // From the own block to the last rank's, then from rank 0's on.
    const bool first = index == std::uint64_t{2} * steps_;
    const BufferSpan source =
        first ? Held(rank, 0, ranks() - rank) : Held(rank, ranks() - rank, rank);
    return Copy(source, {Buffer::kOutput, first ? chunks().offset(rank) : 0, source.size});
  }

  template <typename Visit>
  void ForEachDestination(Participant rank, std::uint32_t, Visit visit) const {
    for (std::uint32_t step = 0; step < steps_; ++step) {
      visit((rank + ranks() - (1U << step)) % ranks());
    }
  }

 private:
  // In the scratch of `rank`, `count` blocks from that of rank + `first` on.
  [[nodiscard]] BufferSpan Held(std::uint32_t rank, std::uint32_t first,
                                std::uint32_t count) const {
    const std::int64_t begin = BytesBefore(rank, first);
    return {Buffer::kScratch, begin, BytesBefore(rank, first + count) - begin};
  }
  // The size of the `count` blocks from that of `rank` on, the last rank followed by rank 0.
  [[nodiscard]] std::int64_t BytesBefore(std::uint32_t rank, std::uint32_t count) const {
    const std::uint32_t end = rank + count;
    return (end <= ranks() ? chunks().offset(end) : bytes() + chunks().offset(end - ranks())) -
           chunks().offset(rank);
  }

  std::uint32_t steps_;
};

bool BruckSupports(Primitive primitive) { return primitive == Primitive::kAllGather; }

Result<std::shared_ptr<const Schedule>> MakeBruck(const CollectiveSpec& spec,
                                                  const GroupLayout& layout) {
  return std::make_shared<BruckSchedule>(spec, layout);
}

// Whatever the distance, some rank of every node has its partner in another: as many as the
// distance, or all.
std::vector<CostTerm> BruckTerms(const CollectiveSpec& spec, const GroupShape& shape) {
  const double steps = CeilLog2(shape.ranks);
  const double bytes = BytesOf(spec) * (shape.ranks - 1) / shape.ranks;
  if (shape.nodes == 1) {
    return {{.inside_steps = steps, .inside_bytes = bytes}};
  }
  double node_blocks = 0;
  for (std::uint64_t distance = 1; distance < shape.ranks; distance *= 2) {
    const auto blocks = static_cast<double>(std::min(distance, shape.ranks - distance));
    node_blocks += blocks * std::min<double>(blocks, shape.per_node);
  }
  return {{.outside_steps = steps,
           .outside_bytes = bytes,
           .node_bytes = node_blocks * BytesOf(spec) / shape.ranks}};
}

}  // namespace

Algorithm BruckAlgorithm() {
  return {.name = "bruck",
          .summary = "blocks gathered in doubling runs: few steps for short messages",
          .cost = "all_gather: ceil(log2 p) steps, (p-1)/p n bytes sent by each rank",
          .supports = BruckSupports,
          .make = MakeBruck,
          .cost_terms = BruckTerms,
          .most_channels = 1};
}

}  // namespace trunkline
