// What a study file says of a trainer of the user's own.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "client/study_file/study_file.h"
#include "client/study_file/yaml_tree.h"

namespace espalier {

// What `trainer`, `data`, `python` and `environment` say; nothing if trainer and data are a server's own. Data is a
// folder if it has a "/" in its name, or is one and not called as what is built in. Paths are seen from the study file
// at `path`; "~" is the user's home. Error: kInvalidArgument with the field.
Result<std::optional<TrainerCode>> ReadTrainerCode(const YamlNode& root, const std::string& path);

}  // namespace espalier
