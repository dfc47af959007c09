// How a user's program travels to servers: the archive is its file, and nothing else.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "worker/script/program.h"

namespace espalier::script {

// Writes into the folder: archive.zip, the program's bytes; and about: the path of the interpreter that runs it here,
// if one does, the digest of its data as it is seen here, and the data's paths, one a line. Cost: the program is asked
// to describe itself. Errors: of AskProgram; kInvalidArgument for what cannot travel.
Result<void> Pack(const ProgramPlace& place, const std::filesystem::path& folder);

// The folder beside the archive that holds the program, as a file of this name, and links to each path of `data` below
// `origin`. Made once, by whoever comes first. Error: kInternal.
Result<std::filesystem::path> Unpack(const std::filesystem::path& archive, const std::string& name,
                                     const std::filesystem::path& origin, const std::vector<std::string>& data);

}  // namespace espalier::script
