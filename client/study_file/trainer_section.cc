#include "client/study_file/trainer_section.h"

#include <pwd.h>
#include <unistd.h>

#include <filesystem>

#include "client/study_file/study_values.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPythonPrefix = "python:";
constexpr std::string_view kBuiltInData = "digits";  // whatever lies beside the file

// "~/venv/bin/python", seen from the study file's folder.
fs::path PathOf(const std::string& text, const std::string& study_file) {
  const passwd* user = text.starts_with("~/") ? getpwuid(getuid()) : nullptr;
  if (user != nullptr) return fs::path(user->pw_dir) / text.substr(2);
  return (fs::absolute(study_file).parent_path() / text).lexically_normal();
}

Result<std::map<std::string, std::string>> ReadEnvironment(const YamlNode& root) {
  std::map<std::string, std::string> environment;
  const YamlNode* node = root.Find("environment");
  if (node == nullptr) return environment;
  if (node->kind != YamlNode::Kind::kMapping) {
    return Wrong("environment", "got " + Describe(*node) + "; expected a mapping of names to values");
  }
  for (const YamlEntry& entry : node->entries) {
    if (entry.value.kind != YamlNode::Kind::kScalar) {
      return Wrong("environment." + entry.key, "got " + Describe(entry.value) + "; expected a text");
    }
    environment[entry.key] = entry.value.text;
  }
  return environment;
}

bool IsFile(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// The text's entry, with its file as an absolute path. Nothing for a trainer that is not known by its kind.
Result<std::optional<Entry>> ReadEntry(const std::string& trainer, const std::string& study_file) {
  const bool is_said = trainer.starts_with(kPythonPrefix);
  const std::string text = is_said ? trainer.substr(kPythonPrefix.size()) : trainer;
  Entry entry = ParseEntry(text);
  const bool is_python = entry.kind == EntryKind::kPython;
  if (is_python && !is_said && trainer.find(".py:") == std::string::npos) return std::optional<Entry>();
  if (entry.kind == EntryKind::kBuiltIn) return std::optional<Entry>();
  if (!entry.file.empty()) entry.file = PathOf(entry.file, study_file).string();
  const std::string missing = entry.file.empty() ? "" : "; there is no " + entry.file;
  if (is_python && (entry.name.empty() || !IsFile(entry.file))) {
    return Wrong("trainer", "got " + text + "; expected FILE.py:NAME, a class or a function in a file that is there" +
                                (entry.name.empty() ? "" : missing));
  }
  if (entry.kind == EntryKind::kScript && !IsFile(entry.file)) {
    return Wrong("trainer", "expected script:FILE, a program that can be started" + missing);
  }
  if (entry.kind == EntryKind::kLibrary && (!entry.file.ends_with(".so") || !IsFile(entry.file))) {
    return Wrong("trainer", "expected library:FILE.so or library:FILE.so:NAME, a library that is there" + missing);
  }
  if (entry.kind == EntryKind::kTorchScript && (!entry.file.ends_with(".pt") || !IsFile(entry.file))) {
    return Wrong("trainer", "expected torchscript:FILE.pt, a module that is there" + missing);
  }
  if (entry.kind == EntryKind::kCommand && entry.name.find_first_not_of(' ') == std::string::npos) {
    return Wrong("trainer", "expected command:LINE, what starts a worker, such as command:./worker --fast");
  }
  return std::optional(std::move(entry));
}

// Of a folder that is named as data; empty: it is a name.
Result<std::string> ReadDataFolder(const YamlNode& root, const std::string& study_file) {
  const YamlNode* const node = root.Find("data");
  if (node == nullptr || node->kind != YamlNode::Kind::kScalar || node->text == kBuiltInData) return std::string();
  fs::path path = PathOf(node->text, study_file);
  if (!path.has_filename()) path = path.parent_path();  // with a "/" at its end
  std::error_code error;
  if (fs::is_directory(path, error)) return path.string();
  if (node->text.find('/') == std::string::npos) return std::string();
  return path.string();  // a server may have it
}

}  // namespace

Result<std::optional<TrainerCode>> ReadTrainerCode(const YamlNode& root, const std::string& path) {
  ESPALIER_ASSIGN(const std::string trainer,
                  Text(root, "trainer", "a trainer's name, such as mlp, or FILE.py:NAME, or script:FILE"));
  ESPALIER_ASSIGN(const std::optional<Entry> entry, ReadEntry(trainer, path));
  ESPALIER_ASSIGN(const std::string data, ReadDataFolder(root, path));
  TrainerCode code{.entry = entry.value_or(Entry{.kind = EntryKind::kBuiltIn, .file = {}, .name = trainer}),
                   .folder = fs::absolute(path).parent_path().lexically_normal().string()};
  const bool takes_data = IsOfOwnWorker(code.entry.kind);
  if (takes_data) code.data = data;
  if (takes_data || code.entry.kind == EntryKind::kCommand) {
    for (const char* key : {"python", "environment"}) {
      if (root.Find(key) == nullptr) continue;
      return Wrong(key, "is for a trainer in your own code, such as train.py:Digits; " + trainer + " is none");
    }
    if (!entry && data.empty()) return std::optional<TrainerCode>();
    return std::optional(std::move(code));
  }
  if (root.Find("python") != nullptr) {
    ESPALIER_ASSIGN(code.python, Text(root, "python", "the path of an interpreter, or a name that servers know"));
    if (code.python.find('/') != std::string::npos) code.python = PathOf(code.python, path).string();
  }
  ESPALIER_ASSIGN(code.environment, ReadEnvironment(root));
  return std::optional(std::move(code));
}

}  // namespace espalier
