#include "trunkline/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace trunkline::internal {

void CheckFailed(const char* file, int line, const char* condition, const std::string& detail) {
  constexpr int kInternalError = 70;  // EX_SOFTWARE of sysexits.h
  std::fprintf(stderr,
               "trunkline: internal error at %s:%d: %s does not hold: %s\n"
               "This is a defect of trunkline; please report it with the command that led here.\n",
               file, line, condition, detail.c_str());
  std::fflush(nullptr);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  std::abort();  // a fuzzer keeps the input of an abort, not of an exit
#else
  std::_Exit(kInternalError);
#endif
}

}  // namespace trunkline::internal
