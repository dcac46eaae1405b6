#include "collective/algorithms/exchange.h"
#include "collective/cost_terms.h"
#include "collective/registry.h"

namespace trunkline {
namespace {

Result<std::shared_ptr<const Schedule>> MakeDirect(const CollectiveSpec& spec,
                                                   const GroupLayout& layout) {
  return MakeExchange("direct", Pace::kAtOnce, spec, layout);
}

std::vector<CostTerm> DirectTerms(const CollectiveSpec& spec, const GroupShape& shape) {
  const double block = LargestBlock(spec, shape.ranks);
  CostTerm term = ExchangeTerm(shape, block);
  if (spec.primitive == Primitive::kSendRecv) {
    // The next rank is in another node for one rank of each.
    term = {.inside_bytes = shape.per_node > 1 ? block : 0,
            .outside_bytes = shape.nodes > 1 ? block : 0,
            .node_bytes = shape.nodes > 1 ? block : 0};
  } else if (spec.primitive == Primitive::kGather || spec.primitive == Primitive::kScatter ||
             spec.primitive == Primitive::kBroadcast) {
    term.node_bytes = term.outside_bytes;  // of the root alone
  }
  (shape.nodes > 1 ? term.outside_steps : term.inside_steps) = 1;
  return {term};
}

// NCCL's users write these of ncclSend and ncclRecv; its AllGather and Broadcast are rings.
bool InNccl(Primitive primitive) {
  return ExchangeSupports(primitive) && primitive != Primitive::kAllGather &&
         primitive != Primitive::kBroadcast;
}

}  // namespace

Algorithm DirectAlgorithm() {
  return {.name = "direct",
          .summary = "every block goes straight to its destination, all at once",
          .cost =
              "all_to_all: 1 step, (p-1)/p n bytes sent by each rank; gather, scatter, "
              "broadcast: all of it through the root",
          .supports = ExchangeSupports,
          .make = MakeDirect,
          .cost_terms = DirectTerms,
          .in_nccl = InNccl,
          .channels_alike = [](bool) { return true; }};
}

}  // namespace trunkline
