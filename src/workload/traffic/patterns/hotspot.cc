#include "trunkline/base/random.h"
#include "workload/traffic/pattern.h"

namespace trunkline {
namespace {

// The hot ranks are the job's first.
class Hotspot : public Destinations {
 public:
  Hotspot(const PatternParameters& parameters, std::uint32_t hot, double share)
      : ranks_(parameters.ranks()), hot_(hot), share_(share), seed_(parameters.seed()) {}
  std::uint32_t per_round(std::uint32_t /*source*/) const override { return 1; }
  std::uint32_t Of(std::uint32_t source, std::uint64_t index) const override {
    const std::uint64_t which = Draw(seed_, source, 2 * index + 1);
    const std::uint32_t other_hot = source < hot_ ? hot_ - 1 : hot_;
    if (other_hot > 0 && ToUnit(Draw(seed_, source, 2 * index)) < share_) {
      return source < hot_ ? AnyOther(which, source, hot_)
                           : static_cast<std::uint32_t>(Below(which, hot_));
    }
    return AnyOther(which, source, ranks_);
  }

 private:
  std::uint32_t ranks_;
  std::uint32_t hot_;
  double share_;
  std::uint64_t seed_;
};

Result<std::unique_ptr<Destinations>> MakeHotspot(const PatternParameters& parameters) {
  const auto hot = parameters.CountBelow("hot_ranks", 1, parameters.ranks());
  if (!hot) return std::unexpected(hot.error());
  return std::make_unique<Hotspot>(parameters, *hot, parameters.Share("hot_share", 0));
}

}  // namespace

const PatternBuilder& HotspotPattern() {
  static const PatternBuilder pattern = {
      .info = {.name = "hotspot",
               .summary = "as uniform, but a share of all messages goes to the first ranks",
               .keys = {{"hot_share", TrafficKey::Type::kShare, 0, 1, "",
                         "share of messages to hot ranks, beside those that uniform sends there"},
                        {"hot_ranks", TrafficKey::Type::kCount, 1, kMostRanks, "1",
                         "how many of the first ranks are hot"}}},
      .make = MakeHotspot};
  return pattern;
}

}  // namespace trunkline
