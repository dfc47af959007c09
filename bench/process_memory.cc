#include "bench/process_memory.h"

#include <fstream>
#include <string>

#include "bench/service.h"

namespace espalier::bench {
namespace {

// A line of the process's status: "VmHWM:     1234 kB".
std::int64_t StatusBytes(pid_t process, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) return std::stoll(line.substr(name.size())) * 1024;
  }
  GiveUp("process " + std::to_string(process) + " is gone");
}

}  // namespace

std::int64_t ResidentBytes(pid_t process) { return StatusBytes(process, "VmRSS:"); }

std::int64_t PeakBytes(pid_t process) { return StatusBytes(process, "VmHWM:"); }

void ForgetPeak(pid_t process) {
  std::ofstream file("/proc/" + std::to_string(process) + "/clear_refs");
  if (!(file << "5" << std::flush)) GiveUp("the peak memory of a process cannot be measured here");
}

}  // namespace espalier::bench
