#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trunkline/base/check.h"
#include "trunkline/base/diagnostics.h"
#include "trunkline/scenario/result.h"
#include "trunkline/scenario/run.h"
#include "trunkline/scenario/scenario.h"

// What tests of scenarios share.
namespace trunkline {

inline std::vector<Assignment> SetBy(const std::vector<std::string>& keys) {
  std::vector<Assignment> assignments;
  for (const std::string& key : keys) assignments.push_back({key, "--set"});
  return assignments;
}

// What reading warned of, or why it failed.
inline std::string ToldOf(const Result<Scenario>& scenario) {
  std::string told;
  for (const Diagnostic& problem : scenario ? scenario->warnings : scenario.error()) {
    told += Format(problem);
  }
  return told;
}

// Of a scenario that can be read and run.
inline RunResult MustRun(const Result<Scenario>& scenario, const RunOptions& options = {}) {
  TL_CHECK(scenario.has_value(), ToldOf(scenario));
  auto result = RunScenario(*scenario, options);
  TL_CHECK(result.has_value(), Format(result.error().front()));
  return std::move(*result);
}

}  // namespace trunkline
