#pragma once

#include <cstdint>

#include "trunkline/base/diagnostics.h"
#include "trunkline/fabric/route.h"

namespace trunkline {

// How long the most loaded link is busy when every endpoint sends `bytes` / n to each of the n - 1
// others: no exchange that goes these ways is faster, and fluid flows that share links fairly
// reach it where the load is even.
struct LinkLoad {
  Time time;
  ResourceId busiest{};
  std::uint64_t rounds = 0;  // looked at; fewer than `all_rounds`: a sample of the shifts by k
  std::uint64_t all_rounds = 0;
};
// TL1410: two endpoints that nothing joins.
[[nodiscard]] Result<LinkLoad> LinkLoadTime(const Router& router, Bytes bytes);

}  // namespace trunkline
