#include "workload/traffic/pattern.h"

namespace trunkline {
namespace {

// Rank i sends to i + 1, i + 2, …: at every step a permutation.
class AllToAll : public Destinations {
 public:
  AllToAll(std::uint32_t ranks, std::uint32_t parallel) : ranks_(ranks), parallel_(parallel) {}
  std::uint32_t per_round(std::uint32_t /*source*/) const override { return ranks_ - 1; }
  std::uint32_t Of(std::uint32_t source, std::uint64_t index) const override {
    return static_cast<std::uint32_t>((source + 1 + index % (ranks_ - 1)) % ranks_);
  }
  std::uint32_t parallel() const override { return parallel_; }

 private:
  std::uint32_t ranks_;
  std::uint32_t parallel_;
};

}  // namespace

const PatternBuilder& AllToAllPattern() {
  static const PatternBuilder pattern = {
      .info = {.name = "all-to-all",
               .summary = "each rank sends to every other, to the next one first",
               .keys = {{"parallel", TrafficKey::Type::kCount, 1, kMostRanks, "all",
                         "messages of one rank that are on their way at a time"}}},
      .make = [](const PatternParameters& parameters) -> Result<std::unique_ptr<Destinations>> {
        return std::make_unique<AllToAll>(parameters.ranks(), parameters.Count("parallel", 0));
      }};
  return pattern;
}

}  // namespace trunkline
