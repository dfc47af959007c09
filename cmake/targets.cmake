# Compiles fail-points into those of the sources that have some; the others stay the same in every preset.
function(espalier_enable_failpoints)
  foreach(source ${ARGN})
    get_filename_component(path ${source} ABSOLUTE)
    if(path MATCHES "\\.cc$" AND EXISTS ${path})
      file(STRINGS ${path} uses REGEX "base/failpoint\\.h" LIMIT_COUNT 1)
      if(uses)
        set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS ESPALIER_FAILPOINTS)
      endif()
    endif()
  endforeach()
endfunction()

# Compiles the target's sources several at a time, since most of a source's time goes into headers and templates that its neighbours need,
# too. So names in unnamed namespaces are unique within a target.
function(espalier_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  # GCC takes the sources for headers, whose unnamed namespaces would be something else in each source.
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
endfunction()

# espalier_library(NAME DEPENDS LIB ... [PRECOMPILED HEADERS] [SEPARATELY] [SIMULATED]): a static library of this folder's sources. Includes are
# written from the repository root. PRECOMPILED: of cmake/precompiled.cmake; not given: espalier_standard_headers. SEPARATELY: each source is
# compiled by itself, where many use the same names: commands. SIMULATED: what simulations consist of, with which ./check computes for minutes:
# optimized in the preset `debug` as in `release`.
function(espalier_library name)
  cmake_parse_arguments(ARG "SEPARATELY;SIMULATED" "PRECOMPILED" "DEPENDS;PRIVATE;SOURCES" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS *.cc)
    list(FILTER ARG_SOURCES EXCLUDE REGEX "/main\\.cc$")
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  if(ESPALIER_FAILPOINTS)
    espalier_enable_failpoints(${ARG_SOURCES})
  endif()
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE})
  if(NOT ARG_PRECOMPILED)
    set(ARG_PRECOMPILED espalier_standard_headers)
  endif()
  # With a sanitizer, compiling it so takes longer than is saved.
  if(ARG_SIMULATED AND CMAKE_BUILD_TYPE STREQUAL Debug AND NOT ESPALIER_SANITIZE)
    target_compile_options(${name} PRIVATE -O2)
    string(APPEND ARG_PRECOMPILED _optimized)
  endif()
  espalier_use_precompiled(${name} ${ARG_PRECOMPILED})
  if(NOT ARG_SEPARATELY)
    espalier_compile_together(${name})
  endif()
endfunction()

# All that is no test.
add_custom_target(programs)

# espalier_program(NAME DEPENDS LIB ...): an executable of this folder's main.cc, put into bin/.
function(espalier_program name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_executable(${name} main.cc)
  add_dependencies(programs ${name})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS})
  espalier_use_precompiled(${name} espalier_standard_headers)
endfunction()

# espalier_test(NAME DEPENDS LIB ... [LABELS LABEL ...] [SOURCES FILE ...] [PRECOMPILED HEADERS] [WITHIN COMMAND ...] [SEPARATELY]): one Catch2 binary of this folder's
# *.cc files. Labels say what it needs or is for (docs/testing.md); none: fast, and needs nothing. PRECOMPILED: as above; not given:
# espalier_test_headers. WITHIN: is given the test to run, as its last arguments. SEPARATELY: as above; for tests with LibTorch, whose headers take Catch2's macros away.
function(espalier_test name)
  cmake_parse_arguments(ARG "SEPARATELY" "PRECOMPILED" "DEPENDS;LABELS;SOURCES;WITHIN" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS *.cc)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE espalier_testing Catch2::Catch2WithMain ${ARG_DEPENDS})
  if(NOT ARG_PRECOMPILED)
    set(ARG_PRECOMPILED espalier_test_headers)
  endif()
  espalier_use_precompiled(${name} ${ARG_PRECOMPILED})
  if(NOT ARG_SEPARATELY)
    espalier_compile_together(${name})
  endif()
  # With a sanitizer what is large takes minutes, and shows nothing that the rest does not: it runs in the other builds.
  if(ESPALIER_SANITIZE)
    set(selection ~[large])
  endif()
  add_test(NAME ${name} COMMAND ${ARG_WITHIN} $<TARGET_FILE:${name}> --durations yes ${selection})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 900)
  # What libraries do that were compiled without it is not looked at: nearly all of it would be suppressed, after a
  # millisecond or more each, by which tests that use gRPC took minutes.
  if(ESPALIER_SANITIZE MATCHES thread)
    set_tests_properties(${name} PROPERTIES
      ENVIRONMENT "TSAN_OPTIONS=suppressions='${PROJECT_SOURCE_DIR}/tests/support/tsan.supp' ignore_noninstrumented_modules=1")
  endif()
endfunction()
