#include "base/wide_count.h"

#include <algorithm>

namespace espalier {

std::string Print(WideCount count) {
  const bool is_negative = count < 0;
  auto left = is_negative ? -static_cast<unsigned __int128>(count) : static_cast<unsigned __int128>(count);
  std::string text;
  do {
    text += static_cast<char>('0' + static_cast<int>(left % 10));
    left /= 10;
  } while (left > 0);
  if (is_negative) text += '-';
  std::reverse(text.begin(), text.end());
  return text;
}

}  // namespace espalier
