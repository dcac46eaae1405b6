#pragma once

#include "engine/flow/problem.h"
#include "trunkline/base/int128.h"

namespace trunkline {

// Adds up what connections put on the hops of their paths. Those that share hops come in a row
// mostly: these hops are visited once, with the sum.
class HopSums {
 public:
  // REQUIRES: `problem` outlives it.
  explicit HopSums(const FlowProblem& problem) : problem_(problem) {}

  // Calls visit(hop, amount) for some hops now, and for the others in a later call.
  template <typename Visit>
  void Add(const FlowPath& path, Uint128 amount, Visit visit) {
    if (!path.SharesHopsWith(path_)) Flush(visit);
    path_ = path;
    if (path.hop_count == 0) return;
    shared_ += amount;
    visit(path.last_hop, amount);
  }
  template <typename Visit>
  void Flush(Visit visit) {
    if (shared_ == 0) return;
    for (const FlowHop& hop : problem_.shared_hops_of(path_)) visit(hop, shared_);
    shared_ = 0;
  }
  // Whether the path shares hops with the one added last.
  [[nodiscard]] bool Continues(const FlowPath& path) const { return path.SharesHopsWith(path_); }

 private:
  const FlowProblem& problem_;
  FlowPath path_;       // added last
  Uint128 shared_ = 0;  // on the hops that it shares
};

}  // namespace trunkline
