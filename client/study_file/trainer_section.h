// What a study file says of a trainer in the user's own code.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "client/study_file/study_file.h"
#include "client/study_file/yaml_tree.h"

namespace espalier {

// What `trainer`, `python` and `environment` say; nothing if the trainer is one of a server's own. Paths are seen from
// the study file at `path`; "~" is the user's home. Error: kInvalidArgument with the field.
Result<std::optional<TrainerCode>> ReadTrainerCode(const YamlNode& root, const std::string& path);

}  // namespace espalier
