// The node manager's configuration file: espalier.config.v1.NodeManager in protobuf's text format.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/encryption.h"
#include "base/result.h"
#include "base/units.h"
#include "worker/node/devices.h"
#include "worker/node/user_code.h"
#include "worker/store/open_store.h"

namespace espalier::node {

// A program that speaks the trainer protocol.
struct RuntimeProgram {
  std::string name;
  std::vector<std::string> command;
};

struct Config {
  std::string master_address;
  std::string server;
  std::vector<LocalDevice> devices;    // at least one; CheckDevices finds nothing wrong with them
  bool names_devices = false;          // else GPUs that are found take their place
  int host_cores = 0;                  // of this machine
  std::int64_t host_memory_bytes = 0;  // likewise
  StoreLocation checkpoints;
  std::filesystem::path work_directory;  // absolute
  std::vector<RuntimeProgram> runtimes;  // not empty; names differ
  int warm_workers = 2;
  Seconds stop_within{10};
  std::int64_t staging_bytes = 0;  // 0: as the work directory's file system has it
  std::string token;               // shown to the master; empty: none is
  UserCodeRules user_code;
  Encryption encryption;        // of what is said to the master
  std::string metrics_address;  // empty: nothing is measured for Prometheus
};

// With defaults filled in. Error: kNotFound when the file cannot be read, kInvalidArgument naming the field.
Result<Config> ReadConfig(const std::filesystem::path& file);

}  // namespace espalier::node
