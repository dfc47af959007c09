#include "worker/node/core/core.h"

#include <algorithm>

#include "protocol/store_name.h"
#include "worker/node/core/run_files.h"
#include "worker/node/core/step_log.h"

namespace espalier::node {
namespace {

constexpr Seconds kStepLogPeriod{1};
constexpr int kProtocolVersion = 1;

}  // namespace

Core::Core(Settings settings)
    : settings_(std::move(settings)),
      slots_(SlotCountOf(settings_.devices)),
      staging_(settings_.staging_bytes),
      runtimes_(settings_.runtimes) {
  for (int i = 0; i < slot_count(); ++i) {
    slots_[i].runtime = settings_.runtimes.front();
    slots_[i].reservation = ShareOf(settings_.devices, i);
  }
}

Actions Core::Start(Seconds now) {
  Actions actions;
  for (int i = 0; i < slot_count(); ++i) MindSlot(i, now, actions);
  BeginUploads(now, actions);
  return actions;
}

Worker* Core::WorkerOf(const RunHere& run) { return WorkerOn(slots_[run.runner.order().slot], run.runtime); }

void Core::Fetch(RunHere& run, Actions& actions) {
  Release(run, actions);
  const Order& order = run.runner.order();
  run.start = Fetching{};
  actions.push_back(FetchCheckpoint{order.run, order.start->file, order.start->state_sha256});
}

void Core::Release(RunHere& run, Actions& actions) {
  if (!std::holds_alternative<Fetched>(run.start)) return;
  actions.push_back(ReleaseCheckpoint{run.runner.order().run});
  run.start = NoFile{};
}

// The slot is free, and its worker was left where the run starts.
bool Core::StandsAtStart(const RunHere& run) {
  const Order& order = run.runner.order();
  const Runtimes::Runtime* runtime = runtimes_.Offering(run.offer);
  const Worker* worker = runtime == nullptr ? nullptr : WorkerOn(slots_[order.slot], runtime->name);
  const bool is_free = worker != nullptr && HasItsPlace(run) && worker->standing.has_value();
  return is_free && BeginningOf(order, run.runner.path().ValuesAtInit(), *worker->standing) == Beginning::kGoOn;
}

void Core::AssignSlots(Seconds now, Actions& actions) {
  RefuseNotOffered(now, actions);
  for (int i = 0; i < slot_count(); ++i) ReplaceOld(i, actions);
  std::set<int> slots_waited_for;
  for (auto& [key, run] : runs_) {
    if (!run.runner.waiting()) continue;
    const auto* fetched = std::get_if<Fetched>(&run.start);
    const int slot = run.runner.order().slot;
    const bool has_its_place = HasItsPlace(run);
    slots_waited_for.insert(slot);
    if (const DeviceHere device = DeviceOf(slot); !has_its_place) {
      for (int i = device.first; i < device.last; ++i) slots_waited_for.insert(i);
    }
    const bool was_not_fetched = run.runner.order().start.has_value() && std::holds_alternative<NoFile>(run.start);
    if (was_not_fetched && !StandsAtStart(run)) {  // another run was quicker, or the worker has died
      Fetch(run, actions);
      continue;
    }
    const bool can_start = fetched != nullptr || std::holds_alternative<NoFile>(run.start);
    if (!has_its_place || !can_start) continue;
    const Runtimes::Runtime* runtime = runtimes_.Offering(run.offer);
    Worker* worker = runtime == nullptr ? nullptr : WorkerOn(slots_[slot], runtime->name);
    const auto* ready = worker == nullptr ? nullptr : std::get_if<Ready>(&worker->state);
    if (ready == nullptr || ready->offers != runtime->offers) continue;
    slots_[slot].run = key;
    slots_[slot].runtime = run.runtime = runtime->name;
    worker->used_at = now;
    actions.push_back(RecordRun{key, run.runner.path().stages()});
    RunnerActions wanted;
    const std::string start_path = fetched == nullptr ? std::string() : fetched->path;
    run.runner.Begin({.start_path = start_path,
                      .staging = settings_.staging,
                      .step_log = settings_.step_logs + "/" + StepLogName(key),
                      .standing = std::exchange(worker->standing, std::nullopt),
                      .start_time = ready->start_time,
                      .trains_stretches = ready->stretches},
                     now, wanted);
    Carry(key, std::move(wanted), now, actions);
  }
  for (const int slot : slots_waited_for) MindSlot(slot, now, actions);
}

void Core::Carry(RunKey key, RunnerActions wanted, Seconds now, Actions& actions) {
  RunHere& run = runs_.at(key);
  const int slot = run.runner.order().slot;
  for (RequestKind& request : wanted.requests) Ask(slot, run.runtime, key, std::move(request), actions);
  for (ReportKind& report : wanted.reports) outbox_.Add(key, std::move(report));
  for (std::string& file : wanted.abandoned_files) actions.push_back(DeleteStaged{std::move(file)});
  for (Upload& upload : wanted.uploads) staging_.Add(key, std::move(upload));
  if (wanted.kill_worker) Kill(slot, run.runtime, actions);
  if (wanted.retire_worker) Retire(slot, run.runtime, now, actions);
  if (slots_[slot].run == key && !run.runner.on_slot()) {
    slots_[slot].run.reset();
    if (Worker* worker = WorkerOf(run); worker != nullptr) NoteLeft(*worker, run.runner.Left());
  }
  if (!run.runner.needs_start()) Release(run, actions);
  if (wanted.fetch_start) Fetch(run, actions);
  if (wanted.read_step_log) actions.push_back(ReadStepLog{key, run.step_log_offset});
}

// Of an earlier incarnation's states nobody knows here what waits for them: they have waited long enough.
void Core::BeginUploads(Seconds now, Actions& actions) {
  const auto need_of = [this](RunKey key, Step step) {
    const auto run = runs_.find(key);
    return run == runs_.end() ? Need::kClaim : run->second.runner.NeedOf(step);
  };
  for (UploadFile& upload : staging_.Begin(need_of, now)) actions.push_back(std::move(upload));
}

bool Core::HasRoomFor(PlanId plan) const {
  std::vector<PlanId> being_written;
  for (const Slot& slot : slots_) {
    for (const auto& [runtime, seat] : slot.seats) {
      const auto* worker = std::get_if<Worker>(&seat);
      if (worker == nullptr) continue;
      for (const auto& [id, asked] : worker->asked) {
        const auto* save = std::get_if<Save>(&asked.request);
        if (save != nullptr) being_written.push_back(save->identity.plan);
      }
    }
  }
  return staging_.HasRoomFor(plan, being_written);
}

Actions Core::OnWorkerReplied(int slot, std::int64_t number, const WorkerReply& reply, Seconds now) {
  Actions actions;
  const std::string* runtime = RuntimeOf(slots_[slot], number);
  if (runtime == nullptr) return actions;
  Worker& worker = *WorkerOn(slots_[slot], *runtime);
  const auto it = worker.asked.find(reply.id);
  if (it == worker.asked.end()) return actions;
  if (std::holds_alternative<Heartbeat>(reply.kind)) {
    NoteHeartbeat(worker, it->second, now);
    return actions;
  }
  const Asked asked = std::move(it->second);
  worker.asked.erase(it);
  if (std::holds_alternative<Describe>(asked.request)) {
    const auto* description = std::get_if<Description>(&reply.kind);
    if (description == nullptr || description->protocol_version != kProtocolVersion) {
      Kill(slot, *runtime, actions);
      return actions;
    }
    runtimes_.OnDescribed(*runtime, *description);
    if (std::holds_alternative<Describing>(worker.state)) {
      worker.state = Ready{.offers = runtimes_.Get(*runtime).offers,
                           .proceeds = Has(*description, worker::capability::kProceed),
                           .reloads = Has(*description, worker::capability::kReload),
                           .stretches = Has(*description, worker::capability::kStretches),
                           .start_time = now - worker.used_at};
    }
  } else if (const auto run = runs_.find(asked.run); run != runs_.end()) {
    RunnerActions wanted;
    const auto* failure = std::get_if<Failure>(&reply.kind);
    if (failure != nullptr && !failure->state_intact) worker.standing.reset();
    Runner& runner = run->second.runner;
    runner.SetRoom(HasRoomFor(runner.order().plan));
    runner.OnReply(asked.request, reply.kind, now, wanted);
    Carry(asked.run, std::move(wanted), now, actions);
  }
  BeginUploads(now, actions);
  AssignSlots(now, actions);
  return actions;
}

Actions Core::OnWorkerDied(int slot, std::int64_t number, WorkerDeath death, Seconds now) {
  Actions actions;
  const std::string* runtime = RuntimeOf(slots_[slot], number);
  if (runtime == nullptr) return actions;
  const Worker& worker = *WorkerOn(slots_[slot], *runtime);
  std::set<RunKey> concerned;
  for (const auto& [id, asked] : worker.asked) concerned.insert(asked.run);
  if (TrainsOn(slot, *runtime)) concerned.insert(*slots_[slot].run);
  const auto* killed = std::get_if<Killed>(&worker.state);
  if (killed != nullptr && killed->was_retired) death.cause = WorkerDeath::Cause::kUnusable;
  const Seconds delay = RespawnDelay(worker);
  if (delay > Seconds(0)) {
    runtimes_.OnNotDescribed(*runtime);
    if (!runtimes_.Get(*runtime).description.has_value()) references_.OnNotDescribed(*runtime, death.last_words);
  }
  slots_[slot].seats.at(*runtime) = Absent{now + delay, delay};
  for (const RunKey key : concerned) {
    const auto it = runs_.find(key);
    if (it == runs_.end()) continue;
    RunnerActions wanted;
    it->second.runner.OnWorkerDied(death, now, wanted);
    Carry(key, std::move(wanted), now, actions);
  }
  MindSlot(slot, now, actions);
  const bool another_waits = std::any_of(runs_.begin(), runs_.end(), [&](const auto& entry) {
    return entry.second.runner.waiting() && entry.second.runner.order().slot != slot;
  });
  if (another_waits) AssignSlots(now, actions);
  return actions;
}

Actions Core::OnCheckpointFetched(RunKey key, const Result<std::string>& path, Seconds now) {
  Actions actions;
  const auto it = runs_.find(key);
  if (it == runs_.end() || !it->second.runner.waiting()) {
    if (path.has_value()) actions.push_back(ReleaseCheckpoint{key});
    return actions;
  }
  RunHere& run = it->second;
  if (path.has_value()) {
    run.start = Fetched{*path};
    run.pause = {};
    FetchAgain(/*whatever_the_pause=*/true, now, actions);
  } else if (path.error().code == ErrorCode::kUnavailable) {
    run.start = StoreAway{now + run.pause.Next(), path.error().message};
  } else {
    RunnerActions wanted;
    run.runner.OnStartUnusable(path.error().message, now, wanted);
    Carry(key, std::move(wanted), now, actions);
  }
  AssignSlots(now, actions);
  return actions;
}

Actions Core::OnUploadFinished(std::int64_t upload, const Result<void>& stored, Seconds now) {
  Actions actions;
  std::optional<Staging::Done> done = staging_.Finish(upload, stored, now);
  if (!done.has_value()) return actions;
  if (!done->is_over) {
    const bool is_full = stored.error().code == ErrorCode::kResourceExhausted;
    if (is_full) outbox_.Add(done->run, StoreFull{done->upload.state.bytes});
    return actions;
  }
  const auto run = runs_.find(done->run);
  const Step step = done->upload.state.point.step;
  if (stored.has_value()) {
    if (run != runs_.end()) run->second.runner.OnStored(step);
    const std::int64_t report = outbox_.Add(done->run, done->upload.state);
    staging_.Keep(report, std::move(done->upload));
    FetchAgain(/*whatever_the_pause=*/true, now, actions);
  } else if (run != runs_.end()) {
    RunnerActions wanted;
    if (stored.error().code == ErrorCode::kAborted) {
      run->second.runner.OnWrongFile(step, stored.error().message, now, wanted);
    } else {
      run->second.runner.OnUploadRefused(step, stored.error().message, wanted);
    }
    Carry(done->run, std::move(wanted), now, actions);
  }
  BeginUploads(now, actions);
  ForgetEnded(actions);
  return actions;
}

Actions Core::OnReferenceFetched(Digest128 reference, const Result<void>& fetched, Seconds now) {
  Actions actions;
  if (references_.OnFetched(reference, fetched, now)) runtimes_.Add(ToHex(reference));
  for (int i = 0; i < slot_count(); ++i) MindSlot(i, now, actions);
  return actions;
}

std::set<int> Core::GpusInUse() const {
  std::set<int> devices;
  for (const auto& [key, run] : runs_) {
    const int device = run.runner.order().reservation.device;
    if (run.runner.on_slot() && settings_.devices[device].type == DeviceType::kGpu) devices.insert(device);
  }
  return devices;
}

// It is the run's use if no other trains there.
void Core::OnGpuSeen(int device, const GpuUse& use) {
  RunHere* only = nullptr;
  for (auto& [key, run] : runs_) {
    if (run.runner.order().reservation.device != device || !run.runner.on_slot()) continue;
    if (std::exchange(only, &run) != nullptr) return;
  }
  if (only == nullptr) return;
  only->runner.OnGpuSeen(use, only->runner.order().reservation.compute == settings_.devices[device].compute);
}

Actions Core::OnStepLogRead(RunKey key, std::string_view text, Seconds now) {
  Actions actions;
  const auto it = runs_.find(key);
  if (it == runs_.end()) return actions;
  RunHere& run = it->second;
  StepLogSummary summary = SummarizeStepLog(text, key.run, run.runner.path().stages());
  run.step_log_offset += summary.bytes_read;
  for (const StepsTrained& trained : summary.trained) outbox_.Add(key, trained);
  if (run.runner.closing()) {
    RunnerActions wanted;
    run.runner.Close(wanted);
    Carry(key, std::move(wanted), now, actions);
    AssignSlots(now, actions);
  }
  return actions;
}

void Core::FetchAgain(bool whatever_the_pause, Seconds now, Actions& actions) {
  for (auto& [key, run] : runs_) {
    const auto* away = std::get_if<StoreAway>(&run.start);
    if (away == nullptr || !run.runner.waiting()) continue;
    if (whatever_the_pause || now >= away->again_at) Fetch(run, actions);
  }
}

Actions Core::OnTick(Seconds now) {
  Actions actions;
  const bool reads_step_logs = now - step_logs_read_at_ >= kStepLogPeriod;
  if (reads_step_logs) step_logs_read_at_ = now;
  DropRuntimes(actions);
  references_.OnTick(now, actions);
  checks_.OnTick(now, actions);
  for (int i = 0; i < slot_count(); ++i) MindSlot(i, now, actions);
  for (auto& [key, run] : runs_) {
    const Worker* worker = WorkerOf(run);
    RunnerActions wanted;
    run.runner.SetRoom(HasRoomFor(run.runner.order().plan));
    run.runner.OnTick(now, worker != nullptr && Saves(*worker), wanted);
    Carry(key, std::move(wanted), now, actions);
    if (reads_step_logs && run.runner.on_slot()) actions.push_back(ReadStepLog{key, run.step_log_offset});
  }
  FetchAgain(/*whatever_the_pause=*/false, now, actions);
  BeginUploads(now, actions);
  ForgetEnded(actions);
  if (quit_before_.has_value() && (now >= *quit_before_ || IsSettled())) actions.push_back(Quit{});
  return actions;
}

Actions Core::OnStop(Seconds now) {
  Actions actions;
  if (!quit_before_.has_value()) quit_before_ = now + settings_.stop_within;
  checks_.Stop(actions);
  for (auto& [key, run] : runs_) {
    if (run.runner.training_ended()) continue;
    RunnerActions wanted;
    run.runner.Preempt(now, wanted);
    Carry(key, std::move(wanted), now, actions);
  }
  return actions;
}

bool Core::IsSettled() const {
  const bool over = std::all_of(runs_.begin(), runs_.end(), [](const auto& item) {
    return item.second.runner.Status().state == RunStatus::State::kEnded;
  });
  return over && staging_.AllStored() && outbox_.empty();
}

void Core::OnLeftOverState(RunKey run, StateStored state, const std::string& staged) {
  state.file = StoreName(state.plan, state.point, run);
  staging_.Add(run, {std::move(state), staged});
}

Actions Core::OnLeftOverRun(RunKey run, const std::vector<PathStage>& path, std::string_view step_log) {
  std::int64_t last = 0;
  for (StepsTrained& trained : SummarizeStepLog(step_log, run.run, path).trained) last = outbox_.Add(run, trained);
  if (last == 0) return {ForgetRun{run}};
  left_over_runs_[run] = last;
  return {};
}

std::string Core::Trouble() const {
  std::vector<std::string> troubles;
  const auto is_held = [](const auto& each) { return each.second.runner.awaits_room(); };
  if (std::ranges::any_of(runs_, is_held)) {
    troubles.push_back("staging is full, and runs wait before their next save");
  }
  if (const std::string why = staging_.WhyNotStored(); !why.empty()) {
    troubles.push_back("checkpoints wait in staging: " + why);
  }
  for (const auto& [key, run] : runs_) {
    const auto* away = std::get_if<StoreAway>(&run.start);
    if (away == nullptr) continue;
    troubles.push_back("runs wait for their checkpoints: " + away->why);
    break;
  }
  std::string text;
  for (const std::string& trouble : troubles) text += (text.empty() ? "" : "; ") + trouble;
  return text;
}

bool Core::IsOnSlot(RunKey key) const {
  const auto run = runs_.find(key);
  return run != runs_.end() && run->second.runner.on_slot();
}

std::vector<RunStatus> Core::Statuses() const {
  std::vector<RunStatus> statuses;
  for (const auto& [key, run] : runs_) statuses.push_back(run.runner.Status());
  return statuses;
}

}  // namespace espalier::node
