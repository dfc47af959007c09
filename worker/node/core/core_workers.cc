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
  actions.push_back(SpawnWorker{slot, number, runtime, slots_[slot].reservation});
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

Core::DeviceHere Core::DeviceOf(int slot) const {
  const DeviceSlot at = FindSlot(settings_.devices, slot).value();
  const Device& capacity = settings_.devices[static_cast<std::size_t>(at.device)];
  return {capacity, at.device, at.first, at.first + capacity.slots};
}

// That has the slot; else the first that waits for it. Null if none does.
const Core::RunHere* Core::RunThatTakes(int slot) const {
  if (slots_[slot].run.has_value()) return &runs_.at(*slots_[slot].run);
  for (const auto& [key, run] : runs_) {
    if (run.runner.waiting() && run.runner.order().slot == slot) return &run;
  }
  return nullptr;
}

// What workers of the slot may hold of its device while none trains there, of what they have reserved: memory, as far
// as that is counted.
Reservation Core::HeldWhileIdle(int slot) const {
  Reservation held = slots_[slot].reservation;
  if (DeviceOf(slot).capacity.memory_bytes > 0) held.compute = 0;
  held.host_cores = 0;
  return held;
}

// The slot is free, its workers have what the run has reserved, and what is held on other slots leaves it that.
bool Core::HasItsPlace(const RunHere& run) const {
  const Order& order = run.runner.order();
  const Slot& at = slots_[order.slot];
  if (at.reservation != order.reservation || at.run.has_value() || checks_.IsOn(order.slot)) return false;
  const DeviceHere device = DeviceOf(order.slot);
  Reserved others;
  for (int i = device.first; i < device.last; ++i) {
    if (i == order.slot) continue;
    if (slots_[i].run.has_value() || checks_.IsOn(i)) {
      others.Add(slots_[i].reservation);
    } else if (MayHoldMemory(slots_[i])) {
      others.Add(HeldWhileIdle(i));
    }
  }
  return FitsBeside(device.capacity, others, order.reservation);
}

// Whether idle workers of the slot would be in the way of runs that train on the device, or wait for it: with what
// these have reserved, and idle workers of the slots before it, they hold more than it has. O(slots of the device +
// runs).
bool Core::IsCrowdedOut(int slot) const {
  const DeviceHere device = DeviceOf(slot);
  Reserved held;
  std::set<int> taken;
  for (const auto& [key, run] : runs_) {
    const Order& order = run.runner.order();
    const bool takes = run.runner.waiting() || slots_[order.slot].run == key;
    if (!takes || order.reservation.device != device.index) continue;
    held.Add(order.reservation);
    taken.insert(order.slot);
  }
  for (int i = device.first; i <= slot && !taken.empty(); ++i) {
    if (taken.contains(i)) continue;
    const bool fits = FitsBeside(device.capacity, held, HeldWhileIdle(i));
    if (i == slot) return !fits;
    if (fits) held.Add(HeldWhileIdle(i));
  }
  return false;
}

// Gives the slot's workers what the run that takes the slot has reserved; where none does and what they have is in the
// way of others, the slot's equal share. False: some with another reservation still live.
bool Core::Refit(int slot) {
  Slot& at = slots_[slot];
  Reservation wanted = at.reservation;
  if (const RunHere* run = RunThatTakes(slot)) {
    wanted = run->runner.order().reservation;
  } else if (IsCrowdedOut(slot)) {
    wanted = ShareOf(settings_.devices, slot);
  }
  const bool has_workers = std::any_of(at.seats.begin(), at.seats.end(),
                                       [](const auto& item) { return std::holds_alternative<Worker>(item.second); });
  if (wanted != at.reservation && has_workers) return false;
  at.reservation = wanted;
  return true;
}

bool Core::TrainsOn(int slot, const std::string& runtime) const {
  const auto& key = slots_[slot].run;
  return key.has_value() && runs_.at(*key).runtime == runtime;
}

// It trains, or writes what was trained.
bool Core::IsBusy(int slot, const std::string& runtime) const {
  const Slot& at = slots_[slot];
  if (TrainsOn(slot, runtime)) return true;
  const auto* worker = std::get_if<Worker>(&at.seats.at(runtime));
  return worker != nullptr && Saves(*worker);
}

// Of the workers that are only kept warm, those used least recently go.
void Core::TrimWarm(int slot, const std::set<std::string>& wanted, int kept, Actions& actions) {
  int count = 0;
  std::set<std::pair<Seconds, std::string>> idle;
  for (const auto& [runtime, seat] : slots_[slot].seats) {
    const auto* worker = std::get_if<Worker>(&seat);
    if (worker == nullptr || std::holds_alternative<Killed>(worker->state)) continue;
    ++count;
    const bool is_idle = std::holds_alternative<Ready>(worker->state) && !IsBusy(slot, runtime);
    if (is_idle && !wanted.contains(runtime)) idle.emplace(worker->used_at, runtime);
  }
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
  for (int i = 0; i < slot_count(); ++i) {
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

// A slot has a worker at all times, unless it would be in the way of runs on others: of what it trained last, unless
// that goes; of what waits to be trained on it; and of what nobody knows yet, which one slot finds out. On a server
// that is drained, nothing but what a run waits for.
std::set<std::string> Core::RuntimesWanted(int slot) const {
  std::set<std::string> wanted;
  for (const auto& [key, run] : runs_) {
    if (run.runner.order().slot != slot || !run.runner.waiting()) continue;
    if (const Runtimes::Runtime* runtime = runtimes_.Offering(run.offer)) wanted.insert(runtime->name);
  }
  if (wanted.empty() && !drained_) {
    const std::string& last = slots_[slot].runtime;
    wanted.insert(runtimes_.Get(last).is_own || references_.Keeps(last) ? last : settings_.runtimes.front());
  }
  AddUnknown(slot, wanted);
  return wanted;
}

// Those that nobody knows yet, which this slot is to find out.
void Core::AddUnknown(int slot, std::set<std::string>& wanted) const {
  if (drained_) return;
  bool describes_code = false;  // of users: one at a time, lest they crowd out what is trained
  for (std::size_t i = 0; i < runtimes_.all().size(); ++i) {
    const Runtimes::Runtime& runtime = runtimes_.all()[i];
    const bool is_here = static_cast<int>(i) % slot_count() == slot;
    if (!is_here || runtime.description.has_value()) continue;
    if (runtime.is_own) {
      wanted.insert(runtime.name);
    } else if (references_.Keeps(runtime.name) && !std::exchange(describes_code, true)) {
      wanted.insert(runtime.name);
    }
  }
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
  const WantedCheck* check = NextCheck(slot, now);
  const bool is_checked = check != nullptr || checks_.IsOn(slot);
  if (!is_checked && !Refit(slot)) return TrimWarm(slot, {}, 0, actions);
  const bool gives_way = is_checked || (RunThatTakes(slot) == nullptr && IsCrowdedOut(slot));
  std::set<std::string> wanted;
  gives_way ? AddUnknown(slot, wanted) : wanted.merge(RuntimesWanted(slot));
  for (const std::string& runtime : wanted) {
    const auto* absent = std::get_if<Absent>(&slots_[slot].seats[runtime]);
    if (absent != nullptr && now >= absent->respawn_at) Spawn(slot, runtime, absent->respawn_delay, now, actions);
  }
  TrimWarm(slot, wanted, gives_way || drained_ ? 0 : settings_.warm_workers, actions);
  if (check == nullptr || MayHoldMemory(slots_[slot])) return;
  checks_.Begin(*check, next_worker_++, runtimes_.Offering(DigestOf(check->offer))->name, now, actions);
}

// What makes no sense here is passed over.
void Core::WantChecks(std::vector<WantedCheck> wanted, Actions& actions) {
  std::erase_if(wanted, [&](const WantedCheck& each) {
    return quit_before_.has_value() || !CheckWanted(each, settings_.devices).has_value();
  });
  checks_.Want(wanted, actions);
}

Actions Core::OnCheckEnded(std::int64_t process, const std::optional<CheckFinding>& finding,
                           const std::string& last_words, Seconds now) {
  Actions actions;
  checks_.OnEnded(process, finding, last_words, now);
  AssignSlots(now, actions);
  return actions;
}

// That can be begun on the slot as soon as no worker there holds memory: nothing trains there, or is about to. Null if
// none can.
const WantedCheck* Core::NextCheck(int slot, Seconds now) const {
  if (RunThatTakes(slot) != nullptr) return nullptr;
  const WantedCheck* check = checks_.Next(slot, now);
  return check == nullptr || runtimes_.Offering(DigestOf(check->offer)) == nullptr ? nullptr : check;
}

}  // namespace espalier::node
