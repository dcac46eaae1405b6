#include "planner/candidates.h"

#include <fmt/format.h>

#include <algorithm>

namespace trunkline {
namespace {

std::uint32_t CeilDivide(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

// What every spec says.
class Specs {
 public:
  Specs(const AdviceRequest& request, const NodeTemplate& node)
      : nodes_(request.gpus / std::max(1U, node.gpus)),
        nics_(nodes_ * std::max(1U, node.nics)),
        radix_(request.radix),
        common_(fmt::format("node={},nodes={}", request.node, nodes_)) {}

  [[nodiscard]] std::string Switched(const char* kind, const std::string& more = "") const {
    return fmt::format("{}:{},radix={}{}", kind, common_, radix_, more);
  }

  // Balanced, a = 2p = 2h (Kim et al., ISCA 2008), of 4h - 1 ports; as few groups as hold the NICs.
  [[nodiscard]] std::string Dragonfly() const {
    const std::uint32_t h = (radix_ + 1) / 4;
    const std::uint32_t groups = GroupsOf(2 * h * h, 2 * h * h + 1);
    if (h == 0 || groups == 0) return "";
    return fmt::format("dragonfly:{},h={},p={},a={},g={}", common_, h, h, 2 * h, groups);
  }

  // Leaves and spines with half of their ports each way.
  [[nodiscard]] std::string DragonflyPlus() const {
    const std::uint32_t half = radix_ / 2;
    const std::uint32_t groups = GroupsOf(half * half, half * half + 1);
    if (half == 0 || groups == 0) return "";
    return fmt::format("dragonfly-plus:{},h={},p={},leaves={},spines={},g={}", common_, half, half,
                       half, half, groups);
  }

 private:
  // 0: more than can be joined, or too few to be a dragonfly.
  [[nodiscard]] std::uint32_t GroupsOf(std::uint32_t ends, std::uint32_t most) const {
    const std::uint32_t groups = ends == 0 ? 0 : CeilDivide(nics_, ends);
    return groups < 2 || groups > most ? 0 : groups;
  }

  std::uint32_t nodes_;
  std::uint32_t nics_;
  std::uint32_t radix_;
  std::string common_;
};

}  // namespace

std::vector<CandidateFabric> CandidatesFor(const AdviceRequest& request, const NodeTemplate& node) {
  const Specs specs(request, node);
  const std::uint32_t nics = std::max(1U, node.nics);
  const std::string one_nic =
      nics > 1 ? "" : "a node has one NIC: there are no rails to keep apart";
  const std::string no_groups =
      "one group of this radix holds every NIC, or more than can be joined";
  std::vector<CandidateFabric> candidates = {
      {"Clos, non-blocking", specs.Switched("clos"), "",
       "any: AllReduce, AllToAll, several tenants",
       "cost; hash collisions under static routing; a failure above the leaves"},
      {"Clos, 2:1 oversubscribed", specs.Switched("clos", ",oversubscription=2"), "",
       "traffic that stays within leaves",
       "AllToAll and every job that spans leaves: uplinks carry half"},
      {"rail-optimized", specs.Switched("rail-optimized"), one_nic,
       "stable data-parallel groups whose rings keep to rails",
       "ranks or NICs placed on the wrong rail; cross-rail AllToAll climbs to the spines"},
      {"multi-plane", specs.Switched("clos", fmt::format(",planes={}", nics)), one_nic,
       "the same as a Clos, with two tiers up to more GPUs and faults kept to a plane",
       "cross-plane traffic is forwarded inside nodes; a lost NIC is a lost plane of its GPU"},
      {"rail-only", specs.Switched("rail-only"), one_nic,
       "dense models whose tensor parallelism stays inside a node",
       "AllToAll, which is forwarded over NVLink; a lost leaf cuts its rail in two"},
      {"dragonfly", specs.Dragonfly(), "",
       "very large systems with local traffic and placement under control",
       "AllToAll and neighbouring groups: few global cables, which minimal routes overload"},
      {"dragonfly-plus", specs.DragonflyPlus(), "", "as a dragonfly, with more ways inside a group",
       "the same global cables; tails under adaptive routing"},
  };
  for (CandidateFabric& candidate : candidates) {
    if (candidate.spec.empty() && candidate.refusal.empty()) candidate.refusal = no_groups;
  }
  return candidates;
}

}  // namespace trunkline
