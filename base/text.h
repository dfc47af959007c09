// Text that can be sent and stored: UTF-8 without zero bytes. Protobuf refuses any other text when it parses,
// PostgreSQL when it stores.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace espalier {

// Neither overlong forms nor surrogates are UTF-8.
bool IsValidText(std::string_view text);

// The same with a '?' for each byte that makes it no valid text.
std::string CleanText(std::string text);

// Clean text of at most `bytes_max` bytes: what is longer loses its middle, since a message says most at its ends.
// REQUIRES: bytes_max >= 16.
std::string CleanText(std::string text, std::size_t bytes_max);

// On one line, and without what moves a terminal's cursor or changes its colours: each control character (C0, DEL, C1)
// as
// "\n", "\t" or "\x1b". Whoever names something else cannot forge a line with it.
std::string VisibleLine(std::string_view text);

}  // namespace espalier
