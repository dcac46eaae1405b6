#include "collective/algorithms/exchange.h"
#include "collective/cost_terms.h"
#include "collective/registry.h"

namespace trunkline {
namespace {

bool PairwiseSupports(Primitive primitive) {
  return primitive == Primitive::kAllToAll || primitive == Primitive::kAllToAllV ||
         primitive == Primitive::kAllGather;
}

Result<std::shared_ptr<const Schedule>> MakePairwise(const CollectiveSpec& spec,
                                                     const GroupLayout& layout) {
  return MakeExchange("pairwise", Pace::kPairwise, spec, layout);
}

// Steps follow one another, most of them between nodes, so the two kinds do not overlap.
std::vector<CostTerm> PairwiseTerms(const CollectiveSpec& spec, const GroupShape& shape) {
  CostTerm blocks = ExchangeTerm(shape, LargestBlock(spec, shape.ranks));
  const CostTerm near{.inside_steps = shape.per_node - 1.0, .inside_bytes = blocks.inside_bytes};
  blocks.inside_bytes = 0;
  blocks.outside_steps = shape.ranks - shape.per_node;
  return {near, blocks};
}

}  // namespace

Algorithm PairwiseAlgorithm() {
  return {.name = "pairwise",
          .summary = "step k: send to rank + k, receive from rank - k",
          .cost = "all_to_all: p-1 steps, (p-1)/p n bytes sent by each rank",
          .supports = PairwiseSupports,
          .make = MakePairwise,
          .cost_terms = PairwiseTerms,
          .channels_alike = [](bool) { return true; }};
}

}  // namespace trunkline
