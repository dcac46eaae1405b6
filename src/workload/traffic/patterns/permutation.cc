#include <numeric>
#include <utility>
#include <vector>

#include "trunkline/base/random.h"
#include "workload/traffic/pattern.h"

namespace trunkline {
namespace {

// One cycle through all ranks, uniform among such cycles (Sattolo's shuffle), so that nobody sends
// to himself.
class Permutation : public Destinations {
 public:
  explicit Permutation(const PatternParameters& parameters) : to_(parameters.ranks()) {
    std::iota(to_.begin(), to_.end(), 0U);
    for (std::uint32_t i = parameters.ranks() - 1; i > 0; --i) {
      std::swap(to_[i], to_[Below(Draw(parameters.seed(), 0, i), i)]);
    }
  }
  std::uint32_t per_round(std::uint32_t /*source*/) const override { return 1; }
  std::uint32_t Of(std::uint32_t source, std::uint64_t /*index*/) const override {
    return to_[source];
  }

 private:
  std::vector<std::uint32_t> to_;
};

}  // namespace

const PatternBuilder& PermutationPattern() {
  static const PatternBuilder pattern = {
      .info = {.name = "permutation",
               .summary = "each rank sends to one other, each receives from one other",
               .keys = {}},
      .make = [](const PatternParameters& parameters) -> Result<std::unique_ptr<Destinations>> {
        return std::make_unique<Permutation>(parameters);
      }};
  return pattern;
}

}  // namespace trunkline
