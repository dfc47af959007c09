#include "client/store_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>

#include "base/programs.h"
#include "base/shell_words.h"

namespace espalier {
namespace {

constexpr const char* kProgram = "espalier-store";
constexpr int kNotFoundByShell = 127;

tl::unexpected<Error> Failed(const std::string& said) {
  return MakeError(ErrorCode::kInternal, said.empty() ? std::string(kProgram) + " failed" : said);
}

// Its output, both kinds: what it says when it fails is all it says.
Result<std::string> OutputOf(const std::string& command) {
  FILE* const pipe = popen((command + "</dev/null 2>&1").c_str(), "r");
  if (pipe == nullptr) return Failed("");
  std::string output;
  char piece[4096];
  while (const std::size_t got = std::fread(piece, 1, sizeof(piece), pipe)) output.append(piece, got);
  const int status = pclose(pipe);
  if (status == 0) return output;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotFoundByShell) return NotInstalled(kProgram);
  while (output.ends_with('\n')) output.pop_back();
  return Failed(output);
}

}  // namespace

Result<std::vector<StoredFile>> StoreProgram::List() const {
  ESPALIER_ASSIGN(const std::string output, OutputOf(ShellCommand({FindProgram(kProgram), "list", place_})));
  std::vector<StoredFile> files;
  std::istringstream lines(output);
  StoredFile file;
  for (std::int64_t seconds = 0;
       lines >> file.bytes >> seconds && lines.get() == ' ' && std::getline(lines, file.name);) {
    file.written_at = Time(std::chrono::seconds(seconds));
    files.push_back(file);
  }
  if (!lines.eof()) return Failed(output);
  return files;
}

Result<void> StoreProgram::Get(const std::string& name, const std::filesystem::path& file) const {
  ESPALIER_RETURN_IF_ERROR(
      OutputOf(ShellCommand({FindProgram(kProgram), "get", place_, name, std::filesystem::absolute(file)})));
  return {};
}

Result<void> StoreProgram::Remove(const std::vector<std::string>& names) const {
  FILE* const pipe = popen(ShellCommand({FindProgram(kProgram), "remove", place_}).c_str(), "w");
  if (pipe == nullptr) return Failed("");
  for (const std::string& name : names) std::fprintf(pipe, "%s\n", name.c_str());
  return pclose(pipe) == 0 ? Result<void>() : Failed("not all could be removed");
}

}  // namespace espalier
