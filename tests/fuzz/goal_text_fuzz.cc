// GOAL text, which another tool wrote.
#include "fuzz/goal_laws.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  trunkline::RequireGoalLaws(trunkline::TextOf(data, size));
  return 0;
}
