# kerf_library(name [HOT] SOURCES … DEPS …)   one static library for each folder of src/; HOT: its loops are somebody's waiting time
# kerf_test(name [SEPARATE] SOURCES … DEPS …)   one test program for each folder; SEPARATE: its files use the same names
# kerf_fuzzer(name SOURCES … DEPS …)    a libFuzzer target under the fuzz preset, a corpus replayer elsewhere

add_library(kerf_options INTERFACE)
target_compile_options(kerf_options INTERFACE -Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor
                       -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns about every "literal" + std::string (its bug 105651).
  target_compile_options(kerf_options INTERFACE -Wno-restrict)
endif()
# Sixteen files of a library at a time become one translation unit (CMAKE_UNITY_BUILD in the presets): the headers, which
# are most of a small file, are read once, and a first build takes a third of the time. Names in unnamed namespaces
# must therefore differ within a library. The debug preset compiles each file for itself.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # To GCC a .cc file that is included is a header, and a class in it that holds an unnamed one suspicious.
  target_compile_options(kerf_options INTERFACE -Wno-subobject-linkage)
endif()
# Most of kerf waits for compilers, models and devices; optimising that part fully would take a third of a first build.
set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG")
set(KERF_HOT_OPTIONS $<$<CONFIG:Release>:-O3>)
if(CMAKE_BUILD_TYPE STREQUAL "Sanitize")
  # -g1: a report needs lines, not variables; it saves a quarter of the time.
  target_compile_options(kerf_options INTERFACE -O1 -g1 -fno-omit-frame-pointer)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND KERF_SANITIZE)
  # GCC's flow warnings misfire on instrumented code; the plain builds keep them.
  target_compile_options(kerf_options INTERFACE -Wno-maybe-uninitialized -Wno-stringop-overflow
                         -Wno-array-bounds -Wno-tsan)
endif()
if(KERF_SANITIZE)
  target_compile_options(kerf_options INTERFACE -fsanitize=${KERF_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(kerf_options INTERFACE -fsanitize=${KERF_SANITIZE})
else()
  target_link_options(kerf_options INTERFACE -static-libstdc++ -static-libgcc)
endif()
if(KERF_FUZZ)
  target_compile_options(kerf_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
target_include_directories(kerf_options INTERFACE ${PROJECT_SOURCE_DIR}/src)

function(kerf_library name)
  cmake_parse_arguments(ARG "HOT" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(kerf_${name} STATIC ${ARG_SOURCES})
  if(ARG_HOT)
    target_compile_options(kerf_${name} PRIVATE ${KERF_HOT_OPTIONS})
  endif()
  target_link_libraries(kerf_${name} PUBLIC kerf_options ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
endfunction()

function(kerf_test name)
  cmake_parse_arguments(ARG "SEPARATE" "TIMEOUT" "SOURCES;DEPS" ${ARGN})
  add_executable(kerf_${name}_test ${ARG_SOURCES})
  if(ARG_SEPARATE)
    set_target_properties(kerf_${name}_test PROPERTIES UNITY_BUILD OFF)
  endif()
  target_link_libraries(kerf_${name}_test PRIVATE ${ARG_DEPS} GTest::gtest_main GTest::gmock)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)  # with sanitizers, on a slow machine, beside another one
  endif()
  add_test(NAME ${name} COMMAND kerf_${name}_test)
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
endfunction()

# Each fuzzer has a seed corpus in test/fuzz/corpus/<name>. Without clang the same entry point replays that corpus, so
# that every input which once mattered is a regression test in every build.
add_custom_target(kerf_fuzzers)
function(kerf_fuzzer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  set(corpus ${PROJECT_SOURCE_DIR}/test/fuzz/corpus/${name})
  add_executable(kerf_${name}_fuzz ${ARG_SOURCES})
  target_link_libraries(kerf_${name}_fuzz PRIVATE ${ARG_DEPS})
  add_dependencies(kerf_fuzzers kerf_${name}_fuzz)
  set(replay_only)
  if(KERF_FUZZ)
    target_link_options(kerf_${name}_fuzz PRIVATE -fsanitize=fuzzer)
    set(replay_only -runs=0)
  else()
    target_sources(kerf_${name}_fuzz PRIVATE ${PROJECT_SOURCE_DIR}/test/fuzz/replay_main.cc)
  endif()
  add_test(NAME ${name}_corpus COMMAND kerf_${name}_fuzz ${replay_only} ${corpus})
  set_tests_properties(${name}_corpus PROPERTIES TIMEOUT 120)
endfunction()
