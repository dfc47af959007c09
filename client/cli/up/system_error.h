// What the operating system refused, as an Error.
#pragma once

#include <string_view>

#include "base/result.h"

namespace espalier {

// "cannot WHAT: No such file or directory", from errno as it is now. Code: kInternal.
tl::unexpected<Error> SystemError(std::string_view what);

}  // namespace espalier
