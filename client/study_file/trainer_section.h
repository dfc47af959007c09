// What a study file says of a trainer of the user's own.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "client/study_file/yaml_tree.h"
#include "client/trainer_code.h"

namespace espalier {

// What `trainer`, `data`, `python` and `environment` say, in the file at `path`; nothing if trainer and data are a
// server's own. Error: kInvalidArgument with the field.
Result<std::optional<TrainerCode>> ReadTrainerCode(const YamlNode& root, const std::string& path);

}  // namespace espalier
