// What a program that can only be started says of itself when it is asked with --describe (docs/script_trainers.md).
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "searchplan/sequence/training_identity.h"

namespace espalier::script {

struct Declaration {
  Schema schema;
  std::vector<std::string> metrics;     // that it evaluates
  std::vector<std::string> data_paths;  // seen from its own folder
  std::string data_version;             // instead of the content of `data_paths`
  std::string version;                  // instead of the program's own content; empty: that counts
  std::string device;                   // what else decides its bits, such as libraries' versions
  bool writes_safetensors = false;      // its states are such files, and equal for equal trainings
};

// Error: kInvalidArgument with the field.
Result<Declaration> ReadDeclaration(std::string_view json);

}  // namespace espalier::script
