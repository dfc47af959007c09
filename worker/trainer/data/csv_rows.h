// The rows of a text in CSV (RFC 4180), each with the line that it begins at.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace espalier::trainer {

using Fields = std::vector<std::string>;

// What no row may be longer than, in bytes: a quote that is never closed makes one row of all that follows.
inline constexpr std::size_t kCsvRowBytesMax = std::size_t{1} << 20;

// Calls `take` with each row that is not empty, and its line, counted from 1; quotes are resolved. Error: that of
// `take`, or kInvalidArgument, naming `file` and the line: a quote where none may stand, one that is not closed, a
// longer row.
Result<void> ReadCsvRows(const std::filesystem::path& file, std::string_view text,
                         const std::function<Result<void>(std::int64_t line, const Fields& fields)>& take);

}  // namespace espalier::trainer
