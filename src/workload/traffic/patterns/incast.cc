#include <vector>

#include "workload/traffic/pattern.h"

namespace trunkline {
namespace {

// The senders are those that follow the target, evenly spread over the others: in a job of racks,
// they come from many.
class Incast : public Destinations {
 public:
  Incast(std::uint32_t ranks, std::uint32_t target, std::uint32_t senders)
      : target_(target), sends_(ranks, false) {
    const std::uint64_t others = ranks - 1;
    for (std::uint64_t i = 0; i < senders; ++i) {
      sends_[(target + 1 + i * others / senders) % ranks] = true;
    }
  }
  std::uint32_t per_round(std::uint32_t source) const override { return sends_[source] ? 1 : 0; }
  std::uint32_t Of(std::uint32_t /*source*/, std::uint64_t /*index*/) const override {
    return target_;
  }

 private:
  std::uint32_t target_;
  std::vector<bool> sends_;
};

Result<std::unique_ptr<Destinations>> MakeIncast(const PatternParameters& parameters) {
  const std::uint32_t ranks = parameters.ranks();
  const auto target = parameters.CountBelow("target", 0, ranks);
  if (!target) return std::unexpected(target.error());
  const auto senders = parameters.CountBelow("senders", ranks - 1, ranks);
  if (!senders) return std::unexpected(senders.error());
  return std::make_unique<Incast>(ranks, *target, *senders);
}

}  // namespace

const PatternBuilder& IncastPattern() {
  static const PatternBuilder pattern = {
      .info = {.name = "incast",
               .summary = "many ranks send to one",
               .keys = {{"senders", TrafficKey::Type::kCount, 1, kMostRanks, "all others",
                         "how many send, spread evenly over the other ranks"},
                        {"target", TrafficKey::Type::kCount, 0, kMostRanks, "0",
                         "the rank that receives"}}},
      .make = MakeIncast};
  return pattern;
}

}  // namespace trunkline
