// For messages: what they say about text that a user wrote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// Insertions, deletions and replacements that make one text the other (Levenshtein), letters' case aside.
std::size_t EditCount(std::string_view a, std::string_view b);

// The one of `names` with the fewest edits from `name`, letters' case aside; the first of several. REQUIRES: names is
// not empty.
std::string_view NearestName(std::string_view name, const std::vector<std::string_view>& names);

// The text, or its beginning and "..." if it is long; never ends inside a UTF-8 character.
std::string Shortened(std::string_view text);

}  // namespace espalier
