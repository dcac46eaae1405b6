# Writes OUTPUT: a translation unit with the table k_STEM of FILES, named relative to ROOT.
set(arrays "")
set(entries "")
set(index 0)
foreach(file IN LISTS FILES)
  file(RELATIVE_PATH name ${ROOT} ${file})
  file(READ ${file} content HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${content}")
  string(APPEND arrays "static const char kFile${index}Of_${STEM}[] = {${bytes}0};\n")
  string(APPEND entries "    {\"${name}\", kFile${index}Of_${STEM}, sizeof(kFile${index}Of_${STEM}) - 1},\n")
  math(EXPR index "${index} + 1")
endforeach()
if(index EQUAL 0)
  message(FATAL_ERROR "nothing to embed in ${STEM}")
endif()
file(WRITE ${OUTPUT} "#include \"base/embedded_files.h\"

namespace trunkline {
// Referenced by the layer that reads the files, so that the linker keeps this unit.
extern const EmbeddedTable k_${STEM};
${arrays}static const EmbeddedFile kFilesOf_${STEM}[] = {
${entries}};
constinit const EmbeddedTable k_${STEM}{kFilesOf_${STEM}};
}  // namespace trunkline
")
