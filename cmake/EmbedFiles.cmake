# Data files travel inside the binary, so that it works from any folder.
#
#   trunkline_embed(trunkline_fabric data/nodes "*.yaml")
#
# compiles a table of (name, text), k_trunkline_fabric_data_nodes, whose Find("nodes/dgx-h100.yaml")
# gives one file (src/base/embedded_files.h).
function(trunkline_embed target folder pattern)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/${pattern})
  string(MAKE_C_IDENTIFIER "${target}_${folder}" stem)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${stem}.cc)
  # The list of files is part of the command, so that one added (with an old date) or removed
  # makes Ninja run it again.
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${files}" -DROOT=${PROJECT_SOURCE_DIR}/data -DSTEM=${stem}
            -DOUTPUT=${output} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedFilesScript.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/EmbedFilesScript.cmake
    COMMENT "Embedding ${folder}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
