# Installs HEADERS, paths from SOURCE, below INCLUDE/espalier, and has them include each other from INCLUDE: what is "base/result.h" in the
# repository is <espalier/base/result.h> for users, whose own folders may have any name.
foreach(header ${HEADERS})
  file(READ ${SOURCE}/${header} text)
  string(REGEX REPLACE "#include \"([^\"]+)\"" "#include \"espalier/\\1\"" text "${text}")
  set(installed ${INCLUDE}/espalier/${header})
  message(STATUS "Installing: ${installed}")
  file(WRITE "$ENV{DESTDIR}${installed}" "${text}")
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES ${installed})
endforeach()
