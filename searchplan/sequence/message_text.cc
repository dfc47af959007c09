#include "searchplan/sequence/message_text.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace espalier {
namespace {

char LowerCase(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::size_t EditCount(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (LowerCase(a[i]) == LowerCase(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string_view NearestName(std::string_view name, const std::vector<std::string_view>& names) {
  ESPALIER_CHECK(!names.empty());
  constexpr std::size_t kComparedMax = 100;  // of overlong names only the beginning counts
  std::string_view nearest;
  std::size_t fewest = std::string_view::npos;
  for (const std::string_view each : names) {
    const std::size_t count = EditCount(name.substr(0, kComparedMax), each.substr(0, kComparedMax));
    if (count < fewest) {
      fewest = count;
      nearest = each;
    }
  }
  return nearest;
}

std::string Shortened(std::string_view text) {
  constexpr std::size_t kShownMax = 60;
  if (text.size() <= kShownMax) return std::string(text);
  std::size_t end = kShownMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace espalier
