// Keeps a list of programs running: starts them in order, each when those before it are ready; starts again what dies,
// after a delay that grows while it keeps dying; stops them in the opposite order, each when those after it have ended.
// Invariant: at most one process of each program exists, and it is recorded in the record directory while it does.
// Not thread-safe. Run must be called by a thread that outlives the children (see child_process.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "client/cli/up/child_process.h"
#include "client/cli/up/process_record.h"
#include "client/cli/up/stop_signals.h"

namespace espalier {

struct Program {
  std::string name;
  ChildCommand command;
  int stop_signal = SIGTERM;
  Seconds stop_patience{10};  // from the stop signal to the kill signal
  int kill_signal = SIGKILL;  // to its process group; SIGKILL follows if that does not end it
  // Called before every start: clears what an earlier process left. May be empty.
  std::function<Result<void>()> prepare{};
  // Asked repeatedly after a start until it says yes. Empty: ready at once.
  std::function<bool(pid_t)> is_ready{};
};

struct RestartPolicy {
  Seconds first_delay{0.1};
  Seconds longest_delay{10};
  Seconds steady_after{30};      // having lived so long, a program's next delay is the first again
  int first_start_attempts = 3;  // a program that dies so often before it was ever ready is given up
};

class Supervisor {
 public:
  // Programs recorded in `record_directory` by an earlier supervisor that was killed are ended first, by Run.
  Supervisor(StopSignals& signals, std::string record_directory, std::vector<Program> programs,
             RestartPolicy policy = {});

  // Runs until a stop is asked for; a second request kills. `when_ready` is called once, when all programs are ready
  // for the first time. Returns when no process is left. Error: kInternal, naming the program and its log, if one
  // cannot be brought up; everything is stopped then, too.
  Result<void> Run(const std::function<Result<void>()>& when_ready);

 private:
  struct Waiting {
    Seconds until{0};
  };
  struct Running {
    ProcessRecord process;
    Seconds since{0};
    bool ready = false;
    std::optional<Seconds> kill_at{};  // set once the stop signal was sent
    bool killed = false;
  };
  struct Child {
    Program program;
    std::variant<Waiting, Running> state = Waiting{};
    Seconds next_delay;
    int deaths = 0;
    bool was_ready = false;
  };

  Result<void> EndRecordedLeftOvers();
  void ReapChildren();
  void OnChildEnded(Child& child, int wait_status);
  void StartWhatIsDue();
  Result<void> Start(Child& child);
  void CheckReadiness();
  void ContinueStop();
  void Kill(Child& child);
  void GiveUp(Error error);
  bool AllReady() const;
  bool NothingRuns() const;
  Seconds TimeToNextCheck() const;
  std::string RecordFile(const Child& child) const;

  StopSignals& signals_;
  std::string record_directory_;
  RestartPolicy policy_;
  std::vector<Child> children_;
  bool stopping_ = false;
  std::optional<Error> failure_;
};

}  // namespace espalier
