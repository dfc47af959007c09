// Request ids: what makes a repeated call the same call.
#pragma once

#include <string>

namespace espalier {

// 32 hexadecimal digits that nobody else has drawn.
std::string NewRequestId();

}  // namespace espalier
