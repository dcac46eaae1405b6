#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collective/program_schedule.h"

namespace trunkline {

// A rooted tree over participants, from each one's parent.
class Tree {
 public:
  static constexpr Participant kNone = std::numeric_limits<Participant>::max();

  // REQUIRES: parent[p] is a participant or, for one p only, kNone; no cycle.
  explicit Tree(std::vector<Participant> parent);

  [[nodiscard]] Participant parent(Participant p) const { return parent_[p]; }
  [[nodiscard]] bool is_root(Participant p) const { return parent_[p] == kNone; }
  // In ascending order.
  [[nodiscard]] std::span<const Participant> children(Participant p) const {
    return std::span(children_).subspan(child_begin_[p], child_begin_[p + 1] - child_begin_[p]);
  }
  // Which of its parent's children `p` is. REQUIRES: !is_root(p).
  [[nodiscard]] std::uint32_t sibling_index(Participant p) const { return sibling_index_[p]; }

 private:
  std::vector<Participant> parent_;
  std::vector<std::uint32_t> sibling_index_;
  std::vector<std::uint32_t> child_begin_;
  std::vector<Participant> children_;
};

// Sums travel up trees, results travel down, slice by slice. Each tree carries its share of the
// data on a channel of its own for each direction, so that a rank passes slices up and down at the
// same time; at the root, a signal to itself starts a slice on its way down.
//
//   AllReduce, Barrier: up and down; Reduce: up; Broadcast: down
//
// Participants beyond the ranks are network actors: they add what they receive, contribute nothing
// of their own, and pass results on.
class TreeSchedule final : public ProgramSchedule<TreeSchedule> {
 public:
  // REQUIRES: every tree has the same participants, ranks first; for Reduce and Broadcast, the root
  // of every tree is the root of `spec`.
  TreeSchedule(std::string algorithm, const CollectiveSpec& spec, std::uint32_t ranks,
               std::vector<Tree> trees, std::uint32_t participants, std::int64_t slice_count);

  // Cost models read the shape of the traffic from these.
  [[nodiscard]] std::span<const Tree> trees() const { return trees_; }
  [[nodiscard]] std::int64_t slice_count() const { return slice_count_; }

  [[nodiscard]] std::uint32_t participants() const override { return participants_; }
  [[nodiscard]] std::uint32_t channels() const override {
    return static_cast<std::uint32_t>(trees_.size()) * directions();
  }
  [[nodiscard]] std::int64_t scratch_bytes(Participant p) const override;
  [[nodiscard]] std::uint64_t op_count(Participant p, std::uint32_t channel) const override;
  [[nodiscard]] std::int64_t sent_bytes(std::int64_t size) const override {
    return Padded(size, slices_.longest());
  }
  // Those that have as many children in each tree do the same.
  [[nodiscard]] std::optional<std::uint32_t> program_class(Participant p) const override {
    return classes_[p];
  }

  [[nodiscard]] Op OpAt(Participant p, std::uint32_t channel, std::uint64_t index) const;
  template <typename Visit>
  void ForEachDestination(Participant p, std::uint32_t channel, Visit visit) const {
    const Tree& tree = trees_[channel / directions()];
    if (ranks() == 1) {
      return;
    }
    if (goes_up(channel)) {
      if (!tree.is_root(p)) {
        visit(tree.parent(p));
      }
    } else {
      for (const Participant child : tree.children(p)) {
        visit(child);
      }
    }
  }

 private:
  [[nodiscard]] bool reduces() const { return primitive() != Primitive::kBroadcast; }
  [[nodiscard]] bool broadcasts() const { return primitive() != Primitive::kReduce; }
  [[nodiscard]] std::uint32_t directions() const { return reduces() && broadcasts() ? 2 : 1; }
  [[nodiscard]] bool goes_up(std::uint32_t channel) const {
    return reduces() && channel % directions() == 0;
  }
  [[nodiscard]] bool is_rank(Participant p) const { return p < ranks(); }

  // The data of a root that no one sends to: a lone rank's, or a broadcasting root's.
  [[nodiscard]] std::uint64_t prologue(Participant p, std::uint32_t channel) const;
  [[nodiscard]] std::uint64_t UpOps(const Tree& tree, Participant p) const;
  [[nodiscard]] std::uint64_t DownOps(const Tree& tree, Participant p) const;
  [[nodiscard]] Op UpOp(std::uint32_t channel, Participant p, ByteRange slice,
                        std::uint64_t step) const;
  [[nodiscard]] Op DownOp(std::uint32_t channel, Participant p, ByteRange slice,
                          std::uint64_t step) const;

  // Whether the running sum of `p` is kept in its output.
  [[nodiscard]] bool SumsInOutput(Participant p) const {
    return is_rank(p) && (broadcasts() || p == spec().root);
  }
  // Where the sum of child number `child` lands at `p`; child 0's becomes the running sum.
  [[nodiscard]] BufferSpan Landing(Participant p, std::uint64_t child, ByteRange slice) const;
  // Where a slice on its way down lands at `p`, and where it is sent on from.
  [[nodiscard]] BufferSpan DownLanding(const Tree& tree, Participant p, ByteRange slice) const;
  [[nodiscard]] BufferSpan DownSource(const Tree& tree, Participant p, ByteRange slice) const;

  std::vector<Tree> trees_;
  std::uint32_t participants_;
  std::int64_t slice_count_;
  NestedCut slices_;                    // by tree, then by slice
  std::vector<std::uint32_t> classes_;  // by participant
};

}  // namespace trunkline
