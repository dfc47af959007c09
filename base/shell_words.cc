#include "base/shell_words.h"

namespace espalier {

std::string ShellWord(std::string_view word) {
  std::string quoted = "'";
  for (const char letter : word) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

std::string ShellCommand(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command += ShellWord(word) + " ";
  return command;
}

}  // namespace espalier
