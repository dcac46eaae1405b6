#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/planner/fabric_trial.h"

// Which fabric to build for a number of GPUs and a kind of work.
namespace trunkline {

struct AdviceRequest {
  std::uint32_t gpus = 0;
  std::string node;              // a node template
  std::uint32_t radix = 64;      // ports of a switch
  std::optional<double> budget;  // in the currency of the prices
  // What a step is made of, where no scenario says it: weights of the two collectives.
  double all_reduce = 0.5;
  double all_to_all = 0.5;
  TrialOptions trial;
};

// A fabric that was tried, or could not be built.
struct Candidate {
  std::string kind;  // "Clos, non-blocking"
  std::string spec;
  std::optional<FabricTrial> trial;
  std::string refusal;  // why it could not be built
  // Its time over that of the fastest: of the step, or weighted over the collectives. Absent where
  // the work cannot run.
  std::optional<double> slowdown;
  bool within_budget = true;
  std::string reason;    // why it stands where it does
  std::string suits;     // the traffic it is made for
  std::string fails_at;  // the work that takes longer on it than on the fastest, and why; or empty
  std::string risks;     // what was not measured and may go wrong
};

// Candidates, the best first: those that run the work within the budget; among them by time in
// steps of kTie, then by price.
struct Advice {
  static constexpr double kTie = 0.02;
  std::vector<Candidate> candidates;
  // Where nothing can be built: a radix, or a number of GPUs, with which something can; empty: none
  // was found. In words.
  std::string would_work;
  bool stopped = false;
};

// TL1432: a request that no candidate can answer (GPUs that are no whole number of nodes, a radix
// of no switch, …); TL1400: the node.
[[nodiscard]] Result<Advice> AdviseFabric(const AdviceRequest& request);

}  // namespace trunkline
