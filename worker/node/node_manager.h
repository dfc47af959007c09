// The node manager: one event loop that feeds the core with what happens (workers, uploads, the master, signals, time)
// and does on this machine what the core decides. Everything here happens on the thread that calls Run, which must live
// as long as the process; uploads and gRPC have threads of their own and hand their results to the loop's queue.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/log_tail.h"
#include "worker/checkpoint/checkpoint_store.h"
#include "worker/node/check_processes.h"
#include "worker/node/config.h"
#include "worker/node/core/core.h"
#include "worker/node/gpu_watch.h"
#include "worker/node/loop_queue.h"
#include "worker/node/node_meter.h"
#include "worker/node/output_sender.h"
#include "worker/node/reference_access.h"
#include "worker/node/store_access.h"
#include "worker/node/uplink.h"
#include "worker/node/work_directory.h"
#include "worker/node/worker_output.h"
#include "worker/process/worker_groups.h"
#include "worker/process/worker_process.h"
#include "worker/process/worker_templates.h"

namespace espalier::node {

// Of what is logged while the master is away.
inline constexpr std::size_t kUnsentLogBytesMax = std::size_t{256} << 10;

class NodeManager {
 public:
  // `master`: as OpenChannel gives it. `gpus` null: nobody tells what GPUs do. `meter` null: nothing is measured. What
  // is logged into `log` is sent to the master.
  NodeManager(const Config& config, const std::shared_ptr<grpc::Channel>& master, WorkDirectory& directory,
              CheckpointStore& store, std::unique_ptr<GpuLibrary> gpus, LogTail& log, NodeMeter* meter);

  // Takes care of what an earlier incarnation left, then serves until SIGTERM or SIGINT has been obeyed.
  // REQUIRES: both signals and SIGCHLD are blocked in all threads.
  void Run();

 private:
  void OpenGroups();
  void AdoptLeftOvers();
  void Poll();
  void ReadSignals();
  void ReapOrphans();
  void ReadWorkers();
  void ReadChecks();
  void TakeReplies(std::int64_t worker);
  void NoticeDeath(std::int64_t worker);
  void LookAtGpus();
  void SendOutput();
  void SendLog(Seconds period);
  void SendLastOutput();
  std::filesystem::path GroupFor(std::int64_t worker, std::int64_t memory_bytes);
  void Do(const Actions& actions);

  void Act(const SpawnWorker& spawn);
  void Act(const SendRequest& send);
  void Act(const KillWorker& kill);
  void Act(const FetchCheckpoint& fetch);
  void Act(const ReleaseCheckpoint& release);
  void Act(const UploadFile& upload);
  void Act(const RemoveFromStore& remove);
  void Act(const DeleteStaged& file);
  void Act(const RecordRun& record);
  void Act(const ReadStepLog& read);
  void Act(const ForgetRun& forget);
  void Act(const FetchReference& fetch);
  void Act(const ForgetReference& forget);
  void Act(const StartCheck& start);
  void Act(const KillCheck& kill);
  void Act(const Quit& quit);

  struct Worker {
    int slot = 0;
    std::unique_ptr<worker::WorkerProcess> process;  // not null
    WorkerOutput output;
    std::optional<Seconds> closed_at;  // when its end of the channel was found closed
  };

  const Config config_;
  WorkDirectory& directory_;
  Core core_;
  LoopQueue queue_;
  std::unique_ptr<worker::WorkerGroups> groups_;  // of workers and checks; null: they have none
  worker::WorkerTemplates templates_;
  std::map<std::int64_t, Worker> workers_;  // by number
  CheckProcesses checks_;
  LogTail& log_;
  NodeMeter* const meter_;
  Seconds log_sent_at_{0};
  bool is_registered_ = false;
  std::deque<WorkerOutput> last_output_;                      // of workers that have died
  std::map<std::string, std::vector<std::string>> commands_;  // of runtimes, by name
  Registration registration_;
  int signals_ = -1;
  bool quit_ = false;
  // Last, so that they end first: they post into the queue.
  GpuWatch gpus_;
  Seconds gpus_seen_at_{0};
  StoreAccess files_;
  ReferenceAccess references_;
  OutputSender sender_;
  Uplink uplink_;
};

}  // namespace espalier::node
