// Configuration files: messages of espalier/config/v1 in protobuf's text format.
#pragma once

#include <google/protobuf/message.h>

#include <filesystem>

#include "base/result.h"

namespace espalier {

// Error: kNotFound when the file cannot be read; kInvalidArgument, with line and column, when it does not parse.
Result<void> ReadConfigFile(const std::filesystem::path& file, google::protobuf::Message& config);

// Error: kInvalidArgument with the field if `value` is empty.
Result<void> RequireText(const std::string& value, std::string field);

}  // namespace espalier
