#include "client/cli/terminal_text.h"

#include <string>

#include "base/text.h"

namespace espalier {

void TerminalText::PutAsItIs(std::string_view text) {
  terminal_.sputn(text.data(), static_cast<std::streamsize>(text.size()));
}

TerminalText::int_type TerminalText::overflow(int_type character) {
  if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
  const char text = traits_type::to_char_type(character);
  return xsputn(&text, 1) == 1 ? character : traits_type::eof();
}

std::streamsize TerminalText::xsputn(const char* text, std::streamsize size) {
  std::string_view left(text, static_cast<std::size_t>(size));
  while (!left.empty()) {
    const std::size_t end = left.find_first_of("\n\t\r");
    PutAsItIs(VisibleLine(left.substr(0, end)));
    if (end == std::string_view::npos) break;
    const bool is_line_end = left.substr(end).starts_with("\r\n");
    PutAsItIs(left[end] == '\t' ? "\t" : "\n");
    left.remove_prefix(end + (is_line_end ? 2 : 1));
  }
  return size;
}

std::ostream& operator<<(std::ostream& out, ControlSequence sequence) {
  auto* const terminal = dynamic_cast<TerminalText*>(out.rdbuf());
  if (terminal == nullptr) return out << sequence.text;
  terminal->PutAsItIs(sequence.text);
  return out;
}

}  // namespace espalier
