// Files of text that users write, read whole.
#pragma once

#include <string>

#include "base/result.h"

namespace espalier {

// Error: kNotFound, "cannot be read (WHY)", with the system's reason.
Result<std::string> ReadTextFile(const std::string& path);

}  // namespace espalier
