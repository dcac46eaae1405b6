#pragma once

#include <cstdint>

// GCC and clang tell of sanitizers in different ways.
#if defined(__has_feature)
#define TRUNKLINE_HAS_FEATURE(feature) __has_feature(feature)
#else
#define TRUNKLINE_HAS_FEATURE(feature) 0
#endif

namespace trunkline {

// Whether this is compiled for AddressSanitizer or ThreadSanitizer, which need addresses of their
// own and make a run many times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    TRUNKLINE_HAS_FEATURE(address_sanitizer) || TRUNKLINE_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// How many random cases a test tries of `all`, which the other builds try: under sanitizers a
// fifth, since what these find, they find where cases run, and values were compared in all.
constexpr std::uint64_t RandomCases(std::uint64_t all) { return kSanitized ? all / 5 : all; }

}  // namespace trunkline

#undef TRUNKLINE_HAS_FEATURE
