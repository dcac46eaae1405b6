#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trunkline/scenario/result.h"

namespace trunkline {

using Figures = std::vector<std::pair<std::string, double>>;  // by name

// The figures of a run that differ from seed to seed.
[[nodiscard]] Figures FiguresOf(const RunResult& result);

// Means with confidence intervals over runs. REQUIRES: as many figures in each, of the same names.
[[nodiscard]] RepeatResult SummariseRuns(std::span<const std::uint64_t> seeds,
                                         std::span<const Figures> runs);

}  // namespace trunkline
