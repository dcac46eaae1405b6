#include <fmt/format.h>

#include "fabric/builders/xgft.h"

namespace trunkline {
namespace {

Result<NetworkPlan> PlanSingleSwitch(const FabricParameters& parameters) {
  const std::uint32_t nodes = parameters.nodes();
  if (nodes == 0) {
    return parameters.Fail("nodes", "TL1405", "single-switch needs a number of nodes",
                           "write how many there are");
  }
  const std::uint32_t ends = nodes * parameters.nics();
  XgftPlan plan;
  plan.levels = {{.children = ends, .rate = parameters.link()}};
  plan.seats = ConsecutiveSeats(nodes, parameters.nics(), 1, ends);
  plan.cable_latency = parameters.cable_latency();
  plan.switch_latency = parameters.switch_latency();
  return PlanXgft(
      std::move(plan), nodes, parameters.nics(),
      fmt::format("{} ends of {} on one non-blocking switch", ends, ToString(parameters.link())));
}

}  // namespace

const Builder& SingleSwitchBuilder() {
  static const Builder builder = {
      {"single-switch", "every NIC on one non-blocking switch", {LinkKey()}}, PlanSingleSwitch};
  return builder;
}

}  // namespace trunkline
