#include "collective/algorithms/exchange.h"
#include "collective/registry.h"

namespace trunkline {
namespace {

bool Supports(Primitive primitive) {
  return primitive == Primitive::kAllToAll || primitive == Primitive::kAllToAllV ||
         primitive == Primitive::kAllGather;
}

Result<std::shared_ptr<const Schedule>> Make(const CollectiveSpec& spec,
                                             const GroupLayout& layout) {
  return MakeExchange("pairwise", Pace::kPairwise, spec, layout);
}

}  // namespace

Algorithm PairwiseAlgorithm() {
  return {.name = "pairwise",
          .summary = "step k: send to rank + k, receive from rank - k",
          .cost = "all_to_all: p-1 steps, (p-1)/p n bytes sent by each rank",
          .supports = Supports,
          .make = Make};
}

}  // namespace trunkline
