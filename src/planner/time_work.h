#pragma once

#include "trunkline/planner/fabric_trial.h"

namespace trunkline {

// Gives `trial.built` the work of the options. What it costs and how it is cut stay unknown.
void TimeWork(const TrialOptions& options, FabricTrial& trial);

}  // namespace trunkline
