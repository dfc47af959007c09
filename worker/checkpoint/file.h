// Whole files, written durably: the system calls behind checkpoint files and the local store.
// Errors: kNotFound (no such file, reading), kResourceExhausted (no space left, over the quota), else kInternal; each
// names the file and the system's reason. Thread-safe.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace espalier {

// The error for the current errno, said of what was tried: "cannot write PATH: No space left on device".
tl::unexpected<Error> SystemError(std::string_view attempt, const std::filesystem::path& path);

Result<std::string> ReadWholeFile(const std::filesystem::path& path);

// Creates or replaces the content and syncs it.
Result<void> WriteWholeFile(const std::filesystem::path& path, std::string_view bytes);

// Copies the content to `to`, created or replaced, and syncs it.
Result<void> CopyWholeFile(const std::filesystem::path& from, const std::filesystem::path& to);

Result<void> RenameFile(const std::filesystem::path& from, const std::filesystem::path& to);

// Makes the names in a folder durable; an empty path is the current folder.
Result<void> SyncFolder(const std::filesystem::path& folder);

}  // namespace espalier
