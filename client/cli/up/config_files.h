// The configuration files that `up` writes for the programs it starts: text form of the messages in
// proto/espalier/config/v1. They are written anew at each start; nobody is meant to edit them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace espalier {

struct MasterSettings {
  std::string listen_address;
  std::string database;
  std::string administrator_token_file;
  std::string local_node_token_file{};
  std::int64_t checkpoint_bytes = 0;  // 0: no budget
  Seconds retire_after{0};            // 0: as the master has it
};

// What workers are made of.
struct WorkerRuntime {
  std::string name;
  std::vector<std::string> command;
  friend bool operator==(const WorkerRuntime&, const WorkerRuntime&) = default;
};

struct NodeManagerSettings {
  std::string master_address;
  std::string server;
  int slot_count = 1;
  std::string checkpoint_directory;
  std::string work_directory;
  std::vector<WorkerRuntime> runtimes;
  Seconds stop_time{10};
  std::string token_file{};
  std::vector<std::string> user_code{};  // "none", "own_jobs", or those whose code runs beside the owner's
  std::string owner{};                   // whose server it is
};

// Mode 0600: the database's address may hold a password.
Result<void> WriteMasterConfig(const std::string& path, const MasterSettings& settings);
Result<void> WriteNodeManagerConfig(const std::string& path, const NodeManagerSettings& settings);

}  // namespace espalier
