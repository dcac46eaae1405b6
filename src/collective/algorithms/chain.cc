#include "collective/algorithms/chain.h"

#include "collective/program_schedule.h"
#include "collective/ring_order.h"
#include "collective/slices.h"

namespace trunkline {
namespace {

// A rank's place is its distance from the root along the ring. Broadcast runs from place 0 to the
// last; Reduce from place 1 around to the root, over the same links.
class ChainSchedule : public ProgramSchedule<ChainSchedule> {
 public:
  ChainSchedule(const char* algorithm, const CollectiveSpec& spec, const GroupLayout& layout)
      : ProgramSchedule(algorithm, spec, layout.size()),
        order_(layout, spec.channels),
        slice_count_(SliceCount(spec, spec.channels)),
        slices_(spec.bytes.count(), spec.element_bytes, spec.channels, slice_count_) {}

  [[nodiscard]] std::int64_t scratch_bytes(Participant rank) const override {
    return reduces() && rank != spec().root ? bytes() : 0;
  }

  [[nodiscard]] std::uint64_t op_count(Participant rank, std::uint32_t channel) const override {
    return prologue(rank) + ops_per_slice(place(rank, channel)) * slice_count();
  }

  [[nodiscard]] Op OpAt(Participant rank, std::uint32_t channel, std::uint64_t index) const {
    if (index < prologue(rank)) {
      const ByteRange piece = slices_.outer().range(channel);
      return Copy(Span(Buffer::kInput, piece), Span(Buffer::kOutput, piece));
    }
    index -= prologue(rank);
    const std::uint32_t at = place(rank, channel);
    const std::uint64_t ops = ops_per_slice(at);
    const ByteRange slice = slices_.range(channel, static_cast<std::int64_t>(index / ops));
    const std::uint64_t step = index % ops + (starts(at) ? ops_before_put() : 0);
    if (step == 0) {
      return Wait(neighbour(rank, channel, ranks() - 1));
    }
    if (step < ops_before_put()) {
      return Reduce(Span(Buffer::kInput, slice), Span(landing(rank), slice));
    }
    const Participant next = neighbour(rank, channel, 1);
    const Buffer source = starts(at) ? Buffer::kInput : landing(rank);
    return Put(next, Span(source, slice), Span(landing(next), slice));
  }

  [[nodiscard]] std::int64_t sent_bytes(std::int64_t size) const override {
    return Padded(size, slices_.longest());
  }

  template <typename Visit>
  void ForEachDestination(Participant rank, std::uint32_t channel, Visit visit) const {
    if (ranks() > 1 && !ends(place(rank, channel))) {
      visit(neighbour(rank, channel, 1));
    }
  }

 private:
  [[nodiscard]] bool reduces() const { return primitive() == Primitive::kReduce; }
  [[nodiscard]] std::uint64_t slice_count() const {
    return static_cast<std::uint64_t>(slice_count_);
  }

  // The root of a broadcast has its own copy to make; so has a lone rank.
  [[nodiscard]] std::uint64_t prologue(Participant rank) const {
    return rank == spec().root && (!reduces() || ranks() == 1) ? 1 : 0;
  }

  [[nodiscard]] std::uint32_t place(Participant rank, std::uint32_t channel) const {
    const std::uint32_t root = order_.position(spec().root, channel);
    const std::uint32_t position = order_.position(rank, channel);
    return position >= root ? position - root : position + ranks() - root;
  }
  [[nodiscard]] Participant neighbour(Participant rank, std::uint32_t channel,
                                      std::uint32_t ahead) const {
    return order_.rank((order_.position(rank, channel) + ahead) % ranks(), channel);
  }
  [[nodiscard]] bool starts(std::uint32_t place) const { return place == (reduces() ? 1U : 0U); }
  [[nodiscard]] bool ends(std::uint32_t place) const {
    return place == (reduces() ? 0 : ranks() - 1);
  }

  // { wait, [reduce], put } for a middle rank.
  [[nodiscard]] std::uint64_t ops_before_put() const { return reduces() ? 2 : 1; }
  [[nodiscard]] std::uint64_t ops_per_slice(std::uint32_t place) const {
    if (ranks() == 1) {
      return 0;
    }
    return starts(place) ? 1 : ops_before_put() + (ends(place) ? 0 : 1);
  }
  [[nodiscard]] Buffer landing(Participant rank) const {
    return reduces() && rank != spec().root ? Buffer::kScratch : Buffer::kOutput;
  }

  RingOrder order_;
  std::int64_t slice_count_;
  NestedCut slices_;  // by channel, then by slice
};

}  // namespace

std::shared_ptr<const Schedule> MakeChain(const char* algorithm, const CollectiveSpec& spec,
                                          const GroupLayout& layout) {
  return std::make_shared<ChainSchedule>(algorithm, spec, layout);
}

}  // namespace trunkline
