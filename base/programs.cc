#include "base/programs.h"

#include <unistd.h>

#include <filesystem>

namespace espalier {

Result<std::string> ProgramBesideThisOne(const std::string& name) {
  std::error_code error;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / name;
  if (!error && access(program.c_str(), X_OK) == 0) return program;
  return MakeError(ErrorCode::kFailedPrecondition, program + " is missing: build or install it beside `espalier`");
}

std::string FindProgram(const std::string& name) { return ProgramBesideThisOne(name).value_or(name); }

tl::unexpected<Error> NotInstalled(const std::string& name) {
  return MakeError(ErrorCode::kFailedPrecondition,
                   name + " is neither beside this program nor on the PATH: install Espalier's programs");
}

}  // namespace espalier
