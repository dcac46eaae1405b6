#pragma once

namespace trunkline {

// GCC's and Clang's 128-bit integers, named without tripping -Wpedantic.
__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

}  // namespace trunkline
