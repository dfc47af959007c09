#include "sim/node_process.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/shared_gpu.h"
#include "worker/node/core/run_files.h"

namespace espalier::sim {
namespace {

constexpr std::int64_t kStateBytes = 1000;
constexpr std::int64_t kStagingBytes =
    3 * kStateBytes;  // for each slot: so few that runs wait for room while the store is away
constexpr const char* kStaging = "staging";

}  // namespace

NodeProcess::NodeProcess(World& world, Network& network, CheckpointFiles& files, int number,
                         const SimulatedServer& server, Watcher watcher)
    : world_(world),
      network_(network),
      files_(files),
      number_(number),
      kind_(server),
      name_(server.name.empty() ? "server-" + std::to_string(number) : server.name),
      devices_(MakeDevices()),
      watcher_(std::move(watcher)) {}

void NodeProcess::Later(Seconds delay, std::function<void()> what) {
  world_.clock.After(delay, [this, incarnation = incarnation_, what = std::move(what)] {
    if (incarnation == incarnation_ && runs()) what();
  });
}

void NodeProcess::Start() {
  ++incarnation_;
  ordered_.clear();
  world_.Tell([&] { return name_ + " starts, incarnation " + std::to_string(incarnation_); });
  core_.emplace(node::Settings{.devices = devices_,
                               .runtimes = {"simulated"},
                               .staging = kStaging,
                               .step_logs = "steps",
                               .staging_bytes = slot_count() * kStagingBytes});
  registration_ = {
      .server = name_, .incarnation = name_ + "-" + std::to_string(incarnation_), .devices = devices_, .offers = {}};
  connect_at_ = world_.clock.now();
  AdoptLeftOvers();
  Do(core_->Start(world_.clock.now()));
  Tick();
}

// How much memory cores have, only some say.
std::vector<Device> NodeProcess::MakeDevices() const {
  if (kind_.gpus == 0) {
    const std::int64_t memory = number_ % 2 == 0 ? kind_.slots * kStateBytes : 0;
    return {{.name = "cores-0", .slots = kind_.slots, .memory_bytes = memory}};
  }
  std::vector<Device> gpus;
  for (int i = 0; i < kind_.gpus; ++i) {
    gpus.push_back({.name = "gpu-" + std::to_string(i),
                    .type = DeviceType::kGpu,
                    .slots = kind_.slots,
                    .memory_bytes = kind_.gpu_memory_bytes,
                    .compute = kind_.gpu_compute});
  }
  return gpus;
}

void NodeProcess::Kill() {
  world_.Tell([&] { return name_ + " killed"; });
  if (uplink_) network_.Leave(uplink_->session);
  uplink_.reset();
  workers_.clear();
  core_.reset();
}

void NodeProcess::AdoptLeftOvers() {
  const std::map<std::string, StateFile> staged = disk_.staged;
  for (const auto& [path, file] : staged) {
    StateStored state{.plan = file.identity.plan,
                      .point = file.identity.point,
                      .lineage = file.identity.lineage,
                      .file = {},
                      .bytes = kStateBytes,
                      .state_sha256 = Sha256Of(file.state)};
    core_->OnLeftOverState(file.identity.run, std::move(state), path);
  }
  const std::map<RunKey, std::vector<PathStage>> runs = disk_.runs;
  for (const auto& [run, path] : runs) Do(core_->OnLeftOverRun(run, path, disk_.step_logs[run]));
}

void NodeProcess::LookAtGpus() {
  for (const int device : core_->GpusInUse()) {
    const std::vector<double> utilizations = UtilizationsBeside(device * kind_.slots);
    const double busy = BusyTogether(utilizations);
    if (!utilizations.empty())
      core_->OnGpuSeen(device, {.utilization = static_cast<int>(std::lround(busy * kWholeDevice))});
  }
}

std::vector<double> NodeProcess::UtilizationsBeside(int slot) const {
  const DeviceSlot device = FindSlot(devices_, slot).value();
  std::vector<double> utilizations;
  for (auto worker = workers_.lower_bound(device.first);
       worker != workers_.end() && worker->first < device.first + kind_.slots; ++worker) {
    if (const auto demand = worker->second.DemandNow()) utilizations.push_back(demand->utilization);
  }
  return utilizations;
}

// Of the first request that the slot's worker is asked.
Seconds NodeProcess::DurationOf(int slot, const worker::RequestKind& request) const {
  const WorkerProcess& worker = workers_.at(slot);
  const std::optional<StepDemand> demand = kind_.gpus == 0 ? std::nullopt : worker.DemandNow();
  if (!demand) return worker.DurationOf(request, world_, kind_.speed);
  return demand->step / kind_.speed / SpeedTogether(UtilizationsBeside(slot));
}

void NodeProcess::Tick() {
  LookAtGpus();
  Do(core_->OnTick(world_.clock.now()));
  Exchange();
  Later(world_.nodes_tick_every, [this] { Tick(); });
}

void NodeProcess::Do(const node::Actions& actions) {
  for (const node::Action& action : actions) std::visit([this](const auto& item) { Act(item); }, action);
}

bool NodeProcess::IsQuiet() const {
  if (!runs() || !core_->outbox().empty()) return false;
  const std::vector<RunStatus> statuses = core_->Statuses();
  return std::all_of(statuses.begin(), statuses.end(),
                     [](const RunStatus& status) { return status.state == RunStatus::State::kEnded; });
}

WorkerProcess* NodeProcess::FindWorker(int slot, std::int64_t number) {
  const auto worker = workers_.find(slot);
  return worker == workers_.end() || worker->second.number() != number ? nullptr : &worker->second;
}

void NodeProcess::Act(const node::SpawnWorker& spawn) {
  const int slots = ShareCountOf(devices_.front(), spawn.reservation);
  workers_.insert_or_assign(spawn.slot, WorkerProcess(spawn.worker, slots, offers_, world_.measures));
}

void NodeProcess::Act(const node::SendRequest& send) {
  WorkerProcess* worker = FindWorker(send.slot, send.worker);
  if (worker == nullptr) return;
  worker->asked.push_back(send.request);
  if (worker->asked.size() == 1) Work(send.slot);
}

void NodeProcess::Act(const node::KillWorker& kill) {
  Later(world_.durations.reply, [this, kill] {
    if (FindWorker(kill.slot, kill.worker) != nullptr) LoseWorker(kill.slot, false, "killed as it was asked for");
  });
}

// Saves are begun at once, and written beside what comes after them.
void NodeProcess::Work(int slot) {
  WorkerProcess& worker = workers_.at(slot);
  while (!worker.asked.empty() && !worker.hangs) {
    const worker::WorkerRequest& request = worker.asked.front();
    if (!std::holds_alternative<worker::Save>(request.kind)) {
      worker.takes = DurationOf(slot, request.kind);
      Later(worker.takes, [this, slot, number = worker.number()] { FinishRequest(slot, number); });
      return;
    }
    BeginSave(slot, request);
    worker.asked.pop_front();
  }
}

void NodeProcess::FinishRequest(int slot, std::int64_t number) {
  WorkerProcess* worker = FindWorker(slot, number);
  if (worker == nullptr || worker->hangs) return;
  const worker::WorkerRequest request = worker->asked.front();
  const bool evaluates = std::holds_alternative<worker::Evaluate>(request.kind);
  const bool crashes = evaluates && evaluation_fault_ == EvaluationFault::kCrash;
  if (crashes || worker->DiesOf(request.kind)) {
    if (crashes) evaluation_fault_ = EvaluationFault::kNone;
    Strike(slot);
    return LoseWorker(slot, false, "crashed in what it was asked");
  }
  std::optional<TrainedStep> trained;
  const std::optional<worker::Failure> fault = FaultIn(slot, request.kind);
  worker::ReplyKind reply = fault ? worker::ReplyKind(*fault) : worker->Answer(request.kind, disk_, files_, trained);
  if (trained) {
    world_.Tell([&] {
      return name_ + " run " + std::to_string(trained->run.run.value) + " trained step " +
             std::to_string(trained->step.value);
    });
    watcher_.trained(*trained);
  }
  worker->asked.pop_front();
  Reply(slot, number, {request.id, std::move(reply)}, trained);
  Work(slot);
}

std::optional<worker::Failure> NodeProcess::FaultIn(int slot, const worker::RequestKind& request) {
  using worker::FailureKind;
  if (workers_.at(slot).is_spoilt) return worker::Failure{FailureKind::kTrainer, "the device has failed", false, true};
  const bool evaluates = std::holds_alternative<worker::Evaluate>(request);
  if (!evaluates || evaluation_fault_ != EvaluationFault::kOutOfMemory) return std::nullopt;
  evaluation_fault_ = EvaluationFault::kNone;
  Strike(slot);
  return worker::Failure{FailureKind::kOutOfMemory, "the evaluation takes more memory", world_.chance.OneIn(2)};
}

void NodeProcess::BeginSave(int slot, const worker::WorkerRequest& request) {
  const WorkerProcess& worker = workers_.at(slot);
  const auto& save = std::get<worker::Save>(request.kind);
  StateFile file = worker.Snapshot(save.identity);
  const bool fails = std::exchange(fail_save_, false);
  Later(worker.DurationOf(request.kind, world_, kind_.speed),
        [=, this, number = worker.number(), id = request.id, path = save.path] {
          const WorkerProcess* alive = FindWorker(slot, number);
          if (alive == nullptr || alive->hangs) return;
          if (alive->is_spoilt)
            return Reply(slot, number,
                         {id, worker::Failure{worker::FailureKind::kTrainer, "the device has failed", false, true}});
          if (fails)
            return Reply(slot, number, {id, worker::Failure{worker::FailureKind::kTrainer, "the disk is full", true}});
          disk_.staged.insert_or_assign(path, file);
          Reply(slot, number, {id, worker::Saved{Sha256Of(file.state), kStateBytes}});
        });
}

void NodeProcess::Reply(int slot, std::int64_t number, worker::WorkerReply reply, std::optional<TrainedStep> trained) {
  Later(world_.durations.reply, [this, slot, number, reply = std::move(reply), trained] {
    if (FindWorker(slot, number) == nullptr) return;
    if (trained && !trained->is_finished) watcher_.returned(*trained);
    Do(core_->OnWorkerReplied(slot, number, reply, world_.clock.now()));
    Exchange();
  });
}

bool NodeProcess::Strike(int slot) {
  const auto worker = workers_.find(slot);
  if (worker == workers_.end() || worker->second.asked.empty()) return false;
  const worker::RequestKind& request = worker->second.asked.front().kind;
  if (std::holds_alternative<worker::Describe>(request)) return false;
  const WorkerProcess::Work work = worker->second.WorkAsked(files_);
  watcher_.struck({work.run, work.state, std::holds_alternative<worker::Evaluate>(request)});
  return true;
}

void NodeProcess::LoseWorker(int slot, bool killed_by_others, const std::string& words) {
  using Cause = worker::WorkerDeath::Cause;
  const Cause cause = killed_by_others ? Cause::kKilledByOthers : Cause::kOwn;
  const std::int64_t number = workers_.at(slot).number();
  workers_.erase(slot);
  world_.Tell([&] { return name_ + " worker on slot " + std::to_string(slot) + " died: " + words; });
  Do(core_->OnWorkerDied(slot, number, {cause, words}, world_.clock.now()));
  Exchange();
}

bool NodeProcess::CrashWorker(int slot, bool by_sigkill) {
  if (!Strike(slot)) return false;
  LoseWorker(slot, by_sigkill, by_sigkill ? "killed by SIGKILL" : "crashed");
  return true;
}

bool NodeProcess::SpoilWorker(int slot) {
  if (!Strike(slot)) return false;
  workers_.at(slot).is_spoilt = true;
  world_.Tell([&] { return name_ + " worker on slot " + std::to_string(slot) + " has lost its device"; });
  return true;
}

bool NodeProcess::HangWorker(int slot, Seconds until_killed) {
  if (!Strike(slot)) return false;
  WorkerProcess& worker = workers_.at(slot);
  worker.hangs = true;
  world_.Tell([&] { return name_ + " worker on slot " + std::to_string(slot) + " hangs"; });
  Later(until_killed, [this, slot, number = worker.number()] {
    if (FindWorker(slot, number) != nullptr) LoseWorker(slot, true, "killed by its operator, since it hung");
  });
  return true;
}

void NodeProcess::Act(const node::FetchCheckpoint& fetch) {
  if (on_fetch_) std::exchange(on_fetch_, nullptr)(fetch.file);
  Later(world_.chance.About(world_.durations.fetch), [this, fetch] {
    Result<std::string> path = fetch.file;
    const Result<StateFile> file = files_.Fetch(fetch.file);
    if (!file.has_value()) {
      path = tl::unexpected<Error>(file.error());
    } else if (Sha256Of(file->state) != fetch.state_sha256) {
      path = MakeError(ErrorCode::kNotFound, "the checkpoint " + fetch.file + " holds another state");
    }
    Do(core_->OnCheckpointFetched(fetch.run, path, world_.clock.now()));
    Exchange();
  });
}

void NodeProcess::Act(const node::UploadFile& upload) {
  Later(world_.chance.About(world_.durations.upload), [this, upload] {
    const auto staged = disk_.staged.find(upload.staged);
    Result<void> stored = MakeError(ErrorCode::kNotFound, "there is no staged file");
    if (staged != disk_.staged.end()) stored = files_.Put(upload.state.file, staged->second);
    Do(core_->OnUploadFinished(upload.upload, stored, world_.clock.now()));
    Exchange();
  });
}

void NodeProcess::Act(const node::RemoveFromStore& remove) {
  Later(world_.chance.About(world_.durations.upload), [this, remove] { (void)files_.Remove(remove.name); });
}

void NodeProcess::Act(const node::DeleteStaged& file) { disk_.staged.erase(file.path); }

void NodeProcess::Act(const node::RecordRun& record) { disk_.runs[record.run] = record.path; }

void NodeProcess::Act(const node::ReadStepLog& read) {
  const auto log = disk_.step_logs.find(read.run);
  const auto offset = static_cast<std::size_t>(read.offset);
  const bool has_more = log != disk_.step_logs.end() && offset < log->second.size();
  Do(core_->OnStepLogRead(read.run, has_more ? log->second.substr(offset) : std::string(), world_.clock.now()));
}

void NodeProcess::Act(const node::ForgetRun& forget) {
  disk_.runs.erase(forget.run);
  disk_.step_logs.erase(forget.run);
}

}  // namespace espalier::sim
