#pragma once

#include <string>
#include <string_view>
#include <type_traits>

namespace trunkline::internal {

// Prints the broken invariant with its place and ends the process with exit status 70.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              const std::string& detail);

template <typename Value>
std::string Text(const Value& value) {
  if constexpr (std::is_arithmetic_v<Value>) {
    return std::to_string(value);
  } else {
    return std::string(std::string_view(value));
  }
}

template <typename... Values>
std::string Join(const Values&... values) {
  std::string out;
  (out.append(Text(values)).append(1, ' '), ...);
  return out;
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
