// The core's slots and their workers: which are wanted, started, kept warm, and ended.
#include <algorithm>

#include "worker/node/core/core.h"

namespace espalier::node {
namespace {

// Importing libraries and digesting data take their time.
constexpr Seconds kDescribePatience{120};

}  // namespace

void Core::Spawn(int slot, const std::string& runtime, Seconds respawn_delay, Seconds now, Actions& actions) {
  const std::int64_t number = next_worker_++;
  slots_[slot].seats[runtime] = Worker{.number = number, .state = Describing{now, respawn_delay}, .used_at = now};
  actions.push_back(SpawnWorker{slot, number, runtime});
  Ask(slot, runtime, RunKey{}, Describe{worker::kCapabilities}, actions);
}

// REQUIRES: the slot has a worker of the runtime.
void Core::Ask(int slot, const std::string& runtime, RunKey run, RequestKind request, Actions& actions) {
  Worker& worker = *WorkerOn(slots_[slot], runtime);
  const std::int64_t id = worker.next_request++;
  worker.asked[id] = {run, request};
  actions.push_back(SendRequest{slot, worker.number, {id, std::move(request)}});
}

void Core::Kill(int slot, const std::string& runtime, Actions& actions) {
  Worker* worker = WorkerOn(slots_[slot], runtime);
  if (worker == nullptr || std::holds_alternative<Killed>(worker->state)) return;
  worker->state = Killed{RespawnDelay(*worker), std::holds_alternative<Retired>(worker->state)};
  actions.push_back(KillWorker{slot, worker->number});
}

// What it has said makes it useless, and what it is writing is waited for.
void Core::Retire(int slot, const std::string& runtime, Seconds now, Actions& actions) {
  Worker* worker = WorkerOn(slots_[slot], runtime);
  if (worker == nullptr || !std::holds_alternative<Ready>(worker->state)) return;
  worker->state = Retired{now + kSavePatience};
  MindSlot(slot, now, actions);
}

// It trains, or writes what was trained.
bool Core::IsBusy(int slot, const std::string& runtime) const {
  const Slot& at = slots_[slot];
  if (at.run.has_value() && runs_.at(*at.run).runtime == runtime) return true;
  const auto* worker = std::get_if<Worker>(&at.seats.at(runtime));
  return worker != nullptr && Saves(*worker);
}

// Of the workers that are only kept warm, those used least recently go; of a server that is drained, all.
void Core::TrimWarm(int slot, const std::set<std::string>& wanted, Actions& actions) {
  int count = 0;
  std::set<std::pair<Seconds, std::string>> idle;
  for (const auto& [runtime, seat] : slots_[slot].seats) {
    const auto* worker = std::get_if<Worker>(&seat);
    if (worker == nullptr || std::holds_alternative<Killed>(worker->state)) continue;
    ++count;
    const bool is_idle = std::holds_alternative<Ready>(worker->state) && !IsBusy(slot, runtime);
    if (is_idle && !wanted.contains(runtime)) idle.emplace(worker->used_at, runtime);
  }
  const int kept = drained_ ? 0 : settings_.warm_workers;
  for (auto it = idle.begin(); it != idle.end() && count > kept; ++it, --count) {
    Kill(slot, it->second, actions);
  }
}

// Another version has come since such a worker was started: orders are for that one, and wait for the worker after it.
void Core::ReplaceOld(int slot, Actions& actions) {
  for (const auto& [runtime, seat] : slots_[slot].seats) {
    const auto* worker = std::get_if<Worker>(&seat);
    const auto* ready = worker == nullptr ? nullptr : std::get_if<Ready>(&worker->state);
    if (ready == nullptr || ready->offers == runtimes_.Get(runtime).offers || IsBusy(slot, runtime)) continue;
    Kill(slot, runtime, actions);
  }
}

// Users' code that nobody wants any more, or that cannot be run, goes once nothing is trained by it.
void Core::DropRuntimes(Actions& actions) {
  std::vector<std::string> dropped;
  for (const Runtimes::Runtime& runtime : runtimes_.all()) {
    if (runtime.is_own || references_.Keeps(runtime.name)) continue;
    if (HasLetGo(runtime.name, actions)) dropped.push_back(runtime.name);
  }
  for (const std::string& name : dropped) {
    runtimes_.Remove(name);
    actions.push_back(ForgetReference{ParseDigest128(name).value()});
  }
}

// No run needs the runtime, and no worker of it lives: those that do nothing are told to end.
bool Core::HasLetGo(const std::string& runtime, Actions& actions) {
  for (const auto& [key, run] : runs_) {
    if (!run.runner.waiting()) continue;
    const Runtimes::Runtime* offering = runtimes_.Offering(run.offer);
    if (offering != nullptr && offering->name == runtime) return false;
  }
  bool has_let_go = true;
  for (int i = 0; i < settings_.slot_count; ++i) {
    Slot& slot = slots_[i];
    const auto seat = slot.seats.find(runtime);
    if (seat == slot.seats.end()) continue;
    if (std::holds_alternative<Absent>(seat->second)) {
      slot.seats.erase(seat);
      if (slot.runtime == runtime) slot.runtime = settings_.runtimes.front();
      continue;
    }
    has_let_go = false;
    if (!IsBusy(i, runtime)) Kill(i, runtime, actions);
  }
  return has_let_go;
}

// A slot has a worker at all times: of what it trained last, unless that goes; of what waits to be trained on it; and
// of what nobody knows yet, which one slot finds out. On a server that is drained, nothing but what a run waits for.
std::set<std::string> Core::RuntimesWanted(int slot) const {
  std::set<std::string> wanted;
  for (const auto& [key, run] : runs_) {
    if (run.runner.order().slot != slot || !run.runner.waiting()) continue;
    if (const Runtimes::Runtime* runtime = runtimes_.Offering(run.offer)) wanted.insert(runtime->name);
  }
  if (drained_) return wanted;
  if (wanted.empty()) {
    const std::string& last = slots_[slot].runtime;
    wanted.insert(runtimes_.Get(last).is_own || references_.Keeps(last) ? last : settings_.runtimes.front());
  }
  bool describes_code = false;  // of users: one at a time, lest they crowd out what is trained
  for (std::size_t i = 0; i < runtimes_.all().size(); ++i) {
    const Runtimes::Runtime& runtime = runtimes_.all()[i];
    const bool is_here = static_cast<int>(i) % settings_.slot_count == slot;
    if (!is_here || runtime.description.has_value()) continue;
    if (runtime.is_own) {
      wanted.insert(runtime.name);
    } else if (references_.Keeps(runtime.name) && !std::exchange(describes_code, true)) {
      wanted.insert(runtime.name);
    }
  }
  return wanted;
}

void Core::NoteHeartbeat(Worker& worker, const Asked& asked, Seconds now) {
  if (auto* describing = std::get_if<Describing>(&worker.state)) describing->heard_at = now;
  if (const auto run = runs_.find(asked.run); run != runs_.end()) run->second.runner.OnHeartbeat(asked.request, now);
}

// A worker is started when its time comes, or killed when it does not answer.
void Core::MindSlot(int slot, Seconds now, Actions& actions) {
  for (const auto& [runtime, seat] : slots_[slot].seats) {
    const auto* worker = std::get_if<Worker>(&seat);
    const auto* describing = worker == nullptr ? nullptr : std::get_if<Describing>(&worker->state);
    if (describing != nullptr && now - describing->heard_at > kDescribePatience) Kill(slot, runtime, actions);
    const auto* retired = worker == nullptr ? nullptr : std::get_if<Retired>(&worker->state);
    if (retired != nullptr && (!Saves(*worker) || now > retired->patience_ends)) Kill(slot, runtime, actions);
  }
  if (quit_before_.has_value()) return;
  const std::set<std::string> wanted = RuntimesWanted(slot);
  for (const std::string& runtime : wanted) {
    const auto* absent = std::get_if<Absent>(&slots_[slot].seats[runtime]);
    if (absent != nullptr && now >= absent->respawn_at) Spawn(slot, runtime, absent->respawn_delay, now, actions);
  }
  TrimWarm(slot, wanted, actions);
}

}  // namespace espalier::node
