#include <utility>

#include "fabric/builders/clos_plan.h"

namespace trunkline {
namespace {

// NIC i of every node in a network of rail i, and nothing above that joins the rails: traffic
// between them is forwarded inside the node first (Wang et al.: Rail-only: A Low-Cost
// High-Performance Network for Training LLMs with Trillion Parameters, HotI 2024). A rail is one
// switch where its ports suffice.
Result<NetworkPlan> PlanRailOnly(const FabricParameters& parameters) {
  if (parameters.nodes() == 0) {
    return parameters.Fail("nodes", "TL1405", "rail-only needs a number of nodes",
                           "write how many there are");
  }
  return PlanClos(parameters, ReadClosRequest(parameters), parameters.nics());
}

}  // namespace

const Builder& RailOnlyBuilder() {
  static const Builder builder = {
      {"rail-only",
       "NIC i of every node in a network of its own, without spines where a switch suffices; rails "
       "meet inside the nodes",
       {RadixKey(), OversubscriptionKey(), BreakoutKey(), TiersKey(), PortsKey(), LinkKey(),
        UplinkKey()}},
      PlanRailOnly};
  return builder;
}

}  // namespace trunkline
