#include "worker/node/node_manager.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/this_machine.h"
#include "base/version.h"
#include "worker/process/left_shared_memory.h"
#include "worker/process/worker_family.h"
#include "worker/protocol/encoding.h"

namespace espalier::node {
namespace {

constexpr int kTickMilliseconds = 50;
constexpr Seconds kGpuLookPeriod{1};
// Of a worker that has closed its channel.
constexpr Seconds kEndPatience{1};
// A worker's log is begun afresh where it has more: once what runs printed was read, or when there is far too much.
constexpr std::uintmax_t kLogBytesMax = std::uintmax_t{4} << 20;
constexpr std::uintmax_t kUnreadLogBytesMax = std::uintmax_t{64} << 20;
// Of dead workers' output while the master is away.
constexpr std::size_t kLastOutputsMax = 64;
constexpr Seconds kLogPeriod{1};
// When the node manager stops.
constexpr Seconds kLastOutputPatience{2};

// Says whose what the worker prints from the request on is.
void LabelOutput(const RequestKind& request, WorkerOutput& output) {
  if (const auto* init = std::get_if<Init>(&request)) output.BeginRun(init->run, MonotonicNow());
  if (const auto* proceed = std::get_if<Proceed>(&request)) output.BeginRun(proceed->run, MonotonicNow());
  if (const auto* train = std::get_if<Train>(&request); train != nullptr && output.run()) output.BeginStep(train->step);
}

std::string ProgramBesideThisOne(const std::string& name) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / name;
}

int OpenSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&signals, number);
  const int fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  ESPALIER_CHECK(fd >= 0) << "the system gives no signalfd";
  return fd;
}

Settings SettingsOf(const Config& config, const WorkDirectory& directory) {
  Settings settings{.devices = CapacitiesOf(config.devices),
                    .runtimes = {},
                    .warm_workers = config.warm_workers,
                    .staging = directory.staging(),
                    .step_logs = directory.steps(),
                    .stop_within = config.stop_within,
                    .staging_bytes = config.staging_bytes};
  for (const RuntimeProgram& runtime : config.runtimes) settings.runtimes.push_back(runtime.name);
  return settings;
}

}  // namespace

NodeManager::NodeManager(const Config& config, const std::shared_ptr<grpc::Channel>& master, WorkDirectory& directory,
                         CheckpointStore& store, std::unique_ptr<GpuLibrary> gpus, LogTail& log, NodeMeter* meter)
    : config_(config),
      directory_(directory),
      core_(SettingsOf(config, directory)),
      templates_([this](int number) { return directory_.TemplateLog(number); }, worker::FamilyMark(directory.folder())),
      checks_(ProgramBesideThisOne("espalier-check"), directory.checks()),
      log_(log),
      meter_(meter),
      registration_{.server = config.server,
                    .incarnation = directory.NewIncarnation(),
                    .devices = CapacitiesOf(config.devices),
                    .host_cores = config.host_cores,
                    .host_memory_bytes = config.host_memory_bytes,
                    .offers = {},
                    .version = std::string(Version())},
      signals_(OpenSignals()),
      gpus_(std::move(gpus), queue_),
      files_(store, queue_),
      references_(master, config.token, directory.references(),
                  {.rules = config.user_code,
                   .server = config.server,
                   .machine = ThisMachine(),
                   .uid = getuid(),
                   .script_worker = ProgramBesideThisOne("espalier-script"),
                   .own_worker = ProgramBesideThisOne("espalier-worker")},
                  queue_),
      sender_(master, config.token, queue_),
      uplink_(master, config.token, queue_, [this](const ServerOrders& orders) {
        is_registered_ = true;
        Do(core_.OnOrders(orders, MonotonicNow()));
      }) {}

void NodeManager::Run() {
  for (const RuntimeProgram& runtime : config_.runtimes) commands_[runtime.name] = runtime.command;
  Log(LogLevel::kInfo, "node manager started",
      {{"server", config_.server},
       {"incarnation", registration_.incarnation},
       {"slots", SlotCountOf(registration_.devices)}});
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  OpenGroups();
  AdoptLeftOvers();
  Do(core_.Start(MonotonicNow()));
  while (!quit_) {
    Poll();
    ReadSignals();
    ReadWorkers();
    ReadChecks();
    templates_.Look(MonotonicNow());
    queue_.RunAll();
    Do(core_.OnTick(MonotonicNow()));
    if (meter_ != nullptr) meter_->Look(core_, workers_.size(), uplink_.is_connected());
    LookAtGpus();
    SendLog(kLogPeriod);
    SendOutput();
    if (!core_.knows_offers()) continue;
    if (registration_.offers != core_.Offers()) registration_.offers = core_.Offers();
    registration_.draining = core_.stopping();
    registration_.trouble = uplink_.trouble().empty() ? core_.Trouble() : uplink_.trouble();
    registration_.references = core_.DescribedReferences();
    registration_.checked = core_.CheckedTrainers();
    uplink_.Exchange(registration_, core_, MonotonicNow());
  }
  SendLastOutput();
  workers_.clear();
  templates_.Clear();
  checks_.KillAll();
  groups_.reset();
  worker::RemoveLeftSharedMemory();
  directory_.DeleteTemporaries();
  close(signals_);
  Log(LogLevel::kInfo, "node manager stopped", {{"server", config_.server}});
}

void NodeManager::OpenGroups() {
  const int left = worker::RemoveLeftGroups();
  if (left > 0) Log(LogLevel::kWarning, "killed processes in control groups that were left", {{"count", left}});
  auto groups = worker::WorkerGroups::Open(registration_.incarnation);
  if (!groups.has_value()) {
    Log(LogLevel::kInfo, "workers have no control groups of their own", {{"reason", groups.error().message}});
    return;
  }
  groups_ = *std::move(groups);
  const std::string& why_not = groups_->why_without_memory();
  Log(LogLevel::kInfo, "workers have control groups of their own",
      {{"below", groups_->folder().string()}, {"memory", why_not.empty() ? "limited" : "not limited: " + why_not}});
}

// None where there can be none: the worker does without.
std::filesystem::path NodeManager::GroupFor(std::int64_t worker, std::int64_t memory_bytes) {
  if (groups_ == nullptr) return {};
  Result<std::filesystem::path> group = groups_->Make(worker, memory_bytes);
  if (group.has_value()) return *std::move(group);
  Log(LogLevel::kWarning, "a worker has no control group of its own", {{"reason", group.error().message}});
  return {};
}

void NodeManager::AdoptLeftOvers() {
  if (const int count = worker::KillFamily(worker::FamilyMark(directory_.folder())); count > 0) {
    Log(LogLevel::kWarning, "killed processes of workers that an earlier node manager left", {{"count", count}});
  }
  worker::RemoveLeftSharedMemory();
  directory_.DeleteTemporaries();
  for (const std::filesystem::path& file : directory_.StagedCheckpoints()) {
    Result<StateOfRun> found = ReadStagedState(file);
    if (!found.has_value()) {
      if (found.error().code == ErrorCode::kUnavailable) {
        Log(LogLevel::kError, "a left-over file cannot be read, and stays", {{"reason", found.error().message}});
        continue;
      }
      Log(LogLevel::kWarning, "deleted a left-over file", {{"file", file.string()}, {"reason", found.error().message}});
      DeleteStagedFile(file);
      continue;
    }
    Log(LogLevel::kInfo, "found a left-over checkpoint", {{"run", found->run.run}, {"step", found->state.point.step}});
    core_.OnLeftOverState(found->run, std::move(found->state), file);
  }
  for (const WorkDirectory::LeftOverRun& run : directory_.LeftOverRuns()) {
    Do(core_.OnLeftOverRun(run.run, run.path, directory_.ReadStepLog(run.run, 0)));
  }
}

void NodeManager::Poll() {
  std::vector<pollfd> waiting{{queue_.fd(), POLLIN, 0}, {signals_, POLLIN, 0}};
  for (auto& [number, worker] : workers_) {
    if (worker.process->channel().closed()) continue;
    const short wanted = worker.process->channel().has_unsent() ? POLLIN | POLLOUT : POLLIN;
    waiting.push_back({worker.process->channel().socket(), wanted, 0});
    waiting.push_back({worker.process->birth(), POLLIN, 0});
  }
  checks_.AddTo(waiting);
  poll(waiting.data(), waiting.size(), kTickMilliseconds);
}

void NodeManager::ReadSignals() {
  signalfd_siginfo signal;
  while (read(signals_, &signal, sizeof(signal)) == sizeof(signal)) {
    if (signal.ssi_signo == SIGCHLD) {
      ReapOrphans();
      continue;
    }
    Log(LogLevel::kInfo, "stopping", {{"signal", static_cast<int>(signal.ssi_signo)}});
    Do(core_.OnStop(MonotonicNow()));
  }
}

// What workers have started and outlived becomes this process's child, and ends without anybody who waits for it.
void NodeManager::ReapOrphans() {
  while (true) {
    siginfo_t ended{};
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
    for (auto& [number, worker] : workers_) worker.process->NoticeBirth();  // it said so before it ended
    const bool is_worker = std::any_of(workers_.begin(), workers_.end(),
                                       [&](const auto& item) { return item.second.process->pid() == ended.si_pid; });
    if (is_worker || templates_.Has(ended.si_pid) || checks_.Has(ended.si_pid))
      return;  // its end is noticed with its last words; those behind it are found the next time
    waitpid(ended.si_pid, nullptr, 0);
  }
}

// A dead worker's last replies are read before its death is noticed: a checkpoint that it finished is not lost.
void NodeManager::ReadWorkers() {
  std::vector<std::int64_t> numbers;
  for (const auto& [number, worker] : workers_) numbers.push_back(number);
  for (const std::int64_t number : numbers) {
    Worker& worker = workers_.at(number);
    worker.process->TrimLog(worker.output.HasUnread() ? kUnreadLogBytesMax : kLogBytesMax);
    const bool ended = worker.process->HasEnded();
    static_cast<void>(worker.process->channel().Flush());  // a worker that is gone is noticed below
    TakeReplies(number);
    if (ended) {
      NoticeDeath(number);
    } else if (worker.process->channel().closed()) {
      // It is ending, as a rule: how it ended is worth waiting for.
      if (!worker.closed_at.has_value()) worker.closed_at = MonotonicNow();
      if (MonotonicNow() - *worker.closed_at > kEndPatience) worker.process->Kill();
    }
  }
}

void NodeManager::ReadChecks() {
  for (const CheckProcesses::Ended& ended : checks_.TakeEnded()) {
    const std::string outcome = ended.finding.has_value() ? std::string(Name(ended.finding->outcome)) : "died";
    Log(LogLevel::kInfo, "a check is over",
        {{"outcome", outcome}, {"words", ended.finding.has_value() ? ended.finding->message : ended.last_words}});
    Do(core_.OnCheckEnded(ended.process, ended.finding, ended.last_words, MonotonicNow()));
  }
}

void NodeManager::TakeReplies(std::int64_t number) {
  Worker& worker = workers_.at(number);
  for (const std::string& message : worker.process->channel().Receive()) {
    const Result<worker::WorkerReply> reply = worker::DecodeReply(message);
    if (!reply.has_value()) {
      Log(LogLevel::kError, "killed a worker that does not speak the protocol", {{"reason", reply.error().message}});
      return worker.process->Kill();
    }
    if (meter_ != nullptr) meter_->Count(*reply);
    Do(core_.OnWorkerReplied(worker.slot, number, *reply, MonotonicNow()));
  }
}

void NodeManager::NoticeDeath(std::int64_t number) {
  auto dead = workers_.extract(number);
  Worker& worker = dead.mapped();
  worker.output.End();
  const WorkerDeath death{worker.process->CauseOfDeath(), worker.process->LastWords(worker.output.own_from())};
  if (last_output_.size() < kLastOutputsMax) last_output_.push_back(std::move(worker.output));
  if (meter_ != nullptr) meter_->CountDeath();
  worker::RemoveLeftSharedMemory();  // of deaths before
  Log(LogLevel::kWarning, "a worker died",
      {{"slot", worker.slot}, {"pid", worker.process->pid()}, {"last_words", death.last_words}});
  Do(core_.OnWorkerDied(worker.slot, number, death, MonotonicNow()));
}

// Of those on which runs train.
void NodeManager::LookAtGpus() {
  if (MonotonicNow() - gpus_seen_at_ < kGpuLookPeriod) return;
  gpus_seen_at_ = MonotonicNow();
  std::map<int, std::string> names;
  for (const int device : core_.GpusInUse()) names[device] = config_.devices[device].gpus.value_or("");
  gpus_.Look(std::move(names), [this](const GpuWatch::Seen& seen) {
    for (const auto& [device, use] : seen) core_.OnGpuSeen(device, use);
  });
}

// Of one run at a time; of those whose worker has died first.
void NodeManager::SendOutput() {
  std::vector<WorkerOutput*> outputs;
  while (!last_output_.empty() && last_output_.front().is_done()) last_output_.pop_front();
  for (WorkerOutput& output : last_output_) outputs.push_back(&output);
  for (auto& [number, worker] : workers_) {
    const std::optional<RunKey> run = worker.output.run();
    if (run.has_value() && !core_.IsOnSlot(*run)) worker.output.EndRun();
    outputs.push_back(&worker.output);
  }
  for (WorkerOutput* output : outputs) {
    if (sender_.is_sending()) return;
    std::optional<RunOutput> printed = output->Take(MonotonicNow());
    if (!printed.has_value()) continue;
    printed->incarnation = registration_.incarnation;
    sender_.Send(*std::move(printed));
  }
}

// Once the master knows this node manager; what is logged within one period goes together.
void NodeManager::SendLog(Seconds period) {
  if (!is_registered_ || sender_.is_sending() || MonotonicNow() - log_sent_at_ < period) return;
  const std::optional<LogTail::Part> logged = log_.Take(kServerLogPartBytesMax);
  if (!logged.has_value()) return;
  log_sent_at_ = MonotonicNow();
  sender_.Send(ServerLogPart{config_.server, registration_.incarnation, logged->position, logged->text});
}

// For a moment: nothing that is lost by stopping is worth waiting for, but this is asked for when something went wrong.
void NodeManager::SendLastOutput() {
  for (auto& [number, worker] : workers_) worker.output.End();
  const Seconds give_up_at = MonotonicNow() + kLastOutputPatience;
  while (MonotonicNow() < give_up_at) {
    SendLog(Seconds(0));
    SendOutput();
    if (!sender_.is_sending()) return;
    pollfd waiting{queue_.fd(), POLLIN, 0};
    poll(&waiting, 1, kTickMilliseconds);
    queue_.RunAll();
  }
}

void NodeManager::Do(const Actions& actions) {
  for (const Action& action : actions) std::visit([this](const auto& item) { Act(item); }, action);
}

void NodeManager::Act(const SpawnWorker& spawn) {
  worker::WorkerPlace place = PlaceOf(config_.devices, spawn.slot, spawn.reservation);
  place.control_group = GroupFor(spawn.worker, place.memory_bytes);
  place.temporary = directory_.Temporary(spawn.worker);
  const std::vector<std::string>& command = commands_.at(spawn.runtime);
  auto process = worker::WorkerProcess::Start(command, directory_.WorkerLog(spawn.slot, spawn.runtime),
                                              worker::FamilyMark(directory_.folder(), spawn.worker), place,
                                              templates_.For(command, place, MonotonicNow()));
  if (process.has_value()) {
    workers_.emplace(spawn.worker, Worker{.slot = spawn.slot,
                                          .process = std::move(*process),
                                          .output = WorkerOutput(directory_.WorkerLog(spawn.slot, spawn.runtime)),
                                          .closed_at = {}});
    return;
  }
  Log(LogLevel::kError, "cannot start a worker, trying again", {{"reason", process.error().message}});
  queue_.Post([this, spawn, why = process.error().message] {
    Do(core_.OnWorkerDied(spawn.slot, spawn.worker, {.last_words = why}, MonotonicNow()));
  });
}

// A worker that cannot be written to is dead or as good as dead: its channel is closed, and the loop takes notice.
void NodeManager::Act(const SendRequest& send) {
  const auto worker = workers_.find(send.worker);
  if (worker == workers_.end()) return;
  LabelOutput(send.request.kind, worker->second.output);
  const auto sent = worker->second.process->channel().Send(worker::Encode(send.request));
  if (!sent.has_value()) Log(LogLevel::kWarning, sent.error().message, {{"slot", send.slot}});
}

void NodeManager::Act(const KillWorker& kill) {
  const auto worker = workers_.find(kill.worker);
  if (worker != workers_.end()) worker->second.process->Kill();
}

void NodeManager::Act(const FetchCheckpoint& fetch) {
  files_.Fetch(fetch, [this, run = fetch.run](const Result<std::string>& path) {
    Do(core_.OnCheckpointFetched(run, path, MonotonicNow()));
  });
}

void NodeManager::Act(const ReleaseCheckpoint& release) { files_.Release(release.run); }

void NodeManager::Act(const UploadFile& upload) {
  files_.Upload(upload, [this, number = upload.upload](const Result<void>& stored) {
    Do(core_.OnUploadFinished(number, stored, MonotonicNow()));
  });
}

void NodeManager::Act(const RemoveFromStore& remove) { files_.Remove(remove.name); }

void NodeManager::Act(const DeleteStaged& file) { DeleteStagedFile(file.path); }

void NodeManager::Act(const RecordRun& record) { directory_.RecordRun(record.run, record.path); }

void NodeManager::Act(const ReadStepLog& read) {
  const std::string text = directory_.ReadStepLog(read.run, read.offset);
  Do(core_.OnStepLogRead(read.run, text, MonotonicNow()));
}

void NodeManager::Act(const ForgetRun& forget) { directory_.ForgetRun(forget.run); }

void NodeManager::Act(const FetchReference& fetch) {
  references_.Fetch(fetch.reference, [this, digest = fetch.reference](Result<std::vector<std::string>> command) {
    Result<void> fetched;
    if (command.has_value()) {
      commands_[ToHex(digest)] = *std::move(command);
    } else {
      fetched = tl::unexpected(command.error());
    }
    Do(core_.OnReferenceFetched(digest, fetched, MonotonicNow()));
  });
}

void NodeManager::Act(const ForgetReference& forget) {
  commands_.erase(ToHex(forget.reference));
  references_.Forget(forget.reference);
}

void NodeManager::Act(const StartCheck& start) {
  worker::WorkerPlace place = PlaceOf(config_.devices, start.slot, start.reservation);
  place.control_group = GroupFor(start.process, 0);  // a check has several workers at a time, each with what is theirs
  checks_.Start(start, commands_.at(start.runtime), worker::FamilyMark(directory_.folder(), start.process), place);
}

void NodeManager::Act(const KillCheck& kill) { checks_.Kill(kill.process); }

void NodeManager::Act(const Quit&) { quit_ = true; }

}  // namespace espalier::node
