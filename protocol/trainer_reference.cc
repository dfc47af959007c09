#include "protocol/trainer_reference.h"

#include <algorithm>
#include <cctype>

#include "base/key_text.h"
#include "base/text.h"

namespace espalier {
namespace {

constexpr std::size_t kTextBytesMax = 4096;  // as a path may have
constexpr std::size_t kCountMax = 1000;      // of paths of data, and of variables
constexpr std::size_t kSha256Digits = 64;

tl::unexpected<Error> Wrong(const char* field, const std::string& message) {
  return MakeError(ErrorCode::kInvalidArgument, message, field);
}

Result<void> CheckText(const std::string& text, const char* field) {
  if (text.size() <= kTextBytesMax && IsValidText(text) && text.find('\n') == std::string::npos) return {};
  return Wrong(field, "expected one line of UTF-8 with at most " + std::to_string(kTextBytesMax) + " bytes");
}

// No absolute path, and none that leaves its folder or names it.
bool StaysBelow(const std::string& path) {
  if (path.empty() || path.front() == '/') return false;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = std::string_view(path).substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

Result<void> CheckEntry(const std::string& entry) {
  ESPALIER_RETURN_IF_ERROR(CheckText(entry, "trainer"));
  if (const auto program = ProgramOf(entry)) {
    if (StaysBelow(*program) && program->find('/') == std::string::npos) return {};
    return Wrong("trainer", "expected script:FILE with a file's name, got '" + entry + "'");
  }
  const std::size_t colon = entry.rfind(':');
  const bool has_parts = colon != std::string::npos && colon + 1 < entry.size();
  if (has_parts && StaysBelow(entry.substr(0, colon))) return {};
  return Wrong("trainer", "expected FILE.py:NAME with a file of the archive, got '" + entry + "'");
}

Result<void> CheckVariable(const std::string& name, const std::string& value) {
  ESPALIER_RETURN_IF_ERROR(CheckText(name, "environment"));
  ESPALIER_RETURN_IF_ERROR(CheckText(value, "environment"));
  const auto fits = [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; };
  const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), fits) && std::isdigit(name[0]) == 0;
  if (!is_name) return Wrong("environment", "expected names of letters, digits and '_', got '" + name + "'");
  if (!name.starts_with("ESPALIER_")) return {};
  return Wrong("environment", name + " is the service's own; choose another name");
}

}  // namespace

std::optional<std::string> ProgramOf(const std::string& entry) {
  if (!entry.starts_with(kScriptPrefix)) return std::nullopt;
  return entry.substr(kScriptPrefix.size());
}

Digest128 DigestOf(const TrainerReference& reference) {
  KeyText key("trainer-reference-1");
  key.Add(reference.entry).Add(reference.archive).Add(reference.python).Add(reference.client.path);
  key.Add(reference.client.machine).Add(std::to_string(reference.client.uid)).Add(reference.folder);
  key.Add(reference.user).Add(reference.team).Add(reference.data_seen).Add(std::to_string(reference.data.size()));
  for (const std::string& path : reference.data) key.Add(path);
  for (const auto& [name, value] : reference.environment) key.Add(name).Add(value);
  return DigestOf(key.text());
}

Result<void> Check(const TrainerReference& reference) {
  ESPALIER_RETURN_IF_ERROR(CheckEntry(reference.entry));
  const bool is_hexadecimal = reference.archive.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (reference.archive.size() != kSha256Digits || !is_hexadecimal) {
    return Wrong("archive", "expected 64 lower-case hexadecimal digits");
  }
  ESPALIER_RETURN_IF_ERROR(CheckText(reference.python, "python"));
  ESPALIER_RETURN_IF_ERROR(CheckText(reference.client.path, "python"));
  ESPALIER_RETURN_IF_ERROR(CheckText(reference.client.machine, "machine"));
  ESPALIER_RETURN_IF_ERROR(CheckText(reference.folder, "folder"));
  if (!reference.folder.starts_with('/')) return Wrong("folder", "expected an absolute path");
  if (reference.data.size() > kCountMax) return Wrong("data", "these are more than 1000 paths; name folders instead");
  for (const std::string& path : reference.data) {
    ESPALIER_RETURN_IF_ERROR(CheckText(path, "data"));
    if (!StaysBelow(path)) return Wrong("data", "expected a path below the trainer's folder, got '" + path + "'");
  }
  ESPALIER_RETURN_IF_ERROR(CheckText(reference.data_seen, "data"));
  if (reference.environment.size() > kCountMax) return Wrong("environment", "these are more than 1000 variables");
  for (const auto& [name, value] : reference.environment) ESPALIER_RETURN_IF_ERROR(CheckVariable(name, value));
  return {};
}

}  // namespace espalier
