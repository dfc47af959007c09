// `espalier up` and `espalier down`: the whole service on one machine. PostgreSQL (unless an own server is used),
// master, node manager and tuner host run as children; see design of each part in data_directory.h, private_postgres.h
// and supervisor.h. Called by the main thread, which the children's lives follow.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "client/cli/up/worker_command.h"

namespace espalier {

// The programs that `up` starts.
struct ServicePrograms {
  std::string master;
  std::string node_manager;
  std::string worker;
  std::string command_line;  // `espalier` itself, which is the tuner host, too
};

// Those that stand in the same folder as this process's own program.
Result<ServicePrograms> ProgramsBesideThisOne();

struct UpOptions {
  std::string data_directory;
  std::optional<int> slot_count;           // unset: one for each CPU core
  std::optional<std::string> database;     // a PostgreSQL connection string or URL; unset: a private cluster
  std::optional<std::string> checkpoints;  // their store: a folder, or gfapi://...; unset: in the data directory
  std::int64_t checkpoint_bytes = 0;       // how much they may take; 0: as much as there is room
  WorkerChoice worker;
  // Whose own code runs: "own_jobs" or nothing: that of who starts the service; "none"; else also that of these users.
  std::vector<std::string> user_code;
  ServicePrograms programs;
};

// Runs the service until it is asked to stop (SIGINT, SIGTERM, SIGHUP); a second request kills. `say` is given what the
// user should read, line by line. Errors: kFailedPrecondition (data directory in use, something not installed), those
// of WorkerRuntimes, kInternal.
Result<void> Up(const UpOptions& options, const std::function<void(const std::string&)>& say);

// Asks the `up` of this data directory to stop and waits until it is gone. False: none ran. Error: kInternal.
Result<bool> Down(const std::string& data_directory);

}  // namespace espalier
