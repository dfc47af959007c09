// What a study file says of the trials to be tried: `hyper_parameters`, `only_if`, `trials`, and how many its tuner
// shall draw.
#pragma once

#include "client/study_file/study_file.h"
#include "client/study_file/yaml_tree.h"

namespace espalier {

// Takes `trials`, `seed` and `sampling` out of the tuner's options; nothing if there are none. Error: kInvalidArgument,
// with the field.
Result<std::optional<Sampling>> TakeSampling(StudyFile& file);

// Fills space, candidates and written values. REQUIRES: the file's tuner and sampling were read. Error:
// kInvalidArgument, with the field.
Result<void> ReadSpace(const YamlNode& root, StudyFile& file);

}  // namespace espalier
