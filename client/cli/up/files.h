// Files and directories that `up` keeps, all of them private to one user.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "client/cli/up/file_descriptor.h"

namespace espalier {

// Replaces the file as a whole: readers see the old or the new content. Mode 0600.
Result<void> WriteFile(const std::string& path, std::string_view content);

// Makes the directory (mode 0700) unless it is there.
Result<void> MakeDirectory(const std::string& path);

// Opens a directory. It stays open in no child, unless a ChildCommand hands it on.
Result<FileDescriptor> OpenDirectory(const std::string& path);

// The last non-empty line; empty if there is none.
std::string LastLine(const std::string& path);

}  // namespace espalier
