// Whose code this server runs, and how. Users' code runs as the system's user who runs the node manager, and can do all
// that that one can: who allows it trusts them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/trainer_reference.h"

namespace espalier::node {

enum class UserCode {
  kNone,     // nobody's
  kListed,   // of users and teams that are named
  kOwnJobs,  // of the one whose server it is
};

struct Interpreter {
  std::string name;  // as studies give it
  std::string path;  // absolute
};

struct UserCodeRules {
  UserCode kind = UserCode::kNone;
  std::vector<std::string> of;  // users, and teams as "team:NAME"; of kOwnJobs one user
  std::vector<Interpreter> pythons = {};
};

// Where the rules hold.
struct Host {
  UserCodeRules rules;
  std::string server;   // its name
  std::string machine;  // base/this_machine.h
  std::int64_t uid = 0;
  std::string script_worker = {};  // the path of espalier-script
  std::string own_worker = {};     // the path of espalier-worker
};

// Error: kFailedPrecondition, with whose code it runs.
Result<void> MayRun(const Host& host, const TrainerReference& reference);

// The interpreter's path; empty for what needs none. Looks whether it can be executed, and so can the program of the
// service that runs such a reference. Error: kFailedPrecondition, with what to write instead.
Result<std::string> PythonFor(const Host& host, const TrainerReference& reference);

// Where the archive of a reference of this digest is to lie; empty: it has none.
std::filesystem::path ArchivePath(const std::filesystem::path& folder, Digest128 digest, const Entry& entry);

// What a worker of the reference is started by. `python`: as PythonFor gives it; `archive`: ArchivePath. REQUIRES:
// Check(reference).
std::vector<std::string> CommandOf(const Host& host, const TrainerReference& reference, const std::string& python,
                                   const std::filesystem::path& archive);

}  // namespace espalier::node
