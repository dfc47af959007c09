// Words as a POSIX shell reads them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// In single quotes, in which nothing is special.
std::string ShellWord(std::string_view word);

// "'word' 'word' ": a program and its arguments, each a word.
std::string ShellCommand(const std::vector<std::string>& words);

}  // namespace espalier
