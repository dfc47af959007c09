#include "base/version.h"

namespace espalier {

std::string_view Version() { return ESPALIER_VERSION; }
std::string_view UserAgent() { return "espalier/" ESPALIER_VERSION; }

}  // namespace espalier
