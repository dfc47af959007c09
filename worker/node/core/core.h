// The node manager's decisions: what should be, and what happened, in; actions on this machine, statuses and reports
// out. Slots, their workers, the runs on them, and files on their way into the store. Invariant: a slot trains at most
// one run; a run that has ended is never begun again; a staged file stays until the report about it is acknowledged.
// Pure: no I/O, clock or thread. Not thread-safe; owned by the event loop.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "worker/node/core/action.h"
#include "worker/node/core/outbox.h"
#include "worker/node/core/runner.h"

namespace espalier::node {

struct Settings {
  int slot_count = 1;
  std::string staging;    // folder of staged checkpoints
  std::string step_logs;  // folder of step logs, one a run
  Seconds stop_within{10};
};

// What the master answers.
struct DesiredState {
  std::vector<DesiredRun> runs;
  std::int64_t acknowledged_report = 0;
  std::vector<std::string> superseded_files;
};

// The file name of a run's step log.
std::string StepLogPath(const Settings& settings, RunId run);

// The name in the store of a run's checkpoint: stable, so that putting it again changes nothing.
std::string StoreName(const PointReached& point, RunId run);

class Core {
 public:
  explicit Core(Settings settings);

  // Spawns the workers.
  Actions Start(Seconds now);

  Actions OnDesired(const DesiredState& desired, Seconds now);
  Actions OnWorkerReplied(int slot, std::int64_t worker, const WorkerReply& reply, Seconds now);
  // `log` is the end of what the worker printed, or why it could not be started.
  Actions OnWorkerDied(int slot, std::int64_t worker, const std::string& log, Seconds now);
  // Either a path or why there is none.
  Actions OnCheckpointFetched(RunId run, const std::string& path, const std::string& error, Seconds now);
  // `error` is empty when the file is stored.
  Actions OnUploadFinished(std::int64_t upload, const std::string& error, Seconds now);
  Actions OnStepLogRead(RunId run, std::string_view text, Seconds now);
  // Time has passed: at least every 100 ms or so.
  Actions OnTick(Seconds now);
  // SIGTERM: runs save at their step's end; Quit follows when all is acknowledged, or when the time is over.
  Actions OnStop(Seconds now);

  // A valid checkpoint, or a run's step log, that an earlier incarnation left.
  Actions OnLeftOverCheckpoint(RunId run, PointReached point, const std::string& staged);
  Actions OnLeftOverRun(RunId run, const std::vector<PathStage>& path, std::string_view step_log);

  // What the workers of this server can train; none until one has said so.
  const std::optional<Description>& description() const { return description_; }
  std::vector<RunStatus> Statuses() const;
  const Outbox& outbox() const { return outbox_; }

 private:
  struct Slot {
    std::int64_t worker = 0;  // 0: none
    bool ready = false;       // the worker has described itself
    bool dying = false;
    Seconds spawned_at{0};
    Seconds respawn_at{0};
    Seconds respawn_delay{0};
    std::optional<RunId> run;
    std::int64_t next_request = 1;
    struct Asked {
      RunId run;
      RequestKind request;
    };
    std::map<std::int64_t, Asked> asked;  // by request id, until answered
  };

  struct Known {
    Runner runner;
    std::string start_path;
    std::int64_t step_log_offset = 0;
    bool forgotten = false;  // its files are deleted
  };

  struct UploadUnderWay {
    RunId run;
    Upload upload;
  };

  void TakeOver(const DesiredRun& run, Seconds now, Actions& actions);
  void Refuse(const DesiredRun& run, const std::string& defect);
  void Acknowledge(std::int64_t number, Actions& actions);
  void RemoveSuperseded(const std::vector<std::string>& files, Actions& actions);
  void ForgetEnded(Actions& actions);
  void AssignSlots(Seconds now, Actions& actions);
  void Carry(RunId run, Wanted wanted, Actions& actions);
  void Spawn(Slot& slot, int index, Seconds now, Actions& actions);
  void MindWorker(int index, Seconds now, Actions& actions);
  void Ask(int slot, RunId run, RequestKind request, Actions& actions);
  void StartUpload(RunId run, Upload upload, Actions& actions);
  Slot* Find(int slot, std::int64_t worker);
  bool Saves(const Slot& slot) const;
  bool Settled() const;

  Settings settings_;
  std::vector<Slot> slots_;
  std::map<RunId, Known> runs_;
  std::set<RunId> wanted_runs_;                   // of the last desired state
  std::set<RunId> past_runs_;                     // ended, acknowledged and forgotten
  std::map<RunId, std::int64_t> left_over_runs_;  // the last report about each
  std::map<std::int64_t, UploadUnderWay> uploads_;
  std::map<std::int64_t, std::string> staged_of_report_;
  std::set<std::string> superseded_;
  Outbox outbox_;
  std::optional<Description> description_;
  std::int64_t next_worker_ = 1;
  std::int64_t next_upload_ = 1;
  Seconds step_logs_read_at_{0};
  std::optional<Seconds> quit_before_;
};

}  // namespace espalier::node
