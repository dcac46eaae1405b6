#include "collective/tree_schedule.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "trunkline/base/random.h"

namespace trunkline {

Tree::Tree(std::vector<Participant> parent)
    : parent_(std::move(parent)),
      sibling_index_(parent_.size()),
      child_begin_(parent_.size() + 1),
      children_(parent_.size() - 1) {
  for (const Participant p : parent_) {
    if (p != kNone) {
      ++child_begin_[p + 1];
    }
  }
  std::partial_sum(child_begin_.begin(), child_begin_.end(), child_begin_.begin());
  std::vector<std::uint32_t> seen(parent_.size());
  for (Participant p = 0; p < parent_.size(); ++p) {
    if (parent_[p] != kNone) {
      sibling_index_[p] = seen[parent_[p]]++;
      children_[child_begin_[parent_[p]] + sibling_index_[p]] = p;
    }
  }
}

namespace {

// By participant: equal where they do the same in each tree.
std::vector<std::uint32_t> ClassesOf(std::span<const Tree> trees, std::uint32_t ranks,
                                     std::uint32_t participants) {
  std::vector<std::uint64_t> places(participants);
  for (Participant p = 0; p < participants; ++p) {
    places[p] = p < ranks ? 1 : 0;
    for (const Tree& tree : trees) {
      places[p] = HashCombine(places[p], 2 * tree.children(p).size() + (tree.is_root(p) ? 1 : 0));
    }
  }
  std::unordered_map<std::uint64_t, std::uint32_t> names;
  std::vector<std::uint32_t> classes;
  for (const std::uint64_t place : places) {
    const auto next = static_cast<std::uint32_t>(names.size());
    classes.push_back(names.try_emplace(place, next).first->second);
  }
  return classes;
}

}  // namespace

TreeSchedule::TreeSchedule(std::string algorithm, const CollectiveSpec& spec, std::uint32_t ranks,
                           std::vector<Tree> trees, std::uint32_t participants,
                           std::int64_t slice_count)
    : ProgramSchedule(std::move(algorithm), spec, ranks),
      trees_(std::move(trees)),
      participants_(participants),
      slice_count_(slice_count),
      slices_(spec.bytes.count(), spec.element_bytes, static_cast<std::int64_t>(trees_.size()),
              slice_count),
      classes_(ClassesOf(trees_, ranks, participants)) {}

std::int64_t TreeSchedule::scratch_bytes(Participant p) const {
  if (!reduces()) {
    return 0;
  }
  std::size_t children = 0;
  for (const Tree& tree : trees_) {
    children = std::max(children, tree.children(p).size());
  }
  // An actor has one region more, for what comes down.
  const std::size_t regions =
      is_rank(p) ? children - (children > 0 && SumsInOutput(p) ? 1 : 0) : children + 1;
  return static_cast<std::int64_t>(regions) * bytes();
}

std::uint64_t TreeSchedule::prologue(Participant p, std::uint32_t channel) const {
  const bool copies = ranks() == 1 ? channel % directions() == 0 : !reduces() && p == spec().root;
  return copies ? 1 : 0;
}

// { wait, reduce } for each child, then a put; an actor has nothing to reduce for its first child.
std::uint64_t TreeSchedule::UpOps(const Tree& tree, Participant p) const {
  const std::uint64_t children = tree.children(p).size();
  const std::uint64_t reduces_of = children - (children > 0 && !is_rank(p) ? 1 : 0);
  return children + reduces_of + (tree.is_root(p) && !broadcasts() ? 0 : 1);
}

// A wait unless the root starts the broadcast itself, then a put to each child.
std::uint64_t TreeSchedule::DownOps(const Tree& tree, Participant p) const {
  return tree.children(p).size() + (tree.is_root(p) && !reduces() ? 0 : 1);
}

std::uint64_t TreeSchedule::op_count(Participant p, std::uint32_t channel) const {
  if (ranks() == 1) {
    return is_rank(p) ? prologue(p, channel) : 0;
  }
  const Tree& tree = trees_[channel / directions()];
  const std::uint64_t per_slice = goes_up(channel) ? UpOps(tree, p) : DownOps(tree, p);
  return prologue(p, channel) + per_slice * static_cast<std::uint64_t>(slice_count_);
}

Op TreeSchedule::OpAt(Participant p, std::uint32_t channel, std::uint64_t index) const {
  const std::uint32_t number = channel / directions();
  if (index < prologue(p, channel)) {
    const ByteRange piece = slices_.outer().range(number);
    return Copy(Span(Buffer::kInput, piece), Span(Buffer::kOutput, piece));
  }
  index -= prologue(p, channel);
  const bool up = goes_up(channel);
  const std::uint64_t ops = up ? UpOps(trees_[number], p) : DownOps(trees_[number], p);
  const ByteRange slice = slices_.range(number, static_cast<std::int64_t>(index / ops));
  return up ? UpOp(channel, p, slice, index % ops) : DownOp(channel, p, slice, index % ops);
}

Op TreeSchedule::UpOp(std::uint32_t channel, Participant p, ByteRange slice,
                      std::uint64_t step) const {
  const Tree& tree = trees_[channel / directions()];
  const auto children = tree.children(p);
  const BufferSpan own = Span(Buffer::kInput, slice);
  if (step + 1 == UpOps(tree, p) && !(tree.is_root(p) && !broadcasts())) {
    if (tree.is_root(p)) {
      return SignalOwnChannel(p, channel + 1);
    }
    return Put(tree.parent(p), children.empty() ? own : Landing(p, 0, slice),
               Landing(tree.parent(p), tree.sibling_index(p), slice));
  }
  if (!is_rank(p)) {
    // The reduce that an actor spares for its first child would be op 1.
    step += step > 0 ? 1 : 0;
  }
  const std::uint64_t child = step / 2;
  if (step % 2 == 0) {
    return Wait(children[child]);
  }
  return Reduce(child == 0 ? own : Landing(p, child, slice), Landing(p, 0, slice));
}

Op TreeSchedule::DownOp(std::uint32_t channel, Participant p, ByteRange slice,
                        std::uint64_t step) const {
  const Tree& tree = trees_[channel / directions()];
  const bool waits = !tree.is_root(p) || reduces();
  if (waits && step == 0) {
    return Wait(tree.is_root(p) ? p : tree.parent(p));
  }
  const Participant child = tree.children(p)[step - (waits ? 1 : 0)];
  return Put(child, DownSource(tree, p, slice), DownLanding(tree, child, slice));
}

BufferSpan TreeSchedule::Landing(Participant p, std::uint64_t child, ByteRange slice) const {
  if (SumsInOutput(p)) {
    if (child == 0) {
      return Span(Buffer::kOutput, slice);
    }
    --child;
  }
  slice.offset += static_cast<std::int64_t>(child) * bytes();
  return Span(Buffer::kScratch, slice);
}

BufferSpan TreeSchedule::DownLanding(const Tree& tree, Participant p, ByteRange slice) const {
  return is_rank(p) ? Span(Buffer::kOutput, slice) : Landing(p, tree.children(p).size(), slice);
}

BufferSpan TreeSchedule::DownSource(const Tree& tree, Participant p, ByteRange slice) const {
  if (!tree.is_root(p)) {
    return DownLanding(tree, p, slice);
  }
  return reduces() ? Landing(p, 0, slice) : Span(Buffer::kInput, slice);
}

}  // namespace trunkline
