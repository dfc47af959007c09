// The command line of espalier-script: FILE [OPTION ...], and one of --fd N, --check, --pack FOLDER.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace espalier::script {

struct CommandLine {
  std::string file;                      // with an archive: its name; else its path
  int fd = -1;                           // a connected socket that speaks the trainer protocol
  bool is_check = false;                 // only say whether there is such a trainer
  std::filesystem::path pack;            // write its archive there, and end
  std::string python = "python3";        // a path, or a name in PATH
  std::filesystem::path archive;         // that the program lies in; none: it lies where it is
  std::filesystem::path folder = "/";    // that the archive comes from
  std::vector<std::string> data;         // paths below that, to be found beside the program
  std::vector<std::string> environment;  // names of variables that are part of what is trained
};

// Error: kInvalidArgument: what is no option, or lacks its value.
Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments);

}  // namespace espalier::script
