#include "client/study_file/trainer_section.h"

#include <filesystem>

#include "client/study_file/study_values.h"

namespace espalier {
namespace {

Result<std::map<std::string, std::string>> ReadEnvironment(const YamlNode& node) {
  std::map<std::string, std::string> environment;
  if (node.kind != YamlNode::Kind::kMapping) {
    return Wrong("environment", "got " + Describe(node) + "; expected a mapping of names to values");
  }
  for (const YamlEntry& entry : node.entries) {
    if (entry.value.kind != YamlNode::Kind::kScalar) {
      return Wrong("environment." + entry.key, "got " + Describe(entry.value) + "; expected a text");
    }
    environment[entry.key] = entry.value.text;
  }
  return environment;
}

}  // namespace

Result<std::optional<TrainerCode>> ReadTrainerCode(const YamlNode& root, const std::string& path) {
  StudySpecification said;
  ESPALIER_ASSIGN(said.trainer,
                  Text(root, "trainer", "a trainer's name, such as mlp, or FILE.py:NAME, or script:FILE"));
  if (root.Find("data") != nullptr) {
    ESPALIER_ASSIGN(said.data, Text(root, "data", "a data set's name, or a folder"));
  }
  if (root.Find("python") != nullptr) {
    ESPALIER_ASSIGN(said.python, Text(root, "python", "the path of an interpreter, or a name that servers know"));
  }
  if (const YamlNode* environment = root.Find("environment"); environment != nullptr) {
    ESPALIER_ASSIGN(said.environment, ReadEnvironment(*environment));
  }
  return TrainerCodeOf(said, std::filesystem::absolute(path).parent_path().lexically_normal().string());
}

}  // namespace espalier
