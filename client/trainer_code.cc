#include "client/trainer_code.h"

#include <pwd.h>
#include <unistd.h>

#include <filesystem>

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPythonPrefix = "python:";
constexpr std::string_view kBuiltInData = "digits";  // whatever lies in the folder

// "~/venv/bin/python", seen from the folder.
fs::path PathOf(const std::string& text, const std::string& folder) {
  const passwd* user = text.starts_with("~/") ? getpwuid(getuid()) : nullptr;
  if (user != nullptr) return fs::path(user->pw_dir) / text.substr(2);
  return (fs::path(folder) / text).lexically_normal();
}

bool IsFile(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// The text's entry, with its file as an absolute path. Nothing for a trainer that is not known by its kind.
Result<std::optional<Entry>> ReadEntry(const std::string& trainer, const std::string& folder) {
  const std::optional<Entry> named = NamedEntry(trainer);
  if (!named) return std::optional<Entry>();
  Entry entry = *named;
  if (!entry.file.empty()) entry.file = PathOf(entry.file, folder).string();
  const std::string missing = entry.file.empty() ? "" : "; there is no " + entry.file;
  if (entry.kind == EntryKind::kPython && (entry.name.empty() || !IsFile(entry.file))) {
    return WrongTrainer("got " + Print(*named) +
                        "; expected FILE.py:NAME, a class or a function in a file that is there" +
                        (entry.name.empty() ? "" : missing));
  }
  if (entry.kind == EntryKind::kScript && !IsFile(entry.file)) {
    return WrongTrainer("expected script:FILE, a program that can be started" + missing);
  }
  if (entry.kind == EntryKind::kLibrary && (!entry.file.ends_with(".so") || !IsFile(entry.file))) {
    return WrongTrainer("expected library:FILE.so or library:FILE.so:NAME, a library that is there" + missing);
  }
  if (entry.kind == EntryKind::kTorchScript && (!entry.file.ends_with(".pt") || !IsFile(entry.file))) {
    return WrongTrainer("expected torchscript:FILE.pt, a module that is there" + missing);
  }
  if (entry.kind == EntryKind::kCommand && entry.name.find_first_not_of(' ') == std::string::npos) {
    return WrongTrainer("expected command:LINE, what starts a worker, such as command:./worker --fast");
  }
  return std::optional(std::move(entry));
}

// Of a folder that is named as data; empty: it is a name.
std::string DataFolder(const std::string& data, const std::string& folder) {
  if (data.empty() || data == kBuiltInData) return {};
  fs::path path = PathOf(data, folder);
  if (!path.has_filename()) path = path.parent_path();  // with a "/" at its end
  std::error_code error;
  if (fs::is_directory(path, error)) return path.string();
  if (data.find('/') == std::string::npos) return {};
  return path.string();  // a server may have it
}

}  // namespace

std::optional<Entry> NamedEntry(const std::string& text) {
  const bool is_said = text.starts_with(kPythonPrefix);
  Entry entry = ParseEntry(is_said ? text.substr(kPythonPrefix.size()) : text);
  if (entry.kind == EntryKind::kBuiltIn) return std::nullopt;
  if (entry.kind == EntryKind::kPython && !is_said && text.find(".py:") == std::string::npos) return std::nullopt;
  return entry;
}

tl::unexpected<Error> WrongTrainer(const std::string& message) {
  return MakeError(ErrorCode::kInvalidArgument, message, "trainer");
}

Result<std::optional<TrainerCode>> TrainerCodeOf(const StudySpecification& said, const std::string& folder) {
  ESPALIER_ASSIGN(const std::optional<Entry> entry, ReadEntry(said.trainer, folder));
  const std::string data = DataFolder(said.data, folder);
  TrainerCode code{.entry = entry.value_or(Entry{.kind = EntryKind::kBuiltIn, .file = {}, .name = said.trainer}),
                   .folder = folder};
  const bool takes_data = IsOfOwnWorker(code.entry.kind);
  if (takes_data) code.data = data;
  if (takes_data || code.entry.kind == EntryKind::kCommand) {
    if (!said.python.empty() || !said.environment.empty()) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "is for a trainer in your own code, such as train.py:Digits; " + said.trainer + " is none",
                       said.python.empty() ? "environment" : "python");
    }
    if (!entry && data.empty()) return std::optional<TrainerCode>();
    return std::optional(std::move(code));
  }
  code.python = said.python;
  if (code.python.find('/') != std::string::npos) code.python = PathOf(code.python, folder).string();
  code.environment = said.environment;
  return std::optional(std::move(code));
}

std::string EntryOf(const TrainerCode& code) {
  Entry entry = code.entry;
  entry.file = fs::path(entry.file).filename().string();
  return Print(entry);
}

}  // namespace espalier
