# What is installed, in two components: `client`, the C++ client library (docs/cpp_client.md), and `programs`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # tests and benches need not be built for it: the target `programs` makes all that is installed

# The client in one archive, of the libraries that it consists of. Its headers name no third-party library but tl::expected, so that whoever
# uses it links gRPC and protobuf without seeing them.
set(client_dependencies grpc++ protobuf libxxhash libcrypto spdlog)
pkg_check_modules(ESPALIER_CLIENT REQUIRED IMPORTED_TARGET ${client_dependencies})
list(JOIN client_dependencies " " client_dependencies)
add_library(espalier_installed_client STATIC)
foreach(part base sequence protocol proto proto_rpc space tuners client)
  target_sources(espalier_installed_client PRIVATE $<TARGET_OBJECTS:espalier_${part}>)
endforeach()
set_target_properties(espalier_installed_client PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME espalier-client EXPORT_NAME client)
target_compile_features(espalier_installed_client INTERFACE cxx_std_20)
target_include_directories(espalier_installed_client INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(espalier_installed_client PRIVATE PkgConfig::ESPALIER_CLIENT Threads::Threads)
add_dependencies(programs espalier_installed_client)

set(client_package ${CMAKE_INSTALL_LIBDIR}/cmake/Espalier)
install(TARGETS espalier_installed_client EXPORT client COMPONENT client)
install(EXPORT client FILE EspalierTargets.cmake NAMESPACE Espalier:: DESTINATION ${client_package} COMPONENT client)
configure_package_config_file(cmake/EspalierConfig.cmake.in EspalierConfig.cmake INSTALL_DESTINATION ${client_package})
write_basic_package_version_file(EspalierConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/EspalierConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/EspalierConfigVersion.cmake
  DESTINATION ${client_package} COMPONENT client)

# The smallest set that holds the client's interface and whatever it includes: tests/e2e/test_cpp_client.py sees to it.
set(client_headers
  base/check.h base/claim_state.h base/encryption.h base/ids.h base/metrics.h base/policy_choices.h base/result.h base/reuse.h base/stop_rule.h base/study_choices.h
  base/study_event.h base/units.h
  client/branch.h client/client.h client/evaluation.h client/future.h client/retry_policy.h client/study.h client/study_specification.h
  client/tune.h client/views.h client/space/condition.h client/space/sampling.h client/space/search_space.h client/space/trial_text.h
  client/tuners/batch.h client/tuners/registry.h client/tuners/tuner.h client/tuners/tuner_kind.h searchplan/sequence/value.h)
install(CODE "set(SOURCE \"${PROJECT_SOURCE_DIR}\")
  set(HEADERS \"${client_headers}\")
  set(INCLUDE \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\")" COMPONENT client)
install(SCRIPT cmake/install_headers.cmake COMPONENT client)

# Programs find each other in the folder that they lie in.
set(programs espalier espalier-master espalier-node espalier-store espalier-script espalier-check)
if(ESPALIER_TORCH)
  list(APPEND programs espalier-worker)
  set_target_properties(espalier-worker PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)  # to a LibTorch that is not the system's
endif()
install(TARGETS ${programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)

# espalier_install_printed(FILE FOLDER ARGUMENTS ...): what `espalier ARGUMENTS` prints, as a file of that folder.
function(espalier_install_printed name folder)
  set(file ${CMAKE_BINARY_DIR}/printed/${folder}/${name})
  add_custom_command(OUTPUT ${file} COMMAND espalier ${ARGN} > ${file} DEPENDS espalier VERBATIM)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/printed/${folder})
  install(FILES ${file} DESTINATION ${folder} COMPONENT programs)
  set_property(GLOBAL APPEND PROPERTY espalier_printed ${file})
endfunction()
espalier_install_printed(espalier.1 ${CMAKE_INSTALL_MANDIR}/man1 manual)
espalier_install_printed(espalier ${CMAKE_INSTALL_DATADIR}/bash-completion/completions completion bash)
espalier_install_printed(_espalier ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions completion zsh)
espalier_install_printed(espalier.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d completion fish)
get_property(printed GLOBAL PROPERTY espalier_printed)
add_custom_target(printed DEPENDS ${printed})
add_dependencies(programs printed)
