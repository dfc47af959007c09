// `--reuse-from STUDY` and `--reuse-until STEP`, of commands that read study files.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "client/cli/command.h"
#include "client/connection.h"
#include "client/study_file/study_file.h"

namespace espalier {

struct ReuseOptions {
  std::string from;        // a study's id or name; empty: as the file says
  std::int64_t until = 0;  // 0: as the file says, or no limit
};

// REQUIRES: `options` lives as long as the command.
void AddReuseOptions(Command& command, ReuseOptions& options);

// As if the file said so. Errors: kNotFound for a study that the caller does not have; kInvalidArgument where a limit
// is given and nothing is reused.
Result<void> TakeReuse(Connection& connection, const ReuseOptions& options, StudyFile& file);

}  // namespace espalier
