#include "base/token.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/check.h"

namespace espalier {
namespace {

constexpr std::string_view kPrefix = "espalier_";
constexpr std::size_t kRandomBytes = 32;
constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::string_view kWhiteSpace = " \t\r\n";

tl::unexpected<Error> CannotWrite(const std::string& path) {
  return MakeError(ErrorCode::kInternal, "cannot write " + path + ": " + std::strerror(errno));
}

// Writes a file beside `path` and gives it that name, unless the name has been taken in the meantime.
Result<void> MakeTokenFile(const std::string& path) {
  std::string temporary = path + ".XXXXXX";
  const int file = mkstemp(temporary.data());  // mode 0600
  if (file < 0) return CannotWrite(path);
  const std::string line = NewToken() + "\n";
  bool made = write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()) && fsync(file) == 0;
  close(file);
  made = made && (link(temporary.c_str(), path.c_str()) == 0 || errno == EEXIST);
  Result<void> outcome = made ? Result<void>() : CannotWrite(path);
  unlink(temporary.c_str());
  return outcome;
}

}  // namespace

std::string NewToken() {
  std::array<unsigned char, kRandomBytes> bytes{};
  // So few bytes are never delivered in part.
  ESPALIER_CHECK(getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  std::string token(kPrefix);
  for (const unsigned char byte : bytes) {
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

Result<std::string> ParseToken(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kWhiteSpace), text.size()));
  text = text.substr(0, text.find_last_not_of(kWhiteSpace) + 1);
  if (text.size() == kPrefix.size() + 2 * kRandomBytes && text.starts_with(kPrefix) &&
      text.find_first_not_of(kDigits, kPrefix.size()) == std::string_view::npos) {
    return std::string(text);
  }
  return MakeError(
      ErrorCode::kUnauthenticated,
      "what was given is no token: expected espalier_ and 64 hexadecimal digits, as espalier user add prints them",
      "token");
}

Result<std::string> ReadTokenFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return MakeError(ErrorCode::kUnauthenticated, "cannot read the token file " + path);
  auto token = ParseToken(std::string{std::istreambuf_iterator<char>(file), {}});
  if (!token.has_value()) return MakeError(token.error().code, path + ": " + token.error().message);
  return token;
}

Result<std::string> ReadOrMakeTokenFile(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) ESPALIER_RETURN_IF_ERROR(MakeTokenFile(path));
  return ReadTokenFile(path);
}

}  // namespace espalier
