#include <algorithm>
#include <cstdint>

#include "collective/cut.h"
#include "collective/folding.h"
#include "collective/ring_order.h"
#include "engine/analytic/forms.h"

namespace trunkline {
namespace {

// Steps over doubling distances among the active ranks of every channel, and the steps in which the
// others hand in their data and get the result (collective/folding.h).
class DoublingSteps {
 public:
  explicit DoublingSteps(const FormInput& input)
      : group_(input.group),
        channels_(input.spec.channels),
        order_(input.group.layout(), channels_),
        folding_(input.group.ranks()) {}

  [[nodiscard]] std::uint32_t levels() const { return folding_.levels(); }
  [[nodiscard]] std::uint32_t active() const { return folding_.active(); }

  // Active rank v sends to v xor 2^level.
  [[nodiscard]] double Exchange(std::uint32_t level, double bytes) {
    return group_.StepSeconds([&](const auto& visit) {
      for (std::uint32_t channel = 0; channel < channels_; ++channel) {
        for (std::uint32_t v = 0; v < folding_.active(); ++v) {
          visit(RankOf(v, channel), RankOf(v ^ (1U << level), channel), bytes);
        }
      }
    });
  }

  // The ranks that sit out send their data to their neighbours (and later get the result).
  [[nodiscard]] double HandOver(bool back, double bytes) {
    return group_.StepSeconds([&](const auto& visit) {
      for (std::uint32_t channel = 0; channel < channels_; ++channel) {
        for (std::uint32_t i = 0; folding_.sits_out(i); i += 2) {
          const std::uint32_t idle = order_.rank(i, channel);
          const std::uint32_t partner = order_.rank(i + 1, channel);
          visit(back ? partner : idle, back ? idle : partner, bytes);
        }
      }
    });
  }

 private:
  [[nodiscard]] std::uint32_t RankOf(std::uint32_t active_number, std::uint32_t channel) const {
    return order_.rank(folding_.position(active_number), channel);
  }

  GroupModel& group_;
  std::uint32_t channels_;
  RingOrder order_;
  Folding folding_;
};

// Every rank sends to the one `distance` after it.
double ShiftSeconds(GroupModel& group, std::uint32_t distance, double bytes) {
  const std::uint32_t p = group.ranks();
  return group.StepSeconds([&](const auto& visit) {
    for (std::uint32_t i = 0; i < p; ++i) visit(i, (i + distance) % p, bytes);
  });
}

double MatrixShiftSeconds(GroupModel& group, const CollectiveSpec& spec, std::uint32_t distance) {
  const std::uint32_t p = group.ranks();
  return group.StepSeconds([&](const auto& visit) {
    for (std::uint32_t i = 0; i < p; ++i) {
      const std::uint32_t j = (i + distance) % p;
      visit(i, j, static_cast<double>(spec.matrix[std::size_t{i} * p + j]));
    }
  });
}

}  // namespace

// ceil(log2 p) steps of n, two more for ranks beyond a power of two.
double RecursiveDoublingForm(const FormInput& input) {
  const CollectiveSpec& spec = input.spec;
  const auto bytes =
      static_cast<double>(LongestPiece(spec.bytes.count(), spec.element_bytes, spec.channels));
  DoublingSteps steps(input);
  double seconds = steps.HandOver(false, bytes) + steps.HandOver(true, bytes);
  for (std::uint32_t level = 0; level < steps.levels(); ++level) {
    seconds += steps.Exchange(level, bytes);
  }
  return seconds;
}

// Halves n/2, n/4, … to partners 1, 2, … away, then the same back: 2 log2 p steps.
double HalvingDoublingForm(const FormInput& input) {
  const CollectiveSpec& spec = input.spec;
  const std::int64_t piece = LongestPiece(spec.bytes.count(), spec.element_bytes, spec.channels);
  DoublingSteps steps(input);
  const Cut blocks(piece, spec.element_bytes, steps.active());
  double seconds = steps.HandOver(false, static_cast<double>(piece)) +
                   steps.HandOver(true, static_cast<double>(piece));
  for (std::uint32_t level = 0; level < steps.levels(); ++level) {
    const std::int64_t window = blocks.offset(steps.active() >> (level + 1));
    seconds += 2 * steps.Exchange(level, static_cast<double>(window));
  }
  return seconds;
}

// ceil(log2 p) steps; step k moves min(2^k, p - 2^k) blocks to the rank 2^k before.
double BruckForm(const FormInput& input) {
  const std::uint32_t p = input.group.ranks();
  const Cut blocks(input.spec.bytes.count(), input.spec.element_bytes, p);
  double seconds = 0;
  for (std::uint32_t distance = 1; distance < p; distance *= 2) {
    const std::int64_t run = blocks.offset(std::min(distance, p - distance));
    seconds += ShiftSeconds(input.group, p - distance, static_cast<double>(run));
  }
  return seconds;
}

// p-1 steps, each when that before has arrived. In large groups evenly spaced steps stand for those
// between them: what a step costs depends on its distance only through the parts it crosses.
double PairwiseForm(const FormInput& input) {
  const CollectiveSpec& spec = input.spec;
  const std::uint32_t p = input.group.ranks();
  if (spec.primitive == Primitive::kAllToAllV) {
    double seconds = 0;
    for (std::uint32_t distance = 1; distance < p; ++distance) {
      seconds += MatrixShiftSeconds(input.group, spec, distance);
    }
    return seconds;
  }
  constexpr std::uint32_t kMostPuts = 1U << 18;
  const auto block = static_cast<double>(LongestPiece(spec.bytes.count(), spec.element_bytes, p));
  const std::uint32_t sampled = std::min(p - 1, std::max(16U, kMostPuts / p));
  double seconds = 0;
  for (std::uint32_t i = 0; i < sampled; ++i) {
    const std::uint64_t distance = 1 + std::uint64_t{i} * (p - 1) / sampled;
    seconds += ShiftSeconds(input.group, static_cast<std::uint32_t>(distance), block);
  }
  return seconds * (p - 1) / sampled;
}

// One step of everything.
double DirectForm(const FormInput& input) {
  const CollectiveSpec& spec = input.spec;
  const std::uint32_t p = input.group.ranks();
  const auto whole = static_cast<double>(spec.bytes.count());
  const auto block = static_cast<double>(LongestPiece(spec.bytes.count(), spec.element_bytes, p));
  const auto with_root = [&](bool to_root, double bytes) {
    return input.group.StepSeconds([&](const auto& visit) {
      for (std::uint32_t i = 0; i < p; ++i) {
        if (i == spec.root) continue;
        visit(to_root ? i : spec.root, to_root ? spec.root : i, bytes);
      }
    });
  };
  switch (spec.primitive) {
    case Primitive::kGather:
      return with_root(true, block);
    case Primitive::kScatter:
      return with_root(false, block);
    case Primitive::kBroadcast:
      return with_root(false, whole);
    case Primitive::kSendRecv:
      return ShiftSeconds(input.group, 1, whole);
    case Primitive::kAllToAllV:
      return input.group.StepSeconds([&](const auto& visit) {
        for (std::uint32_t i = 0; i < p; ++i) {
          for (std::uint32_t j = 0; j < p; ++j) {
            if (i != j) visit(i, j, static_cast<double>(spec.matrix[std::size_t{i} * p + j]));
          }
        }
      });
    default:
      return input.group.AllPairsSeconds(block);
  }
}

}  // namespace trunkline
