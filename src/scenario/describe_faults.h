#pragma once

#include <string>
#include <vector>

#include "trunkline/scenario/scenario.h"

namespace trunkline {

// The faults that happen in a run, as people read them: "nic:3/5 at 10 % of its rate from the
// start". Those that come during the run are left out where the engine knows none.
[[nodiscard]] std::vector<std::string> DescribeFaults(const Scenario& scenario);

}  // namespace trunkline
