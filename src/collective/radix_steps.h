#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trunkline/collective/schedule.h"

namespace trunkline {

// Steps in which every rank meets as many others as every other rank does, whatever their number:
// the positions of ranks, node after node, are written in mixed radix, and a step joins those that
// differ in one digit alone. The digits are the prime factors of the ranks of a node, then those of
// the nodes, the smallest first, so that nodes are filled before they are left; where nodes are not
// alike, those of all ranks. Of a power of two, the partners of recursive doubling.
class RadixSteps {
 public:
  struct Step {
    std::uint32_t stride = 1;
    std::uint32_t radix = 2;
  };

  explicit RadixSteps(const GroupLayout& layout) {
    if (layout.uniform()) {
      const std::uint32_t nodes = layout.node_count();
      AddFactors(layout.size() / nodes);
      inside_ = steps_.size();
      AddFactors(nodes);
    } else {
      AddFactors(layout.size());
    }
  }

  [[nodiscard]] std::span<const Step> steps() const { return steps_; }
  // How many of the steps come first that stay in nodes.
  [[nodiscard]] std::size_t inside() const { return inside_; }
  // The position whose digit of the step is `turn` further, round. REQUIRES: turn < radix.
  [[nodiscard]] static std::uint32_t Partner(std::uint32_t position, const Step& step,
                                             std::uint32_t turn) {
    const std::uint32_t digit = position / step.stride % step.radix;
    const std::uint32_t other = (digit + turn) % step.radix;
    return position - digit * step.stride + other * step.stride;
  }

 private:
  void AddFactors(std::uint32_t number) {
    for (std::uint32_t factor = 2; number > 1; ++factor) {
      if (factor > number / factor) factor = number;  // a prime
      for (; number % factor == 0; number /= factor) {
        steps_.push_back({stride_, factor});
        stride_ *= factor;
      }
    }
  }

  std::vector<Step> steps_;
  std::size_t inside_ = 0;
  std::uint32_t stride_ = 1;
};

}  // namespace trunkline
