# `cmake --install` lays out the binary, the libraries, the public headers and a package that
# find_package(trunkline) reads; link to trunkline::trunkline.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

add_library(trunkline_library INTERFACE)
add_library(trunkline::trunkline ALIAS trunkline_library)
set_target_properties(trunkline_library PROPERTIES EXPORT_NAME trunkline)
target_link_libraries(trunkline_library INTERFACE trunkline_report trunkline_scenario)
target_compile_features(trunkline_library INTERFACE cxx_std_23)

get_property(modules GLOBAL PROPERTY TRUNKLINE_MODULES)
install(TARGETS trunkline RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS trunkline_library ${modules} EXPORT trunkline
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/trunkline DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/trunkline)
install(EXPORT trunkline NAMESPACE trunkline:: FILE trunklineTargets.cmake DESTINATION ${package})
get_property(packages GLOBAL PROPERTY TRUNKLINE_PACKAGES)
list(TRANSFORM packages PREPEND "find_dependency(" OUTPUT_VARIABLE find_dependencies)
list(TRANSFORM find_dependencies APPEND ")")
list(JOIN find_dependencies "\n" find_dependencies)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/trunklineConfig.cmake.in ${PROJECT_BINARY_DIR}/trunklineConfig.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/trunklineConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/trunklineConfig.cmake
              ${PROJECT_BINARY_DIR}/trunklineConfigVersion.cmake
        DESTINATION ${package})
