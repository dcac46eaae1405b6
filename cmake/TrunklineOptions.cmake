# Language level, warnings and switches shared by every target.
if(NOT CMAKE_BUILD_TYPE)
  message(FATAL_ERROR "No build type: configure with a preset, as in `cmake --preset release`. CMake "
    "also forgets what a preset says when its compiler is another than this folder's: remove "
    "${CMAKE_BINARY_DIR} then.")
endif()
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(TRUNKLINE_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize takes them")
set(TRUNKLINE_WITH_TESTS AUTO CACHE STRING "Build the tests (needs GoogleTest): AUTO, ON or OFF")
set_property(CACHE TRUNKLINE_WITH_TESTS PROPERTY STRINGS AUTO ON OFF)
option(TRUNKLINE_WITH_BENCH "Build the benchmarks" ON)
option(TRUNKLINE_WITH_FUZZ "Build the libFuzzer targets (needs clang)" OFF)

find_program(TRUNKLINE_CCACHE ccache)
if(TRUNKLINE_CCACHE)
  # Paths relative to the source tree and no working folder in the key, so that another clone finds
  # what this one has compiled without precompiled headers, which hold whole paths.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${TRUNKLINE_CCACHE})
endif()
find_program(TRUNKLINE_MOLD mold)
if(TRUNKLINE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_library(trunkline_options INTERFACE)
target_compile_options(trunkline_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
  # Nobody replaces functions of a static library at load time, so they may be inlined where they
  # stand, though the code is position independent. clang assumes so.
  $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>
  # GCC 12 sees overlapping copies in std::string's operator+ (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # clang reports that libstdc++ 12's stable_sort calls a function libstdc++ deprecates.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
if(TRUNKLINE_SANITIZE)
  add_compile_options(-fsanitize=${TRUNKLINE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TRUNKLINE_SANITIZE})
endif()

# trunkline_find_package(NAME …): as find_package(NAME REQUIRED …), and remembers NAME for the
# installed package's own dependencies.
macro(trunkline_find_package name)
  find_package(${name} REQUIRED ${ARGN})
  set_property(GLOBAL APPEND PROPERTY TRUNKLINE_PACKAGES ${name})
endmacro()

# trunkline_feature(NAME STATE): a line of the configure summary, for the optional parts.
function(trunkline_feature name state)
  set_property(GLOBAL APPEND PROPERTY TRUNKLINE_FEATURES ${name})
  set_property(GLOBAL PROPERTY TRUNKLINE_FEATURE_${name} "${state}")
endfunction()

trunkline_find_package(fmt)
trunkline_find_package(yaml-cpp)
trunkline_find_package(nlohmann_json)

# From here on TRUNKLINE_WITH_TESTS is ON or OFF: who only wants to run the program needs no GoogleTest.
# `ctest` fails on a build without tests, so none are left out in silence.
if(TRUNKLINE_WITH_TESTS STREQUAL "AUTO")
  find_package(GTest QUIET)
  if(TARGET GTest::gmock)
    set(TRUNKLINE_WITH_TESTS ON)
  else()
    set(TRUNKLINE_WITH_TESTS OFF)
    set(TRUNKLINE_TESTS_NOTE " (GoogleTest and GoogleMock are not installed)")
  endif()
endif()
if(TRUNKLINE_WITH_TESTS)
  find_package(GTest REQUIRED)
  enable_testing()
endif()
