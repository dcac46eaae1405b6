# Headers that most units include and nobody here changes, parsed once for all libraries and once
# for all tests.
#
# The sanitizer and fuzz presets build without, so that a missing #include is found there.
option(TRUNKLINE_WITH_PCH "Precompile the headers of the standard library, fmt and GoogleTest" ON)

# trunkline_precompiled_headers(KIND LINKED HEADER…): the headers of KIND, compiled with what its
# users are compiled with.
function(trunkline_precompiled_headers kind linked)
  set(unit ${PROJECT_BINARY_DIR}/precompiled_${kind}.cc)
  file(CONFIGURE OUTPUT ${unit} CONTENT "// Carries the precompiled headers.\n" @ONLY)
  add_library(trunkline_precompiled_${kind} OBJECT ${unit})
  target_link_libraries(trunkline_precompiled_${kind} PRIVATE trunkline_options ${linked})
  target_precompile_headers(trunkline_precompiled_${kind} PRIVATE ${ARGN})
endfunction()

# trunkline_precompiled(TARGET KIND): compiles the target with the headers of its kind, and tests
# without the costlier optimisations: what they run long is in the libraries.
function(trunkline_precompiled target kind)
  if(kind STREQUAL "test")
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
    # As the object library that carries the headers.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  endif()
  if(TRUNKLINE_WITH_PCH)
    target_precompile_headers(${target} REUSE_FROM trunkline_precompiled_${kind})
    # GCC 12 forgets that what it inlines from a precompiled header is the library's, and reports
    # impossible lengths in std::string; builds without precompiled headers keep these warnings.
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-array-bounds>)
  endif()
endfunction()

if(TRUNKLINE_WITH_PCH)
  set(headers <fmt/format.h> <fmt/ranges.h> <algorithm> <array> <cmath> <cstdint> <expected>
      <functional> <map> <memory> <numeric> <optional> <set> <span> <string> <string_view> <tuple>
      <unordered_map> <utility> <variant> <vector>)
  trunkline_precompiled_headers(library fmt::fmt ${headers})
  if(TRUNKLINE_WITH_TESTS)
    trunkline_precompiled_headers(test "fmt::fmt;GTest::gmock" ${headers} <gmock/gmock.h>)
    target_compile_options(trunkline_precompiled_test PRIVATE $<$<CONFIG:Release>:-O1>)
    set_target_properties(trunkline_precompiled_test PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  endif()
endif()
