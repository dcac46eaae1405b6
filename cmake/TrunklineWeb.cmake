# The HTML report is bundled from web/ by esbuild into one file, which travels inside the binary.
#
# TRUNKLINE_WITH_WEB: AUTO builds it when node and the packages of web/ (npm ci) are there, ON
# insists, OFF leaves it out; without it `--out` writes everything but report.html, and says so.
set(TRUNKLINE_WITH_WEB AUTO CACHE STRING "Bundle the HTML report (needs node): AUTO, ON or OFF")
set_property(CACHE TRUNKLINE_WITH_WEB PROPERTY STRINGS AUTO ON OFF)
find_program(TRUNKLINE_NODE NAMES node nodejs)

if(TRUNKLINE_WITH_WEB STREQUAL "OFF")
  set(web_state "OFF")
elseif(NOT TRUNKLINE_NODE)
  set(web_state "OFF (node is not installed)")
elseif(NOT EXISTS ${PROJECT_SOURCE_DIR}/web/node_modules/esbuild)
  set(web_state "OFF (run `npm ci` in web/)")
else()
  set(web_state "ON")
  set(TRUNKLINE_WEB TRUE)
endif()
if(TRUNKLINE_WITH_WEB STREQUAL "ON" AND NOT TRUNKLINE_WEB)
  message(FATAL_ERROR "TRUNKLINE_WITH_WEB is ON but the HTML report is ${web_state}")
endif()
trunkline_feature("HTML report" "${web_state}")

# Bundles the page and compiles it into `target`.
function(trunkline_embed_page target)
  if(NOT TRUNKLINE_WEB)
    return()
  endif()
  set(page ${CMAKE_CURRENT_BINARY_DIR}/report.html)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/report_page.cc)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
  add_custom_command(
    OUTPUT ${page}
    COMMAND ${TRUNKLINE_NODE} ${PROJECT_SOURCE_DIR}/web/build.mjs ${page}
    DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_SOURCE_DIR}/web/package-lock.json
    COMMENT "Bundling the HTML report"
    VERBATIM)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFILES=${page} -DROOT=${CMAKE_CURRENT_BINARY_DIR}
            -DSTEM=trunkline_report_page -DOUTPUT=${output}
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedFilesScript.cmake
    DEPENDS ${page} ${PROJECT_SOURCE_DIR}/cmake/EmbedFilesScript.cmake
    COMMENT "Embedding the HTML report"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
  target_compile_definitions(${target} PRIVATE TRUNKLINE_REPORT_PAGE)
endfunction()
