include(GoogleTest)
include(TrunklinePrecompiled)

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
    gtest_discover_tests(trunkline_${name}_test PROPERTIES LABELS ${name} DISCOVERY_TIMEOUT 60)
  endif()
endfunction()
