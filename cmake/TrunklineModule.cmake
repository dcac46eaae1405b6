include(GoogleTest)
include(TrunklinePrecompiled)

# Registers what a test binary holds: each test on its own, a process each. Under sanitizers, where
# a process takes up to a tenth of a second to start, a share of them in each of a few.
function(trunkline_register_tests target label)
  if(NOT TRUNKLINE_SANITIZE)
    gtest_discover_tests(${target} PROPERTIES LABELS ${label} DISCOVERY_TIMEOUT 60)
    return()
  endif()
  set(shares 12)
  # Seconds, about: where ctest has not seen a test run it starts the costliest first, so that no
  # core waits for one at the end.
  set(cost 1)
  if(label MATCHES "^(engine|planner|fabric|collective)$")
    set(cost 10)
  elseif(label MATCHES "^(scenario|cli|training)$")
    set(cost 3)
  endif()
  foreach(share RANGE 1 ${shares})
    math(EXPR index "${share} - 1")
    add_test(NAME ${label}.${share}_of_${shares} COMMAND ${target} --gtest_brief=1)
    set_tests_properties(${label}.${share}_of_${shares} PROPERTIES
      LABELS ${label} COST ${cost} ENVIRONMENT "GTEST_TOTAL_SHARDS=${shares};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

# One folder of the causal chain: a static library trunkline_NAME from every .cc below this folder
# that is not a test or a benchmark, and one test binary from every *_test.cc.
#
#   trunkline_module(fabric DEPENDS base [PRIVATE pugixml] [TEST_DEPENDS …] [PRECOMPILED scenario])
#
# PRECOMPILED is the layer whose precompiled headers it shares, "library" by default.
function(trunkline_module name)
  cmake_parse_arguments(ARG "" "PRECOMPILED" "DEPENDS;PRIVATE;TEST_DEPENDS" ${ARGN})
  if(NOT ARG_PRECOMPILED)
    set(ARG_PRECOMPILED library)
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cc)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")

  add_library(trunkline_${name} STATIC ${sources})
  add_library(trunkline::${name} ALIAS trunkline_${name})
  set_target_properties(trunkline_${name} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY TRUNKLINE_MODULES trunkline_${name})
  target_include_directories(trunkline_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(trunkline_${name} PRIVATE $<BUILD_INTERFACE:trunkline_options> ${ARG_PRIVATE})
  trunkline_precompiled(trunkline_${name} ${ARG_PRECOMPILED})
  foreach(dependency IN LISTS ARG_DEPENDS)
    target_link_libraries(trunkline_${name} PUBLIC trunkline_${dependency})
  endforeach()

  if(TRUNKLINE_WITH_TESTS AND tests)
    add_executable(trunkline_${name}_test ${tests})
    target_include_directories(trunkline_${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(trunkline_${name}_test
      PRIVATE trunkline_${name} trunkline_options ${ARG_PRIVATE} ${ARG_TEST_DEPENDS} GTest::gmock GTest::gtest_main)
    target_compile_definitions(trunkline_${name}_test
      PRIVATE TRUNKLINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    trunkline_precompiled(trunkline_${name}_test ${ARG_PRECOMPILED}_test)
    trunkline_register_tests(trunkline_${name}_test ${name})
  endif()
endfunction()
