# embed_resources(target DIR…): puts the files below these folders (relative to the repository) into the target, so that
# the kerf binary works alone on another machine. src/resource/resource.h reads them.
#
# The same file, run as a script, writes the source: cmake -D ROOT=… -D OUTPUT=… -D FILES=a|b -P embed.cmake
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(KERF_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

  function(embed_resources target)
    set(files)
    foreach(dir ${ARGN})
      file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${dir}/*)
      list(APPEND files ${found})
    endforeach()
    # Tests stay at home; interpreters leave their caches everywhere.
    list(FILTER files EXCLUDE REGEX "(^|/)__pycache__/|_test\\.py$|/testing\\.py$|\\.pyc$|~$")
    list(SORT files)
    list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE paths)
    list(JOIN files "|" joined)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.cc)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -D ROOT=${PROJECT_SOURCE_DIR} -D OUTPUT=${output} -D "FILES=${joined}"
              -P ${KERF_EMBED_SCRIPT}
      DEPENDS ${paths} ${KERF_EMBED_SCRIPT} COMMENT "Embedding resources" VERBATIM)
    target_sources(${target} PRIVATE ${output})
  endfunction()
  return()
endif()

string(REPLACE "|" ";" files "${FILES}")
set(text "// Made by cmake/embed.cmake.\n#include \"resource/embedded.h\"\n\nnamespace kerf::resource {\nnamespace {\n")
set(table "")
set(index 0)
foreach(file ${files})
  file(READ ${ROOT}/${file} hex HEX)
  file(SIZE ${ROOT}/${file} size)
  # Every byte is an escape, so that none can run into the next; a line of 64 for editors.
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${hex}")
  string(REGEX REPLACE "((\\\\x..){64})" "\\1\"\n\"" bytes "${bytes}")
  string(APPEND text "constexpr char kFile${index}[] =\n\"${bytes}\";\n")
  string(APPEND table "    {\"${file}\", {kFile${index}, ${size}}},\n")
  math(EXPR index "${index} + 1")
endforeach()
string(APPEND text "constexpr File kTable[] = {\n${table}};\n}  // namespace\n\n"
       "std::span<const File> EmbeddedFiles() { return kTable; }\n\n}  // namespace kerf::resource\n")
file(WRITE ${OUTPUT} "${text}")
