// The version of this build, which master, clients and node managers tell each other.
#pragma once

#include <string_view>

namespace espalier {

// "0.1.0", as that of the Python package.
std::string_view Version();

// How programs call themselves to a master, before the words of what they call it with: "espalier/0.1.0".
std::string_view UserAgent();

}  // namespace espalier
