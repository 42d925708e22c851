# Everything kerf links, as static archives where Debian ships them: the binary is copied to machines that have
# glibc and little else.
set(CMAKE_FIND_LIBRARY_SUFFIXES_SHARED_FIRST ${CMAKE_FIND_LIBRARY_SUFFIXES})
set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)

set(OPENSSL_USE_STATIC_LIBS ON)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(SQLite3 REQUIRED)
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)

function(kerf_import_archive target header library)
  find_path(${target}_INCLUDE ${header} REQUIRED)
  find_library(${target}_LIBRARY ${library} REQUIRED)
  add_library(kerf_dep_${target} INTERFACE)
  target_include_directories(kerf_dep_${target} SYSTEM INTERFACE ${${target}_INCLUDE})
  target_link_libraries(kerf_dep_${target} INTERFACE ${${target}_LIBRARY})
endfunction()
kerf_import_archive(xxhash xxhash.h xxhash)
kerf_import_archive(re2 re2/re2.h re2)
kerf_import_archive(seccomp seccomp.h seccomp)
kerf_import_archive(yaml yaml-cpp/yaml.h yaml-cpp)

set(CMAKE_FIND_LIBRARY_SUFFIXES ${CMAKE_FIND_LIBRARY_SUFFIXES_SHARED_FIRST})
find_package(GTest REQUIRED)
find_package(benchmark QUIET)

# Headers only: libcurl is loaded at run time (docs/decisions/0008-http-client.md).
find_path(curl_INCLUDE curl/curl.h REQUIRED)
add_library(kerf_dep_curl INTERFACE)
target_include_directories(kerf_dep_curl SYSTEM INTERFACE ${curl_INCLUDE})
