// `espalier study export --trace`: finished studies as a trace, for `espalier simulate --trace`.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/connection.h"

namespace espalier {

// Writes the trace of these studies, ids or names, each once. Reads them page by page and holds one at a time. Errors:
// kFailedPrecondition of a study that is not finished, kInvalidArgument of one that is named twice or trained nothing.
Result<void> ExportTrace(Connection& connection, const std::vector<std::string>& studies, std::ostream& out);

}  // namespace espalier
