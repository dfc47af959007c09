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

constexpr std::string_view kLibraryEnding = ".so";
constexpr std::string_view kTorchScriptEnding = ".pt";

std::string_view PrefixOf(EntryKind kind) {
  switch (kind) {
    case EntryKind::kPython:
      return "";
    case EntryKind::kScript:
      return "script:";
    case EntryKind::kLibrary:
      return "library:";
    case EntryKind::kTorchScript:
      return "torchscript:";
    case EntryKind::kCommand:
      return "command:";
    case EntryKind::kBuiltIn:
      return "built-in:";
  }
  return "";
}

// Behind the colon, if there is one.
void CutName(Entry& entry, std::size_t colon) {
  if (colon == std::string::npos) return;
  entry.name = entry.file.substr(colon + 1);
  entry.file.resize(colon);
}

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

bool IsFileName(const std::string& text) { return StaysBelow(text) && text.find('/') == std::string::npos; }

// Letters, digits and '_': no file that a worker would load.
bool IsName(const std::string& text) {
  const auto fits = [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

bool MakesSense(const Entry& entry) {
  switch (entry.kind) {
    case EntryKind::kPython:
      return StaysBelow(entry.file) && !entry.name.empty();
    case EntryKind::kScript:
      return IsFileName(entry.file);
    case EntryKind::kLibrary:
      return IsFileName(entry.file) && entry.file.ends_with(kLibraryEnding);
    case EntryKind::kTorchScript:
      return IsFileName(entry.file) && entry.file.ends_with(kTorchScriptEnding);
    case EntryKind::kCommand:
      return entry.name.find_first_not_of(' ') != std::string::npos;
    case EntryKind::kBuiltIn:
      return IsName(entry.name);
  }
  return false;
}

Result<void> CheckEntry(const std::string& text) {
  ESPALIER_RETURN_IF_ERROR(CheckText(text, "trainer"));
  if (MakesSense(ParseEntry(text))) return {};
  return Wrong("trainer",
               "expected FILE.py:NAME with a file of the archive, script:FILE, library:FILE.so, "
               "torchscript:FILE.pt, command:LINE or built-in:NAME, got '" +
                   text + "'");
}

Result<void> CheckArchive(const TrainerReference& reference) {
  if (!HasArchive(ParseEntry(reference.entry).kind)) {
    return reference.archive.empty() ? Result<void>() : Wrong("archive", "expected none for " + reference.entry);
  }
  const bool is_hexadecimal = reference.archive.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (reference.archive.size() == kSha256Digits && is_hexadecimal) return {};
  return Wrong("archive", "expected 64 lower-case hexadecimal digits");
}

// What is told to other workers than those of Python and of programs would be no part of what they are.
Result<void> CheckEnvironment(const TrainerReference& reference) {
  const EntryKind kind = ParseEntry(reference.entry).kind;
  const bool may_have = kind == EntryKind::kPython || kind == EntryKind::kScript;
  if (reference.environment.empty() || may_have) return {};
  return Wrong("environment", "is for trainers in Python and programs; " + reference.entry + " is none");
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

Entry ParseEntry(const std::string& text) {
  for (const EntryKind kind :
       {EntryKind::kScript, EntryKind::kLibrary, EntryKind::kTorchScript, EntryKind::kCommand, EntryKind::kBuiltIn}) {
    if (!text.starts_with(PrefixOf(kind))) continue;
    Entry entry{.kind = kind, .file = text.substr(PrefixOf(kind).size()), .name = {}};
    if (!HasArchive(kind)) std::swap(entry.file, entry.name);
    if (kind == EntryKind::kLibrary) CutName(entry, entry.file.find(':'));
    return entry;
  }
  Entry entry{.kind = EntryKind::kPython, .file = text, .name = {}};
  CutName(entry, text.rfind(':'));
  return entry;
}

std::string Print(const Entry& entry) {
  const bool has_both = !entry.file.empty() && !entry.name.empty();
  return std::string(PrefixOf(entry.kind)) + entry.file + (has_both ? ":" : "") + entry.name;
}

bool HasArchive(EntryKind kind) { return kind != EntryKind::kCommand && kind != EntryKind::kBuiltIn; }

bool IsOfOwnWorker(EntryKind kind) {
  return kind == EntryKind::kLibrary || kind == EntryKind::kTorchScript || kind == EntryKind::kBuiltIn;
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
  ESPALIER_RETURN_IF_ERROR(CheckArchive(reference));
  ESPALIER_RETURN_IF_ERROR(CheckText(reference.python, "python"));
  ESPALIER_RETURN_IF_ERROR(CheckText(reference.client.path, "python"));
  ESPALIER_RETURN_IF_ERROR(CheckText(reference.client.machine, "machine"));
  ESPALIER_RETURN_IF_ERROR(CheckText(reference.folder, "folder"));
  if (!reference.folder.starts_with('/')) return Wrong("folder", "expected an absolute path");
  if (reference.data.size() > kCountMax) return Wrong("data", "these are more than 1000 paths; name folders instead");
  if (IsOfOwnWorker(ParseEntry(reference.entry).kind) && reference.data.size() > 1) {
    return Wrong("data", "expected one data set at most");
  }
  for (const std::string& path : reference.data) {
    ESPALIER_RETURN_IF_ERROR(CheckText(path, "data"));
    if (!StaysBelow(path)) return Wrong("data", "expected a path below the trainer's folder, got '" + path + "'");
  }
  ESPALIER_RETURN_IF_ERROR(CheckText(reference.data_seen, "data"));
  ESPALIER_RETURN_IF_ERROR(CheckEnvironment(reference));
  if (reference.environment.size() > kCountMax) return Wrong("environment", "these are more than 1000 variables");
  for (const auto& [name, value] : reference.environment) ESPALIER_RETURN_IF_ERROR(CheckVariable(name, value));
  return {};
}

}  // namespace espalier
