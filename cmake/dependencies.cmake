# Every third-party library, with why it is needed. The Debian packages that bring them are named in tools/packages.txt.

# The LibTorch worker's, which may be built alone. Its LibTorch: torch.cmake.
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)          # SHA-256 of states and files; what is wrong with certificates
find_package(spdlog REQUIRED)           # log lines of servers
find_package(PkgConfig REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)     # 128-bit digests of sequences and plans
find_library(ESPALIER_CSV csv REQUIRED)                          # tables of metrics for simulations, tables of data
find_package(ZLIB REQUIRED)             # data sets as they are given away, packed
pkg_check_modules(PNG REQUIRED IMPORTED_TARGET libpng)           # pictures as data
pkg_check_modules(TURBOJPEG REQUIRED IMPORTED_TARGET libturbojpeg) # pictures as data
find_package(nlohmann_json REQUIRED)    # messages between processes, JSON output of the command line
find_package(Catch2 2 REQUIRED)         # tests
if(ESPALIER_WORKER_ALONE)
  return()
endif()

find_package(Protobuf REQUIRED)         # messages between processes, configuration files
pkg_check_modules(PQXX REQUIRED IMPORTED_TARGET libpqxx)         # the master's store
pkg_check_modules(LIBPQ REQUIRED IMPORTED_TARGET libpq)           # its writes: libpqxx knows no pipelines
pkg_check_modules(GRPCPP REQUIRED IMPORTED_TARGET grpc++)        # clients and node managers to the master
find_library(ESPALIER_GRPC_REFLECTION grpc++_reflection REQUIRED) # a master tells grpcurl and the like what it can be asked
find_package(prometheus-cpp CONFIG REQUIRED) # numbers for Prometheus
pkg_check_modules(YAMLCPP REQUIRED IMPORTED_TARGET yaml-cpp)     # study files
find_package(mimalloc REQUIRED)         # the master's memory: millions of small things, a third faster at start
find_library(ESPALIER_GFAPI gfapi REQUIRED)                      # node managers: checkpoints in a GlusterFS volume
find_package(CLI11 REQUIRED)            # the command line
find_package(Boost REQUIRED COMPONENTS graph) # Boost.Graph: plans for Graphviz; in tests its reader, and critical paths from scratch
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)
