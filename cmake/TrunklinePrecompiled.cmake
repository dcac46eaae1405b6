# Headers that most units include, parsed once for all libraries and once for all tests: few of ours,
# as a change to one compiles everything anew.
#
# What they would hide, a missing #include, scripts/check-includes finds.
option(TRUNKLINE_WITH_PCH "Precompile the headers of the standard library, fmt and GoogleTest" ON)

# For tests, after trunkline_options: without the costlier optimisations, since what they run long is
# in the libraries, and without a warning that only clang counts as part of -Wconversion.
add_library(trunkline_test_options INTERFACE)
target_compile_options(trunkline_test_options INTERFACE
  $<$<CONFIG:Release>:-O0> $<$<CONFIG:RelWithDebInfo>:-O0>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>)

# trunkline_kind_options(TARGET KIND): what else the units of a kind are compiled with, and so the
# headers that they share. Libraries carry the counters that steer libFuzzer.
function(trunkline_kind_options target kind)
  if(kind STREQUAL "test")
    target_link_libraries(${target} PRIVATE trunkline_test_options)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    return()
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_compile_options(${target} PRIVATE -fPIC)  # as the libraries whose headers it shares
  endif()
  if(TRUNKLINE_WITH_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# trunkline_precompiled_headers(KIND LINKED HEADER…): the headers of KIND, compiled with what its
# users are compiled with.
function(trunkline_precompiled_headers kind linked)
  set(unit ${PROJECT_BINARY_DIR}/precompiled_${kind}.cc)
  file(CONFIGURE OUTPUT ${unit} CONTENT "// Carries the precompiled headers.\n" @ONLY)
  add_library(trunkline_precompiled_${kind} OBJECT ${unit})
  target_link_libraries(trunkline_precompiled_${kind} PRIVATE trunkline_options ${linked})
  target_precompile_headers(trunkline_precompiled_${kind} PRIVATE ${ARGN})
  target_include_directories(trunkline_precompiled_${kind} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  trunkline_kind_options(trunkline_precompiled_${kind} ${kind})
  # So that ccache knows the same headers again when they have been precompiled anew.
  target_compile_options(trunkline_precompiled_${kind} PRIVATE
    $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
endfunction()

# trunkline_precompiled(TARGET KIND): compiles the target with the headers and options of its kind.
function(trunkline_precompiled target kind)
  trunkline_kind_options(${target} ${kind})
  if(TRUNKLINE_WITH_PCH)
    target_precompile_headers(${target} REUSE_FROM trunkline_precompiled_${kind})
    target_link_libraries(${target} PRIVATE fmt::fmt)  # defines how its headers were compiled
    # GCC 12 forgets that what it inlines from a precompiled header is the library's, and reports
    # impossible lengths in std::string; programs without precompiled headers keep these warnings.
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-array-bounds>)
  endif()
endfunction()

if(TRUNKLINE_WITH_PCH)
  set(headers <fmt/format.h> <fmt/ranges.h> <algorithm> <array> <atomic> <bit> <charconv> <chrono>
      <cmath> <cstdint> <cstdio> <cstdlib> <deque> <expected> <filesystem> <fstream> <functional>
      <limits> <map> <memory> <mutex> <numeric> <optional> <queue> <set> <shared_mutex> <span>
      <sstream> <string> <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector>)
  # And what of ours nearly every unit reads.
  foreach(header base/units base/diagnostics fabric/fabric)
    list(APPEND headers ${PROJECT_SOURCE_DIR}/include/trunkline/${header}.h)
  endforeach()
  trunkline_precompiled_headers(library fmt::fmt ${headers})
  if(TRUNKLINE_WITH_TESTS)
    trunkline_precompiled_headers(test "fmt::fmt;GTest::gmock" ${headers} <gmock/gmock.h>)
  endif()
endif()
