// The node manager's decisions: what should be, and what happened, in; actions on this machine, statuses and reports
// out. Slots, their workers, the runs and checks on them, and files on their way into the store. Invariants: a slot
// trains at most one run, with what the run has reserved; a run is trained by exactly the offer that its order carries,
// or refused; a run that has ended is never begun again; a staged file stays until the report about it is acknowledged,
// or it is known that nobody will get it. Pure: no I/O, clock or thread. Not thread-safe; owned by the event loop.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "worker/node/core/action.h"
#include "worker/node/core/checks.h"
#include "worker/node/core/outbox.h"
#include "worker/node/core/references.h"
#include "worker/node/core/retry_pause.h"
#include "worker/node/core/runner.h"
#include "worker/node/core/runtimes.h"
#include "worker/node/core/slot.h"
#include "worker/node/core/staging.h"

namespace espalier::node {

struct Settings {
  std::vector<Device> devices;        // CheckDevices finds nothing wrong with them; they have at least one slot
  std::vector<std::string> runtimes;  // names of those that it has, >= 1; slots begin with a worker of the first
  int warm_workers = 2;               // of a slot, so many of different runtimes are kept, >= 1
  std::string staging;                // folder of staged checkpoints
  std::string step_logs;              // folder of step logs, one a run
  Seconds stop_within{10};
  std::int64_t staging_bytes = 0;  // that staged checkpoints may take; 0: any number
};

class Core {
 public:
  explicit Core(Settings settings);

  // Spawns the workers, and begins with what was left over.
  Actions Start(Seconds now);

  Actions OnOrders(const ServerOrders& orders, Seconds now);
  Actions OnWorkerReplied(int slot, std::int64_t worker, const WorkerReply& reply, Seconds now);
  Actions OnWorkerDied(int slot, std::int64_t worker, WorkerDeath death, Seconds now);
  // Where the file can be read. Error: kUnavailable when the store is away, then it is tried again; any other when the
  // file is missing or damaged.
  Actions OnCheckpointFetched(RunKey run, const Result<std::string>& path, Seconds now);
  // Error: kUnavailable when the store is away, then it is tried again; kAborted when the file is not what the worker
  // has said; any other when the store never will take it.
  Actions OnUploadFinished(std::int64_t upload, const Result<void>& stored, Seconds now);
  // The reference is a runtime that workers can be made of. Error: kUnavailable when the master is away, then it is
  // tried again; any other says why this server does not run it.
  Actions OnReferenceFetched(Digest128 reference, const Result<void>& fetched, Seconds now);
  // What the device's GPU does: that is its run's, if one alone trains there.
  void OnGpuSeen(int device, const GpuUse& use);
  // The process of a check is gone, with all that it has started. None: it died, and has said nothing but these words.
  Actions OnCheckEnded(std::int64_t process, const std::optional<CheckFinding>& finding, const std::string& last_words,
                       Seconds now);
  Actions OnStepLogRead(RunKey run, std::string_view text, Seconds now);
  // Time has passed: at least every 100 ms or so.
  Actions OnTick(Seconds now);
  // SIGTERM: runs save at their step's end; Quit follows when all is acknowledged, or when the time is over.
  Actions OnStop(Seconds now);

  // A valid staged checkpoint, or a run's step log, that an earlier incarnation left. The state's file is not named
  // yet. REQUIRES: Start follows.
  void OnLeftOverState(RunKey run, StateStored state, const std::string& staged);
  Actions OnLeftOverRun(RunKey run, const std::vector<PathStage>& path, std::string_view step_log);

  // OnStop was called.
  bool stopping() const { return quit_before_.has_value(); }
  // What keeps checkpoints from the store, or runs from going on; for people, one line. Empty: nothing.
  std::string Trouble() const;
  // Workers have described what they train: one of each runtime, but for those that have died before.
  bool knows_offers() const { return runtimes_.are_known(); }
  const std::vector<ServerOffer>& Offers() const { return runtimes_.Offers(); }
  std::vector<DescribedReference> DescribedReferences() const { return references_.Described(runtimes_); }
  std::vector<CheckedTrainer> CheckedTrainers() const { return checks_.Checked(); }
  std::vector<RunStatus> Statuses() const;
  // By their place among the devices: those with a GPU on which runs train.
  std::set<int> GpusInUse() const;
  // It holds its slot.
  bool IsOnSlot(RunKey run) const;
  const Outbox& outbox() const { return outbox_; }

 private:
  // Where the checkpoint stands that a run starts from. Of one whose worker stands there it is not looked for.
  struct Fetching {};
  struct StoreAway {
    Seconds again_at{0};
    std::string why;
  };
  struct Fetched {
    std::string path;
  };
  struct NoFile {};  // the run starts from Init, has read its file, or needs none since its worker stands there

  // A run that was not refused.
  struct RunHere {
    Runner runner;
    Digest128 offer;
    std::variant<Fetching, StoreAway, Fetched, NoFile> start;
    std::string runtime = {};  // of the worker that has it; empty: none has been given it
    RetryPause pause = {};
    std::int64_t step_log_offset = 0;
    bool is_forgotten = false;  // its files are deleted
  };

  void TakeOver(const Order& order, Seconds now, Actions& actions);
  void Refuse(RunKey run, Step start, const std::string& why);
  void EndAgain(const std::vector<Order>& orders);
  void RefuseNotOffered(Seconds now, Actions& actions);
  void WantChecks(std::vector<WantedCheck> wanted, Actions& actions);
  void Acknowledge(std::int64_t number, Actions& actions);
  void RemoveSuperseded(const std::vector<std::string>& files, Actions& actions);
  void ForgetEnded(Actions& actions);
  void AssignSlots(Seconds now, Actions& actions);
  void Carry(RunKey run, RunnerActions wanted, Seconds now, Actions& actions);
  void Fetch(RunHere& run, Actions& actions);
  void Release(RunHere& run, Actions& actions);
  void Spawn(int slot, const std::string& runtime, Seconds respawn_delay, Seconds now, Actions& actions);
  void Ask(int slot, const std::string& runtime, RunKey run, RequestKind request, Actions& actions);
  void Kill(int slot, const std::string& runtime, Actions& actions);
  void Retire(int slot, const std::string& runtime, Seconds now, Actions& actions);
  void TrimWarm(int slot, const std::set<std::string>& wanted, int kept, Actions& actions);
  void ReplaceOld(int slot, Actions& actions);
  void DropRuntimes(Actions& actions);
  bool HasLetGo(const std::string& runtime, Actions& actions);
  void NoteHeartbeat(Worker& worker, const Asked& asked, Seconds now);
  void MindSlot(int slot, Seconds now, Actions& actions);
  const WantedCheck* NextCheck(int slot, Seconds now) const;
  // From a store that was away.
  void FetchAgain(bool whatever_the_pause, Seconds now, Actions& actions);
  std::set<std::string> RuntimesWanted(int slot) const;
  void AddUnknown(int slot, std::set<std::string>& wanted) const;
  bool IsBusy(int slot, const std::string& runtime) const;
  int slot_count() const { return static_cast<int>(slots_.size()); }
  // With the slots from `first` on and before `last`.
  struct DeviceHere {
    const Device& capacity;
    int index = 0;  // among the server's
    int first = 0;
    int last = 0;
  };
  DeviceHere DeviceOf(int slot) const;
  const RunHere* RunThatTakes(int slot) const;
  Reservation HeldWhileIdle(int slot) const;
  bool HasItsPlace(const RunHere& run) const;
  bool IsCrowdedOut(int slot) const;
  bool TrainsOn(int slot, const std::string& runtime) const;
  bool Refit(int slot);
  void BeginUploads(Seconds now, Actions& actions);
  bool HasRoomFor(PlanId plan) const;
  Worker* WorkerOf(const RunHere& run);
  bool StandsAtStart(const RunHere& run);
  bool IsSettled() const;

  Settings settings_;
  std::vector<Slot> slots_;
  std::map<RunKey, RunHere> runs_;
  std::set<RunKey> ordered_;                       // by the newest orders
  bool drained_ = false;                           // by those: idle workers are of no use
  std::set<RunKey> past_runs_;                     // refused; or ended, acknowledged and forgotten
  std::map<RunKey, std::int64_t> left_over_runs_;  // the last report about each
  Staging staging_;
  std::set<std::string> superseded_;
  Outbox outbox_;
  Runtimes runtimes_;
  References references_;
  Checks checks_;
  std::int64_t next_worker_ = 1;  // or check
  Seconds step_logs_read_at_{0};
  std::optional<Seconds> quit_before_;
};

}  // namespace espalier::node
