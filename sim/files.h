// The files of a simulation: those in the checkpoint store, which all servers see, and those on a server's disk, which
// outlive its node manager. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/clock.h"
#include "worker/protocol/worker_message.h"

namespace espalier::sim {

// A checkpoint.
struct StateFile {
  worker::CheckpointIdentity identity;
  std::uint64_t state = 0;
  Step step;
  bool damaged = false;
};

// How the parts of the real store answer: away, full, missing, damaged.
class CheckpointFiles {
 public:
  explicit CheckpointFiles(const Clock& clock) : clock_(clock) {}

  // Error: kUnavailable when away; kResourceExhausted when full.
  Result<void> Put(const std::string& name, const StateFile& file);
  // Error: kUnavailable when away; kNotFound when the file is missing or damaged.
  Result<StateFile> Fetch(const std::string& name) const;
  Result<void> Remove(const std::string& name);

  // Faults. Of those there are, the one at `place`, counted around.
  void BeAwayFor(Seconds time) { away_until_ = clock_.now() + time; }
  void BeFullFor(Seconds time) { full_until_ = clock_.now() + time; }
  std::string NameAt(std::int64_t place) const;
  void Lose(const std::string& name) { files_.erase(name); }
  void Damage(const std::string& name);

 private:
  Result<void> CheckThere() const;

  const Clock& clock_;
  Seconds away_until_{0};
  Seconds full_until_{0};
  std::map<std::string, StateFile> files_;
};

struct Disk {
  std::map<std::string, StateFile> staged;  // whole files
  std::map<RunKey, std::vector<PathStage>> runs;
  std::map<RunKey, std::string> step_logs;
};

}  // namespace espalier::sim
