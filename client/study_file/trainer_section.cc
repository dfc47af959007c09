#include "client/study_file/trainer_section.h"

#include <pwd.h>
#include <unistd.h>

#include <filesystem>

#include "client/study_file/study_values.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPythonPrefix = "python:";
constexpr std::string_view kScriptPrefix = "script:";

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

// FILE.py:NAME
Result<TrainerCode> ReadPlace(const std::string& trainer, const std::string& study_file) {
  const std::size_t colon = trainer.rfind(':');
  std::error_code error;
  TrainerCode code;
  if (colon != std::string::npos) code.file = PathOf(trainer.substr(0, colon), study_file).string();
  if (colon == std::string::npos || colon + 1 == trainer.size() || !fs::is_regular_file(code.file, error)) {
    return Wrong("trainer", "got " + trainer +
                                "; expected FILE.py:NAME, a class or a function in a file that is there" +
                                (code.file.empty() ? "" : "; there is no " + code.file));
  }
  code.name = trainer.substr(colon + 1);
  return code;
}

Result<TrainerCode> ReadScript(const std::string& file, const std::string& study_file) {
  TrainerCode code{.file = PathOf(file, study_file).string()};
  std::error_code error;
  if (fs::is_regular_file(code.file, error)) return code;
  return Wrong("trainer", "expected script:FILE, a program that can be started; there is no " + code.file);
}

}  // namespace

Result<std::optional<TrainerCode>> ReadTrainerCode(const YamlNode& root, const std::string& path) {
  ESPALIER_ASSIGN(std::string trainer,
                  Text(root, "trainer", "a trainer's name, such as mlp, or FILE.py:NAME, or script:FILE"));
  const bool is_said = trainer.starts_with(kPythonPrefix);
  const bool is_script = trainer.starts_with(kScriptPrefix);
  if (!is_said && !is_script && trainer.find(".py:") == std::string::npos) {
    for (const char* key : {"python", "environment"}) {
      if (root.Find(key) == nullptr) continue;
      return Wrong(key, "is for a trainer in your own code, such as train.py:Digits; " + trainer + " is none");
    }
    return std::optional<TrainerCode>();
  }
  TrainerCode code;
  if (is_script) {
    ESPALIER_ASSIGN(code, ReadScript(trainer.substr(kScriptPrefix.size()), path));
  } else {
    ESPALIER_ASSIGN(code, ReadPlace(trainer.substr(is_said ? kPythonPrefix.size() : 0), path));
  }
  if (root.Find("python") != nullptr) {
    ESPALIER_ASSIGN(code.python, Text(root, "python", "the path of an interpreter, or a name that servers know"));
    if (code.python.find('/') != std::string::npos) code.python = PathOf(code.python, path).string();
  }
  ESPALIER_ASSIGN(code.environment, ReadEnvironment(root));
  return std::optional(std::move(code));
}

}  // namespace espalier
