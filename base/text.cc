#include "base/text.h"

#include "base/check.h"

namespace espalier {
namespace {

// How many bytes the letter at the text's beginning has; 0 if there is none that may be stored. REQUIRES: not empty.
std::size_t LetterBytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : '\0'); };
  const auto in_range = [&](std::size_t i, int first, int last) { return byte(i) >= first && byte(i) <= last; };
  if (in_range(0, 0x01, 0x7f)) return 1;
  if (in_range(0, 0xc2, 0xdf)) return in_range(1, 0x80, 0xbf) ? 2 : 0;
  if (in_range(0, 0xe0, 0xef)) {
    const int first = byte(0) == 0xe0 ? 0xa0 : 0x80;  // below: an overlong form
    const int last = byte(0) == 0xed ? 0x9f : 0xbf;   // beyond: surrogates
    return in_range(1, first, last) && in_range(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (in_range(0, 0xf0, 0xf4)) {
    const int first = byte(0) == 0xf0 ? 0x90 : 0x80;  // below: an overlong form
    const int last = byte(0) == 0xf4 ? 0x8f : 0xbf;   // beyond: past the last letter
    return in_range(1, first, last) && in_range(2, 0x80, 0xbf) && in_range(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool IsValidText(std::string_view text) {
  while (!text.empty()) {
    const std::size_t count = LetterBytes(text);
    if (count == 0) return false;
    text.remove_prefix(count);
  }
  return true;
}

std::string CleanText(std::string text) {
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t count = LetterBytes(std::string_view(text).substr(place));
    if (count == 0) text[place] = '?';
    place += count == 0 ? 1 : count;
  }
  return text;
}

std::string CleanText(std::string text, std::size_t bytes_max) {
  static constexpr std::string_view kGap = "\n...\n";
  ESPALIER_CHECK(bytes_max >= 16);
  if (text.size() > bytes_max) {
    const std::size_t end = (bytes_max - kGap.size()) / 2;
    const std::size_t beginning = bytes_max - kGap.size() - end;
    text.replace(beginning, text.size() - beginning - end, kGap);
  }
  return CleanText(std::move(text));  // what the cut has left of a letter goes too
}

std::string VisibleLine(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string visible;
  visible.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    if (byte == '\n' || byte == '\t') {
      visible += byte == '\n' ? "\\n" : "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      visible += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 0xf]};
    } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {  // C1, in UTF-8
      visible += {'\\', 'x', kDigits[next >> 4], kDigits[next & 0xf]};
      ++i;
    } else {
      visible += text[i];
    }
  }
  return visible;
}

}  // namespace espalier
