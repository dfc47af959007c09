#include "base/text_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace espalier {

Result<std::string> ReadTextFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  if (!stream || stream.bad()) {
    return MakeError(ErrorCode::kNotFound, "cannot be read (" + std::string(std::strerror(errno)) + ")");
  }
  return text.str();
}

}  // namespace espalier
