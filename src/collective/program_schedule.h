#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collective/cut.h"
#include "trunkline/collective/algorithm.h"
#include "trunkline/collective/schedule.h"

namespace trunkline {

// Makers of ops, so that no field is ever set for a kind that does not read it.
inline Op Put(Participant peer, BufferSpan source, BufferSpan target) {
  return {.kind = OpKind::kPut, .peer = peer, .source = source, .target = target};
}
inline Op Wait(Participant peer) { return {.kind = OpKind::kWait, .peer = peer}; }
inline Op Reduce(BufferSpan source, BufferSpan target) {
  return {.kind = OpKind::kReduce, .source = source, .target = target};
}
inline Op Copy(BufferSpan source, BufferSpan target) {
  return {.kind = OpKind::kCopy, .source = source, .target = target};
}
inline Op Signal(Participant peer) { return {.kind = OpKind::kSignal, .peer = peer}; }
inline Op SignalOwnChannel(Participant self, std::uint32_t channel) {
  return {.kind = OpKind::kSignal, .channel = static_cast<std::uint16_t>(channel), .peer = self};
}

inline BufferSpan Span(Buffer buffer, ByteRange range) {
  return {buffer, range.offset, range.size};
}

// What every schedule knows from its specification: names, channels and buffer sizes.
class SpecSchedule : public Schedule {
 public:
  SpecSchedule(std::string algorithm, CollectiveSpec spec, std::uint32_t ranks);

  [[nodiscard]] Primitive primitive() const final { return spec_.primitive; }
  [[nodiscard]] std::string algorithm() const override { return algorithm_; }
  [[nodiscard]] std::uint32_t ranks() const final { return ranks_; }
  [[nodiscard]] std::uint32_t channels() const override { return spec_.channels; }
  [[nodiscard]] ChannelShape channel_shape(std::uint32_t) const override { return {spec_.slots}; }
  [[nodiscard]] std::int64_t input_bytes(std::uint32_t rank) const override;
  [[nodiscard]] std::int64_t output_bytes(std::uint32_t rank) const override;

 protected:
  [[nodiscard]] const CollectiveSpec& spec() const { return spec_; }
  [[nodiscard]] std::int64_t bytes() const { return spec_.bytes.count(); }
  [[nodiscard]] std::int64_t element() const { return spec_.element_bytes; }
  // The data cut into one chunk a rank, in rank order.
  [[nodiscard]] const EvenCut& chunks() const { return chunks_; }

  // What a piece takes on its way (sent_bytes) of a cut whose longest has `longest` bytes.
  [[nodiscard]] std::int64_t Padded(std::int64_t size, std::int64_t longest) const {
    const bool is_short = size == longest - element();
    return is_short && size >= kLeastToPad * element() ? longest : size;
  }

 private:
  // An element more is less than a thousandth of a piece of as many.
  static constexpr std::int64_t kLeastToPad = 1024;

  // Of one row or column of the matrix.
  [[nodiscard]] std::int64_t MatrixSum(std::size_t first, std::size_t stride) const;

  std::string algorithm_;
  CollectiveSpec spec_;
  std::uint32_t ranks_;
  EvenCut chunks_;
};

// A schedule whose ops are closed forms. `Derived` has
//   Op OpAt(Participant, std::uint32_t channel, std::uint64_t index) const
//   void ForEachDestination(Participant, std::uint32_t channel, auto&& visit) const
//     calls visit(Participant) for every other participant that the program puts or signals to
// which are called here without virtual dispatch.
template <typename Derived>
class ProgramSchedule : public SpecSchedule {
 public:
  using SpecSchedule::SpecSchedule;

  void ops(Participant participant, std::uint32_t channel, std::uint64_t first,
           std::span<Op> out) const final {
    for (Op& op : out) {
      op = derived().OpAt(participant, channel, first++);
    }
  }

  [[nodiscard]] std::vector<Pair> pairs() const final {
    std::vector<Pair> found;
    for (Participant source = 0; source < participants(); ++source) {
      const auto first = static_cast<std::ptrdiff_t>(found.size());
      for (std::uint32_t channel = 0; channel < channels(); ++channel) {
        derived().ForEachDestination(source, channel, [&](Participant destination) {
          found.push_back({source, destination, channel});
        });
      }
      // Often they are in order but for going around once.
      std::rotate(found.begin() + first, std::is_sorted_until(found.begin() + first, found.end()),
                  found.end());
      if (std::adjacent_find(found.begin() + first, found.end(), std::greater_equal{}) ==
          found.end()) {
        continue;
      }
      std::sort(found.begin() + first, found.end());
      found.erase(std::unique(found.begin() + first, found.end()), found.end());
    }
    return found;
  }

 private:
  [[nodiscard]] const Derived& derived() const { return static_cast<const Derived&>(*this); }
};

}  // namespace trunkline
