# Headers that most units include, parsed once for all of a kind: the libraries below the engines, the
# engines, what is above them, and the tests of each. The higher a header of ours, the fewer units a
# change to it compiles anew.
#
# What they would hide, a missing #include, scripts/check-includes finds for foreign headers and
# scripts/lint, which precompiles none, for ours.
option(TRUNKLINE_WITH_PCH "Precompile the headers of the standard library, fmt and GoogleTest" ON)

# For tests, after trunkline_options: without the costlier optimisations, since what they run long is
# in the libraries, and without a warning that only clang counts as part of -Wconversion.
add_library(trunkline_test_options INTERFACE)
target_compile_options(trunkline_test_options INTERFACE
  $<$<CONFIG:Release>:-O0> $<$<CONFIG:RelWithDebInfo>:-O0>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>)

# trunkline_kind_options(TARGET KIND): what else the units of a kind are compiled with, and so the
# headers that they share. Libraries carry the counters that steer libFuzzer, but for the engines:
# fuzz targets read input and run none.
function(trunkline_kind_options target kind)
  if(kind MATCHES "test$")
    target_link_libraries(${target} PRIVATE trunkline_test_options)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    return()
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_compile_options(${target} PRIVATE -fPIC)  # as the libraries whose headers it shares
  endif()
  # Above the engines little runs long, and half of what compiling under sanitizers takes is
  # optimising what they have inserted.
  if(TRUNKLINE_SANITIZE AND kind STREQUAL "scenario")
    target_compile_options(${target} PRIVATE -O0)
  endif()
  # The engines run longest: inlined, packets take less than half and flows three quarters of the
  # time of -O1, for a tenth more of compiling.
  if(TRUNKLINE_SANITIZE AND kind STREQUAL "engine")
    target_compile_options(${target} PRIVATE -O2)
  endif()
  if(TRUNKLINE_WITH_FUZZ AND NOT kind STREQUAL "engine")
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
  target_include_directories(trunkline_precompiled_${kind}
    PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  trunkline_kind_options(trunkline_precompiled_${kind} ${kind})
  # So that ccache knows the same headers again when they have been precompiled anew.
  target_compile_options(trunkline_precompiled_${kind} PRIVATE
    $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
endfunction()

# trunkline_precompiled(TARGET KIND): compiles the target with the headers and options of its kind,
# which is a layer, "library" for those below the engines, followed by "_test" for a test.
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
  set(standard <fmt/format.h> <fmt/ranges.h> <algorithm> <array> <atomic> <bit> <charconv> <chrono>
      <cmath> <cstdint> <cstdio> <cstdlib> <deque> <expected> <filesystem> <fstream> <functional>
      <limits> <map> <memory> <mutex> <numeric> <optional> <queue> <set> <shared_mutex> <span>
      <sstream> <string> <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector>)
  # And what of ours most units of these layers read, with what that includes.
  set(library base/units base/diagnostics fabric/build fabric/route)
  set(engine ${library} engine/engine engine/packet)
  set(scenario ${engine} scenario/scenario scenario/result)
  foreach(kind library engine scenario)
    list(TRANSFORM ${kind} REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/include/trunkline/\\1.h")
    if(kind STREQUAL "engine")
      list(APPEND engine ${PROJECT_SOURCE_DIR}/src/engine/packet/plant.h)
    endif()
    trunkline_precompiled_headers(${kind} fmt::fmt ${standard} ${${kind}})
    if(TRUNKLINE_WITH_TESTS)
      trunkline_precompiled_headers(${kind}_test "fmt::fmt;GTest::gmock" ${standard} ${${kind}}
        <gmock/gmock.h>)
    endif()
  endforeach()
endif()
