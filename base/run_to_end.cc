#include "base/run_to_end.h"

#include <sys/wait.h>

#include <cstdio>

#include "base/shell_words.h"

namespace espalier {
namespace {

constexpr std::size_t kSaidBytesMax = 4096;
constexpr int kNotFound = 127;  // as shells say it

}  // namespace

Ended RunToEnd(const std::vector<std::string>& words) {
  const std::string shell_command = "cd / && " + ShellCommand(words);
  Ended ended;
  FILE* output = popen((shell_command + "</dev/null 2>&1").c_str(), "r");
  if (output == nullptr) return ended;
  char line[4096];
  while (std::fgets(line, sizeof(line), output) != nullptr) {
    ended.last_line = line;
    ended.said += line;
    if (ended.said.size() > kSaidBytesMax) ended.said.erase(0, ended.said.size() - kSaidBytesMax);
  }
  ended.status = pclose(output);
  while (ended.last_line.ends_with('\n')) ended.last_line.pop_back();
  while (ended.said.ends_with('\n')) ended.said.pop_back();
  return ended;
}

bool IsNotFound(const Ended& ended) { return WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == kNotFound; }

}  // namespace espalier
