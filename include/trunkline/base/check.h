#pragma once

#include <sstream>
#include <string>

namespace trunkline::internal {

// Prints the broken invariant with its place and ends the process with exit status 70.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              const std::string& detail);

template <typename... Values>
std::string Join(const Values&... values) {
  std::ostringstream out;
  ((out << values << ' '), ...);
  return out.str();
}

}  // namespace trunkline::internal

// Our own invariants, never a user's input: on in release builds, ends the process when broken.
#define TL_CHECK(condition, ...)                                                    \
  do {                                                                              \
    if (!(condition)) [[unlikely]] {                                                \
      ::trunkline::internal::CheckFailed(__FILE__, __LINE__, #condition,            \
                                         ::trunkline::internal::Join(__VA_ARGS__)); \
    }                                                                               \
  } while (false)
