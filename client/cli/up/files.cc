#include "client/cli/up/files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <fstream>

#include "client/cli/up/system_error.h"

namespace espalier {

Result<void> WriteFile(const std::string& path, std::string_view content) {
  const std::string temporary = path + ".new";
  {
    const FileDescriptor file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file.IsOpen()) return SystemError("write " + temporary);
    while (!content.empty()) {
      const ssize_t written = write(file.Get(), content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return SystemError("write " + temporary);
      content.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  if (rename(temporary.c_str(), path.c_str()) != 0) return SystemError("write " + path);
  return {};
}

Result<void> MakeDirectory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return SystemError("make directory " + path);
  return {};
}

Result<FileDescriptor> OpenDirectory(const std::string& path) {
  FileDescriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.IsOpen()) return SystemError("open directory " + path);
  return directory;
}

std::string LastLine(const std::string& path) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace espalier
