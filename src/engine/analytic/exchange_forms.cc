#include <algorithm>
#include <cstdint>
#include <vector>

#include "collective/cut.h"
#include "collective/radix_steps.h"
#include "collective/rank_folding.h"
#include "collective/ring_order.h"
#include "engine/analytic/forms.h"

namespace trunkline {
namespace {

double Latest(const std::vector<double>& reached) { return *std::ranges::max_element(reached); }

// Steps over doubling distances among the active ranks of every channel, and the steps in which the
// others hand in their data and get the result (collective/rank_folding.h).
class DoublingSteps {
 public:
  explicit DoublingSteps(const FormInput& input)
      : group_(input.group),
        channels_(input.spec.channels),
        order_(input.group.layout(), input.group.layout().meshed ? channels_ : 1),
        folding_(input.group.ranks()),
        node_(channels_ == 1 && folding_.active() == group_.ranks() ? group_.AlikeNodeSize() : 0),
        reached_(node_ > 0 ? node_ : group_.ranks(), 0) {}

  [[nodiscard]] std::uint32_t levels() const { return folding_.levels(); }
  [[nodiscard]] std::uint32_t active() const { return folding_.active(); }
  [[nodiscard]] double seconds() const { return Latest(reached_); }

  // Active rank v sends to v xor 2^level.
  void Exchange(std::uint32_t level, double bytes) {
    if (node_ > 0) return group_.TakeExchange(1U << level, bytes, reached_);
    Step([&](std::uint32_t channel, const auto& visit) {
      for (std::uint32_t position = 0; position < group_.ranks(); ++position) {
        if (folding_.sits_out(position)) continue;
        visit(order_.rank(position, channel),
              order_.rank(folding_.partner(position, level), channel), bytes);
      }
    });
  }

  // The ranks that sit out send their data to their neighbours, or get the result back.
  void HandOver(bool back, double bytes) {
    if (folding_.active() == group_.ranks()) return;
    Step([&](std::uint32_t channel, const auto& visit) {
      for (std::uint32_t i = 0; folding_.sits_out(i); i += 2) {
        const std::uint32_t idle = order_.rank(i, channel);
        const std::uint32_t partner = order_.rank(i + 1, channel);
        visit(back ? partner : idle, back ? idle : partner, bytes);
      }
    });
  }

 private:
  template <typename ForEachPut>
  void Step(const ForEachPut& for_each) {
    group_.TakeStep(
        [&](const auto& visit) {
          for (std::uint32_t channel = 0; channel < channels_; ++channel) for_each(channel, visit);
        },
        reached_);
  }

  GroupModel& group_;
  std::uint32_t channels_;
  RingOrder order_;
  RankFolding folding_;
  std::uint32_t node_;           // members of a node where one node stands for all, else 0
  std::vector<double> reached_;  // by member, of one node or of all
};

// Every rank i sends bytes_to(i, j) to the rank j that is `distance` after it, over so many
// connections.
template <typename BytesTo>
void Shift(GroupModel& group, std::uint32_t distance, const BytesTo& bytes_to,
           std::uint32_t connections, std::vector<double>& reached) {
  const std::uint32_t p = group.ranks();
  group.TakeStep(
      [&](const auto& visit) {
        for (std::uint32_t i = 0; i < p; ++i) {
          const std::uint32_t j = (i + distance) % p;
          visit(i, j, bytes_to(i, j));
        }
      },
      reached, connections);
}

}  // namespace

// ceil(log2 p) steps of n, two more for ranks beyond a power of two.
double RecursiveDoublingForm(const FormInput& input) {
  const CollectiveSpec& spec = input.spec;
  const auto bytes =
      static_cast<double>(LongestPiece(spec.bytes.count(), spec.element_bytes, spec.channels));
  DoublingSteps steps(input);
  steps.HandOver(false, bytes);
  for (std::uint32_t level = 0; level < steps.levels(); ++level) steps.Exchange(level, bytes);
  steps.HandOver(true, bytes);
  return steps.seconds();
}

// A step for each digit, of n bytes to every partner; all that a rank puts in a step leave at once.
double RecursiveMultiplyingForm(const FormInput& input) {
  const CollectiveSpec& spec = input.spec;
  const auto bytes =
      static_cast<double>(LongestPiece(spec.bytes.count(), spec.element_bytes, spec.channels));
  const RingOrder order(input.group.layout(), 1);
  const RadixSteps steps(input.group.layout());
  std::vector<double> reached(input.group.ranks(), 0);
  for (const RadixSteps::Step& step : steps.steps()) {
    input.group.TakeStep(
        [&](const auto& visit) {
          for (std::uint32_t channel = 0; channel < spec.channels; ++channel) {
            for (std::uint32_t position = 0; position < input.group.ranks(); ++position) {
              for (std::uint32_t turn = 1; turn < step.radix; ++turn) {
                visit(order.rank(position, 0),
                      order.rank(RadixSteps::Partner(position, step, turn), 0), bytes);
              }
            }
          }
        },
        reached);
  }
  return Latest(reached);
}

// Halves n/2, n/4, … to partners 1, 2, … away, then the same back: 2 log2 p steps.
double HalvingDoublingForm(const FormInput& input) {
  const CollectiveSpec& spec = input.spec;
  const std::int64_t piece = LongestPiece(spec.bytes.count(), spec.element_bytes, spec.channels);
  DoublingSteps steps(input);
  const EvenCut blocks(piece, spec.element_bytes, steps.active());
  const auto exchange = [&](std::uint32_t level) {
    steps.Exchange(level, static_cast<double>(blocks.offset(steps.active() >> (level + 1))));
  };
  steps.HandOver(false, static_cast<double>(piece));
  for (std::uint32_t level = 0; level < steps.levels(); ++level) exchange(level);
  for (std::uint32_t level = steps.levels(); level-- > 0;) exchange(level);
  steps.HandOver(true, static_cast<double>(piece));
  return steps.seconds();
}

// ceil(log2 p) steps; step k moves min(2^k, p - 2^k) blocks to the rank 2^k before.
double BruckForm(const FormInput& input) {
  const std::uint32_t p = input.group.ranks();
  const EvenCut blocks(input.spec.bytes.count(), input.spec.element_bytes, p);
  std::vector<double> reached(p, 0);
  for (std::uint32_t distance = 1; distance < p; distance *= 2) {
    const auto run = static_cast<double>(blocks.offset(std::min(distance, p - distance)));
    Shift(
        input.group, p - distance, [run](auto, auto) { return run; }, input.spec.channels, reached);
  }
  return Latest(reached);
}

// p-1 steps, each when that before has arrived, and no faster than all of them at once. In large
// groups evenly spaced steps stand for those between them: what a step costs depends on its
// distance only through the parts it crosses.
double PairwiseForm(const FormInput& input) {
  const CollectiveSpec& spec = input.spec;
  const std::uint32_t p = input.group.ranks();
  const bool matrix = spec.primitive == Primitive::kAllToAllV;
  constexpr std::uint32_t kMostPuts = 1U << 18;
  const std::uint32_t steps = matrix ? p - 1 : std::min(p - 1, std::max(16U, kMostPuts / p));
  const auto block = static_cast<double>(LongestPiece(spec.bytes.count(), spec.element_bytes, p));
  std::vector<double> reached(p, 0);
  for (std::uint32_t i = 0; i < steps; ++i) {
    const std::uint64_t distance = 1 + std::uint64_t{i} * (p - 1) / steps;
    Shift(
        input.group, static_cast<std::uint32_t>(distance),
        [&](std::uint32_t from, std::uint32_t to) {
          return matrix ? static_cast<double>(spec.matrix[std::size_t{from} * p + to]) : block;
        },
        spec.channels, reached);
  }
  return std::max(Latest(reached) * (p - 1) / steps, DirectForm(input));
}

// One step of everything.
double DirectForm(const FormInput& input) {
  const CollectiveSpec& spec = input.spec;
  const std::uint32_t p = input.group.ranks();
  const auto whole = static_cast<double>(spec.bytes.count());
  const auto block = static_cast<double>(LongestPiece(spec.bytes.count(), spec.element_bytes, p));
  const auto in_one_step = [&](const auto& for_each) {
    std::vector<double> reached(p, 0);
    input.group.TakeStep(for_each, reached, spec.channels);
    return Latest(reached);
  };
  const auto with_root = [&](bool to_root, double bytes) {
    return in_one_step([&](const auto& visit) {
      for (std::uint32_t i = 0; i < p; ++i) {
        if (i != spec.root) visit(to_root ? i : spec.root, to_root ? spec.root : i, bytes);
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
      return in_one_step([&](const auto& visit) {
        for (std::uint32_t i = 0; i < p; ++i) visit(i, (i + 1) % p, whole);
      });
    case Primitive::kAllToAllV:
      return in_one_step([&](const auto& visit) {
        for (std::uint32_t i = 0; i < p; ++i) {
          for (std::uint32_t j = 0; j < p; ++j) {
            if (i != j) visit(i, j, static_cast<double>(spec.matrix[std::size_t{i} * p + j]));
          }
        }
      });
    default:
      return input.group.AllPairsSeconds(block, spec.channels);
  }
}

}  // namespace trunkline
