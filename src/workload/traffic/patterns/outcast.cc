#include "workload/traffic/pattern.h"

namespace trunkline {
namespace {

// The receivers follow the source, evenly spread over the other ranks, and take turns.
class Outcast : public Destinations {
 public:
  Outcast(std::uint32_t ranks, std::uint32_t source, std::uint32_t receivers)
      : ranks_(ranks), source_(source), receivers_(receivers) {}
  std::uint32_t per_round(std::uint32_t source) const override {
    return source == source_ ? receivers_ : 0;
  }
  std::uint32_t Of(std::uint32_t source, std::uint64_t index) const override {
    const std::uint64_t offset = index % receivers_ * (ranks_ - 1) / receivers_;
    return static_cast<std::uint32_t>((source + 1 + offset) % ranks_);
  }

 private:
  std::uint32_t ranks_;
  std::uint32_t source_;
  std::uint32_t receivers_;
};

Result<std::unique_ptr<Destinations>> MakeOutcast(const PatternParameters& parameters) {
  const std::uint32_t ranks = parameters.ranks();
  const auto source = parameters.CountBelow("source", 0, ranks);
  if (!source) return std::unexpected(source.error());
  const auto receivers = parameters.CountBelow("receivers", ranks - 1, ranks);
  if (!receivers) return std::unexpected(receivers.error());
  return std::make_unique<Outcast>(ranks, *source, *receivers);
}

}  // namespace

const PatternBuilder& OutcastPattern() {
  static const PatternBuilder pattern = {
      .info = {.name = "outcast",
               .summary = "one rank sends to many",
               .keys = {{"receivers", TrafficKey::Type::kCount, 1, kMostRanks, "all others",
                         "how many receive, spread evenly over the other ranks"},
                        {"source", TrafficKey::Type::kCount, 0, kMostRanks, "0",
                         "the rank that sends"}}},
      .make = MakeOutcast};
  return pattern;
}

}  // namespace trunkline
