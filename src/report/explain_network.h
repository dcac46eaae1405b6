#pragma once

#include "report/explain.h"

// The lower half of the causal chain: what the bytes travel through.
namespace trunkline {

[[nodiscard]] Question ExplainDataPath(const RunResult& result);
[[nodiscard]] Question ExplainStack(const RunResult& result);
[[nodiscard]] Question ExplainTopology(const RunResult& result);

}  // namespace trunkline
