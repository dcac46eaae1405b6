#include "collective/algorithms/exchange.h"

#include <algorithm>
#include <vector>

#include "collective/program_schedule.h"

namespace trunkline {
namespace {

// Prefix sums of the matrix of an AllToAllV, along rows for inputs and along columns for outputs:
// the one schedule whose storage grows with ranks^2, as its specification does.
class BlockOffsets {
 public:
  BlockOffsets(const std::vector<std::int64_t>& matrix, std::uint32_t ranks) : ranks_(ranks) {
    if (matrix.empty()) {
      return;
    }
    input_.resize(matrix.size());
    output_.resize(matrix.size());
    for (std::size_t i = 0; i < ranks; ++i) {
      for (std::size_t j = 1; j < ranks; ++j) {
        input_[i * ranks + j] = input_[i * ranks + j - 1] + matrix[i * ranks + j - 1];
        output_[j * ranks + i] = output_[(j - 1) * ranks + i] + matrix[(j - 1) * ranks + i];
      }
    }
  }
  // Of what `source` sends to `destination`: where it begins in the one's input …
  [[nodiscard]] std::int64_t input(std::size_t source, std::size_t destination) const {
    return input_[source * ranks_ + destination];
  }
  // … and in the other's output.
  [[nodiscard]] std::int64_t output(std::size_t source, std::size_t destination) const {
    return output_[source * ranks_ + destination];
  }

 private:
  std::size_t ranks_;
  std::vector<std::int64_t> input_;
  std::vector<std::int64_t> output_;
};

class ExchangeSchedule : public ProgramSchedule<ExchangeSchedule> {
 public:
  ExchangeSchedule(const char* algorithm, Pace pace, const CollectiveSpec& spec,
                   const GroupLayout& layout)
      : ProgramSchedule(algorithm, spec, layout.size()),
        pace_(pace),
        offsets_(spec.matrix, layout.size()) {}

  [[nodiscard]] std::uint64_t op_count(Participant rank, std::uint32_t) const override {
    return (keeps(rank) ? 1 : 0) + destinations(rank) + sources(rank);
  }

  [[nodiscard]] bool rotates() const override {
    switch (primitive()) {
      case Primitive::kAllToAll:
      case Primitive::kAllGather:
        return chunks().even();
      default:
        return shifts();
    }
  }

  [[nodiscard]] Op OpAt(Participant rank, std::uint32_t channel, std::uint64_t index) const {
    if (keeps(rank)) {
      if (index == 0) {
        return Copy(Source(rank, rank, channel), Target(rank, rank, channel));
      }
      --index;
    }
    if (pace_ == Pace::kPairwise) {
      const auto distance = static_cast<std::uint32_t>(index / 2) + 1;
      return index % 2 == 0 ? PutTo(rank, destination(rank, distance), channel)
                            : Wait(source(rank, distance));
    }
    if (index < destinations(rank)) {
      const auto distance = static_cast<std::uint32_t>(index) + 1;
      return PutTo(rank, destination(rank, distance), channel);
    }
    return Wait(source(rank, static_cast<std::uint32_t>(index - destinations(rank)) + 1));
  }

  template <typename Visit>
  void ForEachDestination(Participant rank, std::uint32_t, Visit visit) const {
    if (destinations(rank) == ranks() - 1) {
      for (Participant peer = 0; peer < ranks(); ++peer) {
        if (peer != rank) visit(peer);
      }
    } else if (destinations(rank) == 1) {
      visit(destination(rank, 1));
    }
  }

 private:
  // Who sends: every rank, or the root only; and to whom.
  [[nodiscard]] bool from_root() const {
    return primitive() == Primitive::kScatter || primitive() == Primitive::kBroadcast;
  }
  [[nodiscard]] bool to_root() const { return primitive() == Primitive::kGather; }
  [[nodiscard]] bool shifts() const { return primitive() == Primitive::kSendRecv; }

  [[nodiscard]] bool keeps(Participant rank) const {
    return shifts() ? ranks() == 1 : !(from_root() || to_root()) || rank == spec().root;
  }
  [[nodiscard]] std::uint32_t destinations(Participant rank) const {
    if (from_root()) {
      return rank == spec().root ? ranks() - 1 : 0;
    }
    if (to_root()) {
      return rank == spec().root ? 0 : 1;
    }
    return shifts() ? std::min(ranks() - 1, 1U) : ranks() - 1;
  }
  [[nodiscard]] std::uint32_t sources(Participant rank) const {
    if (to_root()) {
      return rank == spec().root ? ranks() - 1 : 0;
    }
    if (from_root()) {
      return rank == spec().root ? 0 : 1;
    }
    return destinations(rank);
  }
  [[nodiscard]] Participant destination(Participant rank, std::uint32_t distance) const {
    return to_root() ? spec().root : (rank + distance) % ranks();
  }
  [[nodiscard]] Participant source(Participant rank, std::uint32_t distance) const {
    return from_root() ? spec().root : (rank + ranks() - distance) % ranks();
  }

  [[nodiscard]] Op PutTo(Participant rank, Participant peer, std::uint32_t channel) const {
    return Put(peer, Source(rank, peer, channel), Target(rank, peer, channel));
  }

  // The channel's piece of what `from` sends to `to`, in the input of the one …
  [[nodiscard]] BufferSpan Source(Participant from, Participant to, std::uint32_t channel) const {
    return Span(Buffer::kInput, Piece(InputBlock(from, to), channel));
  }
  // … and in the output of the other.
  [[nodiscard]] BufferSpan Target(Participant from, Participant to, std::uint32_t channel) const {
    ByteRange block = InputBlock(from, to);
    block.offset = OutputOffset(from, to);
    return Span(Buffer::kOutput, Piece(block, channel));
  }
  [[nodiscard]] ByteRange Piece(ByteRange block, std::uint32_t channel) const {
    if (channels() == 1) return block;
    const ByteRange piece = EvenCut(block.size, element(), channels()).range(channel);
    return {block.offset + piece.offset, piece.size};
  }

  [[nodiscard]] ByteRange InputBlock(Participant from, Participant to) const {
    switch (primitive()) {
      case Primitive::kAllToAll:
      case Primitive::kScatter:
        return chunks().range(to);
      case Primitive::kAllToAllV:
        return {offsets_.input(from, to), spec().matrix[std::size_t{from} * ranks() + to]};
      case Primitive::kAllGather:
      case Primitive::kGather:
        return {0, chunks().size(from)};
      default:
        return {0, bytes()};
    }
  }
  [[nodiscard]] std::int64_t OutputOffset(Participant from, Participant to) const {
    switch (primitive()) {
      case Primitive::kAllToAll:
        return from * chunks().size(to);
      case Primitive::kAllToAllV:
        return offsets_.output(from, to);
      case Primitive::kAllGather:
      case Primitive::kGather:
        return chunks().offset(from);
      default:
        return 0;
    }
  }

  Pace pace_;
  BlockOffsets offsets_;
};

}  // namespace

double LargestBlock(const CollectiveSpec& spec, std::uint32_t ranks) {
  switch (spec.primitive) {
    case Primitive::kBroadcast:
    case Primitive::kSendRecv:
      return static_cast<double>(spec.bytes.count());
    case Primitive::kAllToAllV: {
      std::vector<std::int64_t> sent(ranks);
      std::vector<std::int64_t> received(ranks);
      for (std::size_t i = 0; i < ranks; ++i) {
        for (std::size_t j = 0; j < ranks; ++j) {
          const std::int64_t moved = i == j ? 0 : spec.matrix[i * ranks + j];
          sent[i] += moved;
          received[j] += moved;
        }
      }
      const std::int64_t most =
          std::max(*std::ranges::max_element(sent), *std::ranges::max_element(received));
      return static_cast<double>(most) / (ranks - 1);
    }
    default:
      return static_cast<double>(spec.bytes.count()) / ranks;
  }
}

bool ExchangeSupports(Primitive primitive) {
  switch (primitive) {
    case Primitive::kAllToAll:
    case Primitive::kAllToAllV:
    case Primitive::kAllGather:
    case Primitive::kGather:
    case Primitive::kScatter:
    case Primitive::kBroadcast:
    case Primitive::kSendRecv:
      return true;
    default:
      return false;
  }
}

std::shared_ptr<const Schedule> MakeExchange(const char* algorithm, Pace pace,
                                             const CollectiveSpec& spec,
                                             const GroupLayout& layout) {
  return std::make_shared<ExchangeSchedule>(algorithm, pace, spec, layout);
}

}  // namespace trunkline
