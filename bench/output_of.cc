#include "bench/output_of.h"

#include <cstdio>
#include <cstdlib>

#include "bench/service.h"

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

std::string OutputOfScript(const char* python_variable, const char* script_variable,
                           const std::vector<std::string>& arguments) {
  const char* const python = std::getenv(python_variable);
  const char* const script = std::getenv(script_variable);
  if (python == nullptr || script == nullptr) GiveUp("run this bench by bench/run: it installs what it needs");
  std::vector<std::string> command = {python, script};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::optional<std::string> output = OutputOf(command);
  if (!output) GiveUp(std::string(script) + " failed");
  return *std::move(output);
}

}  // namespace espalier::bench
