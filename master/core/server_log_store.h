// The port to what node managers write into their logs. It is no part of the master's state: nothing is decided by it,
// and it is held nowhere but in the database. Thread-safe; calls wait for the database, so the event loop makes none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/server_log.h"

namespace espalier::master {

// A part as it is stored.
struct StoredServerLog {
  std::int64_t number = 0;  // counts up as parts are stored
  ServerLogPart part;
};

class ServerLogStore {
 public:
  virtual ~ServerLogStore() = default;

  // Stores the part unless it is stored already. Of each server's log the end is kept, for some days. Error:
  // kUnavailable.
  virtual Result<void> Put(const ServerLogPart& part) = 0;

  // What is kept of the server's log behind the number, in the order in which it was stored, as many parts as have
  // kServerLogPageBytes together, one at least; fewer only at the end. Error: kUnavailable.
  virtual Result<std::vector<StoredServerLog>> Read(const std::string& server, std::int64_t after) = 0;
};

inline constexpr std::int64_t kServerLogPageBytes = std::int64_t{1} << 20;
// Of one server.
inline constexpr std::int64_t kServerLogKeptBytes = std::int64_t{256} << 10;
inline constexpr int kServerLogKeptDays = 30;

}  // namespace espalier::master
