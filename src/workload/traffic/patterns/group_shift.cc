#include <fmt/format.h>

#include "workload/traffic/pattern.h"

namespace trunkline {
namespace {

// Rank i of a group sends to rank i of a group further on. With shift 1 and the groups of a
// dragonfly, all traffic of a group crosses the one cable to its neighbour on minimal paths: the
// worst case of Kim, Dally, Scott, Abts: Technology-Driven, Highly-Scalable Dragonfly Topology,
// ISCA 2008, section 4.2 (there to a random host of the next group).
class GroupShift : public Destinations {
 public:
  GroupShift(std::uint32_t ranks, std::uint64_t offset) : ranks_(ranks), offset_(offset) {}
  std::uint32_t per_round(std::uint32_t /*source*/) const override { return 1; }
  std::uint32_t Of(std::uint32_t source, std::uint64_t /*index*/) const override {
    return static_cast<std::uint32_t>((source + offset_) % ranks_);
  }

 private:
  std::uint32_t ranks_;
  std::uint64_t offset_;
};

Result<std::unique_ptr<Destinations>> MakeGroupShift(const PatternParameters& parameters) {
  const std::uint32_t ranks = parameters.ranks();
  const std::uint32_t size = parameters.Count("group_size", 0);
  if (size >= ranks || ranks % size != 0) {
    return parameters.Fail(
        "group_size", "TL1753",
        fmt::format("{} ranks do not divide into two groups or more of {}", ranks, size),
        "a divisor of the number of ranks, such as the hosts of a dragonfly's group");
  }
  const auto shift = parameters.CountBelow("shift", 1, ranks / size);
  if (!shift) return std::unexpected(shift.error());
  return std::make_unique<GroupShift>(ranks, std::uint64_t{*shift} * size);
}

}  // namespace

const PatternBuilder& GroupShiftPattern() {
  static const PatternBuilder pattern = {
      .info = {.name = "group-shift",
               .summary = "rank i of each group sends to rank i of the next group",
               .keys = {{"group_size", TrafficKey::Type::kCount, 1, kMostRanks, "",
                         "ranks of a group, which are consecutive"},
                        {"shift", TrafficKey::Type::kCount, 1, kMostRanks, "1",
                         "how many groups further on"}}},
      .make = MakeGroupShift};
  return pattern;
}

}  // namespace trunkline
