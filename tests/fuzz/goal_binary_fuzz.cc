// GOAL binary after the number that it begins with.
#include <string>

#include "fuzz/goal_laws.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes("\x7f\x10\0\0\0\0\0\0", 8);
  bytes += trunkline::TextOf(data, size);
  trunkline::RequireGoalLaws(bytes);
  return 0;
}
