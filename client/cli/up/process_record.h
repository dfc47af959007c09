// A process as a file remembers it: its id and the moment it started, by which a later process that was given the same
// id is told apart. Written so that whoever comes after a kill can find what was left.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/units.h"

namespace espalier {

struct ProcessRecord {
  pid_t id = 0;
  std::int64_t start_ticks = 0;  // since boot, as /proc/ID/stat counts them
  friend bool operator==(const ProcessRecord&, const ProcessRecord&) = default;
};

// The record of a process that exists (a zombie does not). Nothing: there is none of that id.
std::optional<ProcessRecord> RecordOf(pid_t id);

// The recorded process still runs: same id, same start.
bool IsAlive(const ProcessRecord& record);

// Kills the process and its process group, and waits until it is gone. Nothing to do: fine.
// Error: kInternal when it does not go within `patience`.
Result<void> KillLeftOver(const ProcessRecord& record, Seconds patience = Seconds(5));

Result<void> WriteProcessRecord(const std::string& path, const ProcessRecord& record);
// Nothing: no file, or one that holds no record.
std::optional<ProcessRecord> ReadProcessRecord(const std::string& path);

}  // namespace espalier
