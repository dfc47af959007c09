#include "bench/output_of.h"

#include <cstdio>

namespace espalier::bench {
namespace {

std::string QuotedForShell(const std::string& argument) {
  std::string quoted = "'";
  for (const char c : argument) {
    if (c == '\'') quoted += "'\\'";
    quoted += c;
  }
  return quoted + "'";
}

}  // namespace

std::optional<std::string> OutputOf(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& argument : command) line += QuotedForShell(argument) + " ";
  FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string output;
  char part[4096];
  while (const std::size_t size = std::fread(part, 1, sizeof(part), pipe)) output.append(part, size);
  if (pclose(pipe) != 0) return std::nullopt;
  return output;
}

}  // namespace espalier::bench
