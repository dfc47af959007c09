// Running a program that says something and ends.
#pragma once

#include <string>
#include <vector>

namespace espalier {

struct Ended {
  int status = -1;        // as wait() says
  std::string last_line;  // of its output and errors
  std::string said;       // the end of these
};

// Runs the program in the folder "/", with nothing to read, and waits until it has ended. `words`: its path, or its
// name in PATH, and its arguments.
Ended RunToEnd(const std::vector<std::string>& words);

// That there is no such program.
bool IsNotFound(const Ended& ended);

}  // namespace espalier
