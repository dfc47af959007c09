// A server in virtual time: the real node manager's core (worker/node/core) with simulated workers, files and a stream
// around it, as the real node manager (worker/node/node_manager.cc, uplink.cc) is. Its disk outlives it. One thread.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/files.h"
#include "sim/network.h"
#include "sim/worker_process.h"
#include "sim/world.h"
#include "worker/node/core/core.h"

namespace espalier::sim {

inline constexpr int kSimulatedSlotsMax = kDeviceSlotsMax;

struct SimulatedServer {
  int slots = 2;                      // of each device, at most kSimulatedSlotsMax
  double speed = 1;                   // how fast its slots train and evaluate; 1: as the world's durations say
  std::string name = {};              // differs from the others'; empty: "server-N", by its place
  std::optional<Seconds> goes_at{};   // of studies alone (SimulateStudies): when it dies with its workers, for good
  int gpus = 0;                       // devices; 0: one, of cores
  int gpu_compute = kWholeDevice;     // of each, in thousandths, that runs may take together (Device::compute)
  std::int64_t gpu_memory_bytes = 0;  // of each; 0: not known
  double price = 0;                   // of an hour, in whatever money; nothing is decided by it
};
// Over all of its devices.
inline int SlotCountOf(const SimulatedServer& server) { return server.slots * std::max(1, server.gpus); }

class NodeProcess {
 public:
  // What happened to a worker that was at work: to what it was training or evaluating.
  struct Blow {
    RunKey run;
    std::uint64_t state = 0;  // that the step, or the evaluation, began from
    bool evaluates = false;
  };
  struct Watcher {
    std::function<void(const TrainedStep&)> trained;
    // What the step returned has reached the node manager: a worker that dies before takes it along.
    std::function<void(const TrainedStep&)> returned;
    std::function<void(const Blow&)> struck;
    // It does not take the run's order.
    std::function<void(RunKey)> refused;
    // Reports up to the last of these are acknowledged.
    std::function<void(const std::vector<Report>&)> acknowledged;
  };

  NodeProcess(World& world, Network& network, CheckpointFiles& files, int number, const SimulatedServer& server,
              Watcher watcher);

  // A new incarnation: takes care of what an earlier one left, and serves. REQUIRES: it does not run.
  void Start();
  // SIGKILL, and its workers die with it.
  void Kill();
  bool runs() const { return core_.has_value(); }
  // Of workers that are started from now on.
  void Install(std::vector<Offer> offers) { offers_ = std::move(offers); }

  // Faults of the worker on a slot; false if it is at nothing of a run.
  bool CrashWorker(int slot, bool by_sigkill);
  bool HangWorker(int slot, Seconds until_killed);
  bool SpoilWorker(int slot);
  // Of the next that is asked for.
  enum class EvaluationFault { kNone, kCrash, kOutOfMemory };
  void FailNextEvaluation(EvaluationFault how) { evaluation_fault_ = how; }
  // Those that it has not taken yet: as if it offered something else.
  void RefuseOrdersFor(Seconds time) { refuse_until_ = world_.clock.now() + time; }
  void FailNextSave() { fail_save_ = true; }
  // Called with the name of the next file that is to be fetched, before it is.
  void OnNextFetch(std::function<void(const std::string&)> told) { on_fetch_ = std::move(told); }

  const std::string& name() const { return name_; }
  int server() const { return number_; }
  int slot_count() const { return SlotCountOf(devices_); }
  std::optional<Seconds> goes_at() const { return kind_.goes_at; }
  // Nothing is on its way: no run, no upload, no report.
  bool IsQuiet() const;

 private:
  void Later(Seconds delay, std::function<void()> what);
  void AdoptLeftOvers();
  void Tick();
  void Do(const node::Actions& actions);
  // After something happened: the master is told what is new.
  void Exchange();
  void Connect();
  void TakeOrders(const ServerOrders& orders);
  ServerOrders Spoilt(ServerOrders orders);

  std::vector<Device> MakeDevices() const;
  // By how much those that train on the slot's device keep it busy.
  std::vector<double> UtilizationsBeside(int slot) const;
  void LookAtGpus();
  Seconds DurationOf(int slot, const worker::RequestKind& request) const;

  WorkerProcess* FindWorker(int slot, std::int64_t number);
  void Work(int slot);
  void FinishRequest(int slot, std::int64_t number);
  // What the worker answers instead, by a fault; none: what it would.
  std::optional<worker::Failure> FaultIn(int slot, const worker::RequestKind& request);
  void BeginSave(int slot, const worker::WorkerRequest& request);
  // `trained`: the step that the reply is about, if it is about one.
  void Reply(int slot, std::int64_t number, worker::WorkerReply reply, std::optional<TrainedStep> trained = {});
  // The worker is, or will be, lost by what it is at; false if it is at nothing of a run.
  bool Strike(int slot);
  void LoseWorker(int slot, bool killed_by_others, const std::string& words);

  void Act(const node::SpawnWorker& spawn);
  void Act(const node::SendRequest& send);
  void Act(const node::KillWorker& kill);
  void Act(const node::FetchCheckpoint& fetch);
  void Act(const node::ReleaseCheckpoint&) {}
  void Act(const node::UploadFile& upload);
  void Act(const node::RemoveFromStore& remove);
  void Act(const node::DeleteStaged& file);
  void Act(const node::RecordRun& record);
  void Act(const node::ReadStepLog& read);
  void Act(const node::ForgetRun& forget);
  // The simulated users bring no code of their own.
  void Act(const node::FetchReference&) {}
  void Act(const node::ForgetReference&) {}
  void Act(const node::StartCheck&) {}
  void Act(const node::KillCheck&) {}
  void Act(const node::Quit&) {}

  // A stream, and what was said on it.
  struct Uplink {
    master::SessionId session;
    std::optional<Registration> registered;
    std::vector<RunStatus> statuses;
    std::int64_t report = 0;
    Seconds at{0};
  };
  bool AnythingNew(const Uplink& uplink, const std::vector<RunStatus>& statuses) const;

  World& world_;
  Network& network_;
  CheckpointFiles& files_;
  const int number_;
  const SimulatedServer kind_;
  const std::string name_;
  const std::vector<Device> devices_;
  const Watcher watcher_;
  std::vector<Offer> offers_ = {OfferOf(1, 1)};
  Disk disk_;
  std::int64_t incarnation_ = 0;
  // Of the process that runs.
  std::optional<node::Core> core_;
  Registration registration_;
  std::map<int, WorkerProcess> workers_;
  std::optional<Uplink> uplink_;
  std::int64_t streams_ = 0;  // that it ever opened
  Seconds connect_at_{0};
  Seconds connect_pause_{0};
  EvaluationFault evaluation_fault_ = EvaluationFault::kNone;
  Seconds refuse_until_{0};
  std::set<RunKey> ordered_;  // to this process
  bool fail_save_ = false;
  std::function<void(const std::string&)> on_fetch_;
};

}  // namespace espalier::sim
