# Headers of libraries that many files include, compiled once for each preset: of the standard library, of gRPC with protobuf, and of
# Catch2. A source reads those of its target before its own first line; it includes what it needs all the same. Headers of our own are
# never among them.

# espalier_precompile(NAME DEPENDS LIB ... HEADERS HEADER ...): the headers, compiled with the options that the libraries bring.
function(espalier_precompile name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;HEADERS" ${ARGN})
  set(source ${CMAKE_BINARY_DIR}/precompiled/${name}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()

# espalier_use_precompiled(TARGET NAME). REQUIRES: TARGET has the macros of NAME that its headers look at.
function(espalier_use_precompiled target name)
  target_precompile_headers(${target} REUSE_FROM ${name})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # GCC 12 forgets which of this code is the standard library's, and warns falsely of it.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
endfunction()

set(standard_headers
  <algorithm> <array> <charconv> <chrono> <cstdint> <functional> <limits> <map> <memory> <optional> <set> <span> <sstream> <string>
  <string_view> <unordered_map> <utility> <variant> <vector> <tl/expected.hpp>)
espalier_precompile(espalier_standard_headers HEADERS ${standard_headers})
# For what is optimized more than the rest (SIMULATED in targets.cmake): GCC 12 breaks down over headers that were compiled otherwise.
espalier_precompile(espalier_standard_headers_optimized HEADERS ${standard_headers})
target_compile_options(espalier_standard_headers_optimized PRIVATE -O2)
if(NOT ESPALIER_WORKER_ALONE)
  espalier_precompile(espalier_grpc_headers DEPENDS PkgConfig::GRPCPP protobuf::libprotobuf
    HEADERS ${standard_headers} <google/protobuf/map_field_inl.h> <grpcpp/generic/async_generic_service.h> <grpcpp/grpcpp.h>)
endif()
espalier_precompile(espalier_test_headers DEPENDS Catch2::Catch2
  HEADERS ${standard_headers} <catch2/catch.hpp> <filesystem> <fstream> <thread>)
