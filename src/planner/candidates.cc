#include "planner/candidates.h"

#include <fmt/format.h>

#include <algorithm>

namespace trunkline {
namespace {

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

  // As few scale units as leaves of half their ports up allow, all full, or two or four times as
  // many smaller ones: where units stay half empty, their uplinks are paid for in vain, and smaller
  // switches may be cheaper. And units of half the ports, the last of them partly filled: their
  // uplinks divide among fewer spines than those of a number such as 7.
  [[nodiscard]] std::vector<std::string> Rails() const {
    const std::uint32_t most = std::max(1U, radix_ / 2);
    const std::uint32_t units = (nodes_ + most - 1) / most;
    const std::uint32_t full = (nodes_ + units - 1) / units;
    std::vector<std::string> specs;
    if (full != most) specs.push_back(Switched("rail-optimized"));
    for (std::uint32_t size = full; size > 0 && size >= full / 4; size /= 2) {
      specs.push_back(Switched("rail-optimized", fmt::format(",unit={}", size)));
    }
    return specs;
  }

  void OneSwitch(CandidateFabric& out) const {
    if (nics_ > radix_) {
      out.refusal = fmt::format("{} NICs are more than the {} ports of a switch", nics_, radix_);
    } else {
      out.spec = Switched("clos", ",tiers=1");
    }
  }
  [[nodiscard]] std::string Tiers() const { return nics_ <= radix_ ? ",tiers=2" : ""; }

  // What a lost switch does to the rails that nothing joins.
  [[nodiscard]] std::string LostRail() const {
    return nodes_ <= radix_ ? "a rail is one switch, and gone with it"
                            : "a lost leaf takes its nodes off their rail";
  }

  // Balanced, a = 2p = 2h (Kim et al., ISCA 2008), of 4h - 1 ports; as few groups as hold the NICs.
  void Dragonfly(CandidateFabric& out) const {
    const std::uint32_t h = (radix_ + 1) / 4;
    const std::uint32_t groups = GroupsOf(2 * std::uint64_t{h} * h, out);
    if (groups == 0) return;
    out.spec = fmt::format("dragonfly:{},h={},p={},a={},g={}", common_, h, h, 2 * h, groups);
  }

  // Leaves and spines with half of their ports each way.
  void DragonflyPlus(CandidateFabric& out) const {
    const std::uint32_t half = radix_ / 2;
    const std::uint32_t groups = GroupsOf(std::uint64_t{half} * half, out);
    if (groups == 0) return;
    out.spec = fmt::format("dragonfly-plus:{},h={},p={},leaves={},spines={},g={}", common_, half,
                           half, half, half, groups);
  }

 private:
  // As many groups of `ends` NICs as hold all; 0, with the reason, where those are no dragonfly. A
  // group has as many global cables as NICs, and so at most `ends` + 1 groups can be joined.
  std::uint32_t GroupsOf(std::uint64_t ends, CandidateFabric& out) const {
    const std::uint64_t groups = ends == 0 ? 0 : (nics_ + ends - 1) / ends;
    if (ends == 0) {
      out.refusal = fmt::format("switches of {} ports are too small for a dragonfly", radix_);
    } else if (groups < 2) {
      out.refusal = fmt::format(
          "one group of such switches has room for {} NICs, and a dragonfly has several", ends);
    } else if (groups > ends + 1) {
      out.refusal = fmt::format("{} groups, the most that such switches join, hold {} NICs",
                                ends + 1, ends * (ends + 1));
    } else {
      return static_cast<std::uint32_t>(groups);
    }
    return 0;
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
  std::vector<CandidateFabric> candidates = {
      {"one switch", "", "", "any", "",
       "the switch is one point of failure, and nothing can be added once its ports are taken"},
      // Two tiers even where one switch would do: it is a candidate of its own.
      {"Clos, non-blocking", specs.Switched("clos", specs.Tiers()), "",
       "any: AllReduce, AllToAll, several tenants", "",
       "flows that hashes send by one uplink, and failures above the leaves"},
      {"Clos, 2:1 oversubscribed", specs.Switched("clos", specs.Tiers() + ",oversubscription=2"),
       "", "traffic that stays within leaves", "uplinks carry half",
       "all that crosses leaves at once, other jobs included"},
      {"multi-plane", specs.Switched("clos", fmt::format(",planes={}", nics)), one_nic,
       "the same as a Clos, with two tiers up to more GPUs and faults kept to a plane",
       "what changes planes is forwarded inside nodes",
       "a lost NIC, which takes its GPU off its plane"},
      {"rail-only", specs.Switched("rail-only"), one_nic,
       "dense models whose tensor parallelism stays inside a node",
       "what changes rails is forwarded over NVLink",
       "NVLink that is busy while it forwards; " + specs.LostRail()},
      {"dragonfly", "", "", "very large systems with local traffic and placement under control",
       "global cables are few", "traffic between neighbouring groups under minimal routes"},
      {"dragonfly-plus", "", "", "as a dragonfly, with more ways inside a group",
       "global cables are few",
       "traffic between neighbouring groups under minimal routes, and tails under adaptive ones"},
  };
  specs.OneSwitch(candidates.front());
  specs.Dragonfly(candidates[candidates.size() - 2]);
  specs.DragonflyPlus(candidates.back());
  for (const std::string& spec : specs.Rails()) {
    candidates.push_back(
        {"rail-optimized", spec, one_nic, "stable data-parallel groups whose rings keep to rails",
         "what changes rails climbs to the spines",
         "ranks or NICs placed on the wrong rail, whose traffic climbs to the spines"});
  }
  return candidates;
}

}  // namespace trunkline
