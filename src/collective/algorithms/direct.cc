#include "collective/algorithms/exchange.h"
#include "collective/registry.h"

namespace trunkline {
namespace {

Result<std::shared_ptr<const Schedule>> Make(const CollectiveSpec& spec,
                                             const GroupLayout& layout) {
  return MakeExchange("direct", Pace::kAtOnce, spec, layout);
}

}  // namespace

Algorithm DirectAlgorithm() {
  return {.name = "direct",
          .summary = "every block goes straight to its destination, all at once",
          .cost =
              "all_to_all: 1 step, (p-1)/p n bytes sent by each rank; gather, scatter, "
              "broadcast: all of it through the root",
          .supports = ExchangeSupports,
          .make = Make};
}

}  // namespace trunkline
