#pragma once

#include <string>
#include <vector>

#include "trunkline/fabric/catalog.h"
#include "trunkline/planner/advise.h"

namespace trunkline {

// A fabric worth trying, as a spec, or why there is none of its kind.
struct CandidateFabric {
  std::string kind;
  std::string spec;
  std::string refusal;
  std::string suits;
  std::string cause;  // why AllToAll would be slow on it, if it is
  std::string risks;
};

// The kinds that a request may be answered with, from switches of its radix.
[[nodiscard]] std::vector<CandidateFabric> CandidatesFor(const AdviceRequest& request,
                                                         const NodeTemplate& node);

}  // namespace trunkline
