// What is written to a terminal comes from many people: names of studies, reasons of failures, what their code prints.
// Escape sequences in it could rewrite what stands on the screen, or worse; so control characters are shown, not sent.
#pragma once

#include <ostream>
#include <streambuf>
#include <string_view>

namespace espalier {

// Writes on to a terminal what is no control character, and newlines and tabs; a carriage return begins a new line, as
// the bars of progress that training code prints; others are written as "\x1b". Not thread-safe, as any stream.
class TerminalText : public std::streambuf {
 public:
  // REQUIRES: the terminal's buffer outlives it.
  explicit TerminalText(std::streambuf& terminal) : terminal_(terminal) {}

  // The program's own control sequences.
  void PutAsItIs(std::string_view text);

 protected:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override { return terminal_.pubsync(); }

 private:
  std::streambuf& terminal_;
};

// A control sequence of the program's own: `err << ControlSequence{"\r\x1b[K"}`.
struct ControlSequence {
  std::string_view text;
};
std::ostream& operator<<(std::ostream& out, ControlSequence sequence);

}  // namespace espalier
