# `cpack` in a build's folder makes of what is installed (install.cmake) two Debian packages, of the client and of the programs, and a
# tarball of both.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME espalier)
set(CPACK_PACKAGE_VENDOR Espalier)
set(CPACK_PACKAGE_CONTACT "The authors of Espalier")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Hyper-parameter optimization that trains trees, not trials")
set(CPACK_COMPONENTS_ALL client programs)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)  # as many as there are cores

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)

set(CPACK_DEBIAN_CLIENT_PACKAGE_NAME libespalier-client-dev)
set(CPACK_DEBIAN_CLIENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_CLIENT_DESCRIPTION "C++ client library: headers, archive, and find_package(Espalier)")
# What bring the libraries that the archive names (install.cmake), and the one header of others that its headers include.
set(CPACK_DEBIAN_CLIENT_PACKAGE_DEPENDS
  "libgrpc++-dev, libprotobuf-dev, libxxhash-dev, libssl-dev, libspdlog-dev, libexpected-dev, pkg-config")

set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME espalier)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SECTION science)
set(CPACK_COMPONENT_PROGRAMS_DESCRIPTION "The service and its command line")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_DEPENDS postgresql)  # `espalier up` runs a private cluster
include(CPack)
