#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "trunkline/fabric/fabric.h"
#include "trunkline/scenario/result.h"

namespace trunkline {

// Links that do the same job: same kind, same kinds of device at their two ends, either way round.
// Thousands of them are used alike, so the narrowest of each class says more than the narrowest
// thousand of all.
struct LinkClass {
  std::string name;  // of the narrowest: "leaf -> spine"
  LinkKind kind = LinkKind::kNetwork;
  std::size_t links = 0;  // with traffic
  LinkId worst{};
  double worst_utilisation = 0;
  double mean_utilisation = 0;  // of those with traffic
  // Where three in four with traffic have one rate: that, how many they are, and the slowest of the
  // others that are below it.
  Rate usual;
  std::size_t usual_links = 0;
  std::optional<LinkId> slow;
};

// Of every link with traffic, narrowest first. Empty without a fabric or when no time passed.
[[nodiscard]] std::vector<LinkClass> LinkClassesOf(const RunResult& result);

}  // namespace trunkline
