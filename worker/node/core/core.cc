#include "worker/node/core/core.h"

#include <algorithm>

#include "worker/node/core/step_log.h"

namespace espalier::node {
namespace {

constexpr Seconds kStepLogPeriod{1};
constexpr Seconds kRespawnDelayFirst{0.1};
constexpr Seconds kRespawnDelayMax{10};
// Importing libraries and digesting data take their time.
constexpr Seconds kDescribePatience{120};
constexpr int kProtocolVersion = 1;

}  // namespace

std::string StepLogPath(const Settings& settings, RunId run) {
  return settings.step_logs + "/" + std::to_string(run.value) + ".log";
}

std::string StoreName(const PointReached& point, RunId run) {
  return std::to_string(point.plan.value) + "/" + std::to_string(point.plan_node.value) + "/" +
         std::to_string(point.step.value) + "-" + std::to_string(run.value) + ".ckpt";
}

Core::Core(Settings settings) : settings_(std::move(settings)), slots_(settings_.slot_count) {}

Actions Core::Start(Seconds now) {
  Actions actions;
  for (int i = 0; i < settings_.slot_count; ++i) Spawn(slots_[i], i, now, actions);
  return actions;
}

void Core::Spawn(Slot& slot, int index, Seconds now, Actions& actions) {
  slot.worker = next_worker_++;
  slot.spawned_at = now;
  slot.ready = slot.dying = false;
  slot.next_request = 1;
  slot.asked.clear();
  actions.push_back(SpawnWorker{index, slot.worker});
  Ask(index, RunId{}, Describe{}, actions);
}

void Core::Ask(int slot, RunId run, RequestKind request, Actions& actions) {
  Slot& to = slots_[slot];
  const std::int64_t id = to.next_request++;
  to.asked[id] = {run, request};
  actions.push_back(SendRequest{slot, to.worker, {id, std::move(request)}});
}

Core::Slot* Core::Find(int slot, std::int64_t worker) {
  return slots_[slot].worker == worker ? &slots_[slot] : nullptr;
}

Actions Core::OnDesired(const DesiredState& desired, Seconds now) {
  Actions actions;
  wanted_runs_.clear();
  for (const DesiredRun& run : desired.runs) {
    wanted_runs_.insert(run.run);
    TakeOver(run, now, actions);
  }
  for (auto& [id, known] : runs_) {
    if (wanted_runs_.contains(id)) continue;
    Wanted wanted;
    known.runner.StopAtOnce(now, wanted);
    Carry(id, std::move(wanted), actions);
  }
  Acknowledge(desired.acknowledged_report, actions);
  RemoveSuperseded(desired.superseded_files, actions);
  AssignSlots(now, actions);
  return actions;
}

void Core::TakeOver(const DesiredRun& run, Seconds now, Actions& actions) {
  const auto it = runs_.find(run.run);
  Wanted wanted;
  if (it != runs_.end()) {
    it->second.runner.TakeOver(run.wishes, now, wanted);
  } else {
    if (past_runs_.contains(run.run) || quit_before_.has_value()) return;
    if (const std::string defect = Defect(run, settings_.slot_count); !defect.empty()) return Refuse(run, defect);
    Known& known = runs_.emplace(run.run, Known{Runner(run), {}, 0, false}).first->second;
    if (run.wishes.preempt) known.runner.Preempt(now, wanted);
    if (run.start.has_value() && known.runner.waiting()) {
      actions.push_back(FetchCheckpoint{run.run, run.start->file, run.start->state_sha256});
    }
  }
  Carry(run.run, std::move(wanted), actions);
}

// A run that makes no sense is over before it begins; the master learns why.
void Core::Refuse(const DesiredRun& run, const std::string& defect) {
  past_runs_.insert(run.run);
  outbox_.Add(run.run,
              RunFailed{FaultKind::kTrainer, std::max(StartOf(run), Step{1}), PlanNodeAt(run, StartOf(run) + 1),
                        "the run cannot be trained as described: " + defect});
  for (const Target& target : run.wishes.targets) {
    outbox_.Add(run.run, PromiseLost{run.wishes.generation, target.step, defect});
  }
  outbox_.Add(run.run, RunEnded{StartOf(run), Seconds(0), Seconds(0)});
}

void Core::Acknowledge(std::int64_t number, Actions& actions) {
  outbox_.Acknowledge(number);
  while (!staged_of_report_.empty() && staged_of_report_.begin()->first <= outbox_.acknowledged()) {
    actions.push_back(DeleteStaged{staged_of_report_.begin()->second});
    staged_of_report_.erase(staged_of_report_.begin());
  }
  std::erase_if(left_over_runs_, [&](const auto& item) {
    if (item.second > outbox_.acknowledged()) return false;
    actions.push_back(ForgetRun{item.first});
    return true;
  });
  ForgetEnded(actions);
}

void Core::ForgetEnded(Actions& actions) {
  for (auto it = runs_.begin(); it != runs_.end();) {
    auto& [id, known] = *it;
    const bool needed = known.runner.Status().state != RunState::kEnded || outbox_.HasReportOf(id);
    if (!needed && !std::exchange(known.forgotten, true)) actions.push_back(ForgetRun{id});
    if (needed || wanted_runs_.contains(id)) {
      ++it;
      continue;
    }
    past_runs_.insert(id);
    it = runs_.erase(it);
  }
}

void Core::RemoveSuperseded(const std::vector<std::string>& files, Actions& actions) {
  std::set<std::string> now_superseded(files.begin(), files.end());
  for (const std::string& name : now_superseded) {
    if (!superseded_.contains(name)) actions.push_back(RemoveFromStore{name});
  }
  superseded_ = std::move(now_superseded);
}

void Core::AssignSlots(Seconds now, Actions& actions) {
  for (int i = 0; i < settings_.slot_count; ++i) {
    Slot& slot = slots_[i];
    if (slot.run.has_value() || !slot.ready || slot.dying) continue;
    for (auto& [id, known] : runs_) {
      const DesiredRun& desired = known.runner.desired();
      const bool ready = known.runner.waiting() && (!desired.start.has_value() || !known.start_path.empty());
      if (desired.slot != i || !ready) continue;
      slot.run = id;
      actions.push_back(RecordRun{id, desired.path});
      Wanted wanted;
      known.runner.Begin(known.start_path, settings_.staging, StepLogPath(settings_, id), now, wanted);
      Carry(id, std::move(wanted), actions);
      break;
    }
  }
}

void Core::Carry(RunId run, Wanted wanted, Actions& actions) {
  Known& known = runs_.at(run);
  const int index = known.runner.desired().slot;
  for (RequestKind& request : wanted.requests) Ask(index, run, std::move(request), actions);
  for (ReportKind& report : wanted.reports) outbox_.Add(run, std::move(report));
  for (std::string& file : wanted.abandoned_files) actions.push_back(DeleteStaged{std::move(file)});
  for (Upload& upload : wanted.uploads) StartUpload(run, std::move(upload), actions);
  if (known.runner.over() && slots_[index].run == run) slots_[index].run.reset();
  if (wanted.read_step_log) actions.push_back(ReadStepLog{run, known.step_log_offset});
}

void Core::StartUpload(RunId run, Upload upload, Actions& actions) {
  const std::int64_t id = next_upload_++;
  const std::string name = StoreName(upload.point, run);
  if (upload.point.checkpoint.has_value()) upload.point.checkpoint->file = name;
  actions.push_back(UploadFile{id, upload.staged, name});
  uploads_.emplace(id, UploadUnderWay{run, std::move(upload)});
}

Actions Core::OnWorkerReplied(int index, std::int64_t worker, const WorkerReply& reply, Seconds now) {
  Actions actions;
  Slot* slot = Find(index, worker);
  if (slot == nullptr) return actions;
  const auto it = slot->asked.find(reply.id);
  if (it == slot->asked.end()) return actions;
  const Slot::Asked asked = std::move(it->second);
  slot->asked.erase(it);
  if (std::holds_alternative<Describe>(asked.request)) {
    const auto* description = std::get_if<Description>(&reply.kind);
    if (description == nullptr || description->protocol_version != kProtocolVersion) {
      slot->dying = true;
      actions.push_back(KillWorker{index, worker});
      return actions;
    }
    description_ = *description;
    slot->ready = true;
    slot->respawn_delay = Seconds(0);
  } else if (const auto run = runs_.find(asked.run); run != runs_.end()) {
    Wanted wanted;
    run->second.runner.OnReply(asked.request, reply.kind, now, wanted);
    Carry(asked.run, std::move(wanted), actions);
  }
  AssignSlots(now, actions);
  return actions;
}

Actions Core::OnWorkerDied(int index, std::int64_t worker, const std::string& log, Seconds now) {
  Actions actions;
  Slot* slot = Find(index, worker);
  if (slot == nullptr) return actions;
  std::set<RunId> concerned;
  for (const auto& [id, asked] : slot->asked) concerned.insert(asked.run);
  if (slot->run.has_value()) concerned.insert(*slot->run);
  const bool was_ready = std::exchange(slot->ready, false);
  slot->worker = 0;
  slot->dying = false;
  slot->asked.clear();
  for (const RunId run : concerned) {
    const auto it = runs_.find(run);
    if (it == runs_.end()) continue;
    Wanted wanted;
    it->second.runner.OnWorkerDied(log, now, wanted);
    Carry(run, std::move(wanted), actions);
  }
  if (quit_before_.has_value()) return actions;
  // One that never got as far as describing itself would only do the same again.
  slot->respawn_delay =
      was_ready ? Seconds(0) : std::clamp(2 * slot->respawn_delay, kRespawnDelayFirst, kRespawnDelayMax);
  slot->respawn_at = now + slot->respawn_delay;
  if (was_ready) Spawn(*slot, index, now, actions);
  return actions;
}

Actions Core::OnCheckpointFetched(RunId run, const std::string& path, const std::string& error, Seconds now) {
  Actions actions;
  const auto it = runs_.find(run);
  if (it == runs_.end() || !it->second.runner.waiting()) return actions;
  it->second.start_path = path;
  if (!error.empty()) {
    Wanted wanted;
    it->second.runner.OnStartMissing(error, wanted);
    Carry(run, std::move(wanted), actions);
  }
  AssignSlots(now, actions);
  return actions;
}

Actions Core::OnUploadFinished(std::int64_t upload, const std::string& error, Seconds) {
  Actions actions;
  const auto it = uploads_.find(upload);
  if (it == uploads_.end()) return actions;
  const UploadUnderWay done = std::move(it->second);
  uploads_.erase(it);
  const auto run = runs_.find(done.run);
  if (error.empty()) {
    if (run != runs_.end()) run->second.runner.OnUploaded(done.upload.point.step);
    staged_of_report_[outbox_.Add(done.run, done.upload.point)] = done.upload.staged;
  } else if (run != runs_.end()) {
    Wanted wanted;
    run->second.runner.OnUploadFailed(done.upload.point.step, error, wanted);
    Carry(done.run, std::move(wanted), actions);
  }
  ForgetEnded(actions);
  return actions;
}

Actions Core::OnStepLogRead(RunId run, std::string_view text, Seconds now) {
  Actions actions;
  const auto it = runs_.find(run);
  if (it == runs_.end()) return actions;
  Known& known = it->second;
  StepLogSummary summary = SummarizeStepLog(text, run, known.runner.desired().path);
  known.step_log_offset += summary.bytes_read;
  for (StepsTrained& trained : summary.trained) outbox_.Add(run, std::move(trained));
  if (known.runner.over() && !known.runner.closed()) {
    Wanted wanted;
    known.runner.Close(wanted);
    Carry(run, std::move(wanted), actions);
    AssignSlots(now, actions);
  }
  return actions;
}

bool Core::Saves(const Slot& slot) const {
  return std::any_of(slot.asked.begin(), slot.asked.end(),
                     [](const auto& item) { return std::holds_alternative<Save>(item.second.request); });
}

// A worker that is started anew when its time comes, or killed when it does not answer.
void Core::MindWorker(int index, Seconds now, Actions& actions) {
  Slot& slot = slots_[index];
  if (slot.worker == 0) {
    if (now >= slot.respawn_at && !quit_before_.has_value()) Spawn(slot, index, now, actions);
    return;
  }
  if (slot.dying) return;
  const bool mute = !slot.ready && now - slot.spawned_at > kDescribePatience;
  const bool must_kill = slot.run.has_value() && runs_.at(*slot.run).runner.MustKill(now, Saves(slot));
  if (!mute && !must_kill) return;
  slot.dying = true;
  actions.push_back(KillWorker{index, slot.worker});
}

Actions Core::OnTick(Seconds now) {
  Actions actions;
  for (int i = 0; i < settings_.slot_count; ++i) MindWorker(i, now, actions);
  if (now - step_logs_read_at_ >= kStepLogPeriod) {
    step_logs_read_at_ = now;
    for (const auto& [id, known] : runs_) {
      if (known.runner.holds_slot()) actions.push_back(ReadStepLog{id, known.step_log_offset});
    }
  }
  if (quit_before_.has_value() && (now >= *quit_before_ || Settled())) actions.push_back(Quit{});
  return actions;
}

Actions Core::OnStop(Seconds now) {
  Actions actions;
  if (!quit_before_.has_value()) quit_before_ = now + settings_.stop_within;
  for (auto& [id, known] : runs_) {
    if (known.runner.over()) continue;
    Wanted wanted;
    known.runner.Preempt(now, wanted);
    Carry(id, std::move(wanted), actions);
  }
  return actions;
}

bool Core::Settled() const {
  const bool over = std::all_of(runs_.begin(), runs_.end(),
                                [](const auto& item) { return item.second.runner.Status().state == RunState::kEnded; });
  return over && uploads_.empty() && outbox_.empty();
}

Actions Core::OnLeftOverCheckpoint(RunId run, PointReached point, const std::string& staged) {
  Actions actions;
  StartUpload(run, {std::move(point), staged}, actions);
  return actions;
}

Actions Core::OnLeftOverRun(RunId run, const std::vector<PathStage>& path, std::string_view step_log) {
  std::int64_t last = 0;
  for (StepsTrained& trained : SummarizeStepLog(step_log, run, path).trained) last = outbox_.Add(run, trained);
  if (last == 0) return {ForgetRun{run}};
  left_over_runs_[run] = last;
  return {};
}

std::vector<RunStatus> Core::Statuses() const {
  std::vector<RunStatus> statuses;
  for (const auto& [id, known] : runs_) statuses.push_back(known.runner.Status());
  return statuses;
}

}  // namespace espalier::node
