#pragma once

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

}  // namespace trunkline

#undef TRUNKLINE_HAS_FEATURE
