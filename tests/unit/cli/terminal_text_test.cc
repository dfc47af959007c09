#include "client/cli/terminal_text.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "client/cli/output.h"

namespace espalier {
namespace {

// What a terminal is sent when the text is printed.
std::string Sent(const std::string& text) {
  std::stringbuf terminal;
  TerminalText visible(terminal);
  std::ostream(&visible) << text << std::flush;
  return terminal.str();
}

}  // namespace

TEST_CASE("a terminal is sent lines and letters, and no control characters of others") {
  CHECK(Sent("two\nlines\tand 学習率\n") == "two\nlines\tand 学習率\n");
  CHECK(Sent("\x1b]0;title\x07\x1b[31mred") == "\\x1b]0;title\\x07\\x1b[31mred");
  CHECK(Sent("10%\r20%\r\nend") == "10%\n20%\nend");
  CHECK(Sent(std::string(1, '\x1b')) == "\\x1b");
}

TEST_CASE("the program's own control sequences reach the terminal, and pipes as well") {
  std::stringbuf terminal;
  TerminalText visible(terminal);
  std::ostream out(&visible);
  out << ControlSequence{"\r\x1b[K"} << "text" << 'c';
  CHECK(terminal.str() == "\r\x1b[Ktextc");
  std::ostringstream pipe;
  pipe << ControlSequence{"\r\x1b[K"};
  CHECK(pipe.str() == "\r\x1b[K");
}

TEST_CASE("a cell of a table is one line, whatever is in it") {
  Table table({"study", "state"});
  table.AddRow({"mine\nothers", "done"});
  std::ostringstream out;
  table.Print(out);
  CHECK(out.str() == "study         state\nmine\\nothers  done\n");
}

}  // namespace espalier
