// A user's program that can only be started: how, and what it says of itself.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/offer.h"
#include "worker/script/declaration.h"

namespace espalier::script {

struct ProgramPlace {
  std::filesystem::path file;                      // absolute
  std::string python = "python3";                  // that runs a file whose name ends in .py
  std::string mark;                                // of its processes (worker/process/worker_family.h)
  std::map<std::string, std::string> environment;  // that is part of what is trained
};

// What starts it. Error: kInvalidArgument when it is no file, or none that can be run, with what to do.
Result<std::vector<std::string>> CommandOf(const ProgramPlace& place);

// Runs it once, with --describe. Errors: of CommandOf; kFailedPrecondition when it fails, or says what is no
// declaration.
Result<Declaration> AskProgram(const ProgramPlace& place);

// The data's digest as it is seen from the program's folder; "unknown" if nobody can tell, as that of states that are
// not known to be equal for equal trainings. Error: kFailedPrecondition when some of it cannot be read.
Result<std::string> DataDigest(const ProgramPlace& place, const Declaration& declaration);

// It is called as its file, without the ending. Errors: of DataDigest; kFailedPrecondition when the file cannot be
// read.
Result<Offer> OfferOf(const ProgramPlace& place, const Declaration& declaration);

}  // namespace espalier::script
