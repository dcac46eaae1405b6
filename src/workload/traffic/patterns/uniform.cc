#include "trunkline/base/random.h"
#include "workload/traffic/pattern.h"

namespace trunkline {
namespace {

class Uniform : public Destinations {
 public:
  explicit Uniform(const PatternParameters& parameters)
      : ranks_(parameters.ranks()), seed_(parameters.seed()) {}
  std::uint32_t per_round(std::uint32_t /*source*/) const override { return 1; }
  std::uint32_t Of(std::uint32_t source, std::uint64_t index) const override {
    return AnyOther(Draw(seed_, source, index), source, ranks_);
  }

 private:
  std::uint32_t ranks_;
  std::uint64_t seed_;
};

}  // namespace

const PatternBuilder& UniformPattern() {
  static const PatternBuilder pattern = {
      .info = {.name = "uniform",
               .summary = "every message goes to any other rank, all alike likely",
               .keys = {}},
      .make = [](const PatternParameters& parameters) -> Result<std::unique_ptr<Destinations>> {
        return std::make_unique<Uniform>(parameters);
      }};
  return pattern;
}

}  // namespace trunkline
