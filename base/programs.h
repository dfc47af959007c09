// Programs that are installed together find each other in the folder that they lie in.
#pragma once

#include <string>

#include "base/result.h"

namespace espalier {

// The path of a program in the folder of this process's own. Error: kFailedPrecondition if it is not there.
Result<std::string> ProgramBesideThisOne(const std::string& name);

// The same, or else the name alone, which a shell looks for on the PATH: a process may be anybody's.
std::string FindProgram(const std::string& name);

// kFailedPrecondition: the shell did not find it either.
tl::unexpected<Error> NotInstalled(const std::string& name);

}  // namespace espalier
