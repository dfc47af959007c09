#include "client/cli/store_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>

#include "base/programs.h"
#include "base/shell_words.h"
#include "client/cli/up/data_directory.h"
#include "espalier/config/v1/node_manager.pb.h"
#include "proto/config_file.h"

namespace espalier {
namespace {

constexpr const char* kProgram = "espalier-store";

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
  if (pclose(pipe) == 0) return output;
  while (output.ends_with('\n')) output.pop_back();
  return Failed(output);
}

}  // namespace

Result<StoreProgram> StoreProgram::Find(const CommandContext& context, const std::string& place) {
  ESPALIER_ASSIGN(const std::string program, ProgramBesideThisOne(kProgram));
  if (!place.empty()) return StoreProgram(program, place);
  config::v1::NodeManager config;
  const Result<void> read = ReadConfigFile(NodeManagerConfigFile(context.data_directory), config);
  if (read.has_value()) return StoreProgram(program, config.checkpoint_directory());
  return MakeError(ErrorCode::kFailedPrecondition,
                   "no service was started with the data directory " + context.data_directory +
                       ": say with --store where the checkpoints are, as node managers' configuration files do");
}

Result<std::vector<StoredFile>> StoreProgram::List() const {
  ESPALIER_ASSIGN(const std::string output, OutputOf(ShellCommand({program_, "list", place_})));
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
  ESPALIER_RETURN_IF_ERROR(OutputOf(ShellCommand({program_, "get", place_, name, std::filesystem::absolute(file)})));
  return {};
}

Result<void> StoreProgram::Remove(const std::vector<std::string>& names) const {
  FILE* const pipe = popen(ShellCommand({program_, "remove", place_}).c_str(), "w");
  if (pipe == nullptr) return Failed("");
  for (const std::string& name : names) std::fprintf(pipe, "%s\n", name.c_str());
  return pclose(pipe) == 0 ? Result<void>() : Failed("not all could be removed");
}

void AddStoreOption(Command& command, std::string& place) {
  command.options.push_back({.name = "--store",
                             .target = &place,
                             .help = "where the checkpoints are: a folder, or gfapi://HOST/VOLUME/PATH (else as "
                                     "`espalier up` has it)",
                             .placeholder = "PLACE"});
}

}  // namespace espalier
