#include "client/cli/up/process_record.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "base/clock.h"
#include "client/cli/up/files.h"

namespace espalier {

std::optional<ProcessRecord> RecordOf(pid_t id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  // "ID (NAME) STATE ...": the name may hold anything, so fields are counted from its closing parenthesis. The start is
  // field 22.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::string state;
  fields >> state;
  if (state == "Z" || state == "X") return std::nullopt;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  ProcessRecord record{.id = id};
  if (!(fields >> record.start_ticks)) return std::nullopt;
  return record;
}

bool IsAlive(const ProcessRecord& record) { return RecordOf(record.id) == record; }

Result<void> KillLeftOver(const ProcessRecord& record, Seconds patience) {
  if (!IsAlive(record)) return {};
  if (getpgid(record.id) == record.id) kill(-record.id, SIGKILL);
  kill(record.id, SIGKILL);
  const Seconds deadline = MonotonicNow() + patience;
  while (IsAlive(record)) {
    if (MonotonicNow() > deadline) {
      return MakeError(ErrorCode::kInternal, "process " + std::to_string(record.id) + " does not end when killed");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {};
}

Result<void> WriteProcessRecord(const std::string& path, const ProcessRecord& record) {
  return WriteFile(path, std::to_string(record.id) + " " + std::to_string(record.start_ticks) + "\n");
}

std::optional<ProcessRecord> ReadProcessRecord(const std::string& path) {
  std::ifstream file(path);
  ProcessRecord record;
  if (!(file >> record.id >> record.start_ticks) || record.id <= 0) return std::nullopt;
  return record;
}

}  // namespace espalier
