#include "client/cli/up/system_error.h"

#include <cerrno>
#include <string>
#include <system_error>

namespace espalier {

tl::unexpected<Error> SystemError(std::string_view what) {
  const int code = errno;
  return MakeError(ErrorCode::kInternal, "cannot " + std::string(what) + ": " + std::generic_category().message(code));
}

}  // namespace espalier
