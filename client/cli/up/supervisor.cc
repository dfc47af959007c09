#include "client/cli/up/supervisor.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "client/cli/up/files.h"

namespace espalier {
namespace {

constexpr Seconds kReadinessInterval{0.02};
constexpr Seconds kIdleInterval{60};
constexpr Seconds kKillPatience{5};

}  // namespace

Supervisor::Supervisor(StopSignals& signals, std::string record_directory, std::vector<Program> programs,
                       RestartPolicy policy)
    : signals_(signals), record_directory_(std::move(record_directory)), policy_(policy) {
  for (Program& program : programs) {
    children_.push_back(Child{.program = std::move(program), .next_delay = policy_.first_delay});
  }
}

Result<void> Supervisor::Run(const std::function<Result<void>()>& when_ready) {
  AdoptOrphans();
  ESPALIER_RETURN_IF_ERROR(EndRecordedLeftOvers());
  bool said_ready = false;
  while (true) {
    ReapChildren();
    if (stopping_ && NothingRuns()) break;
    if (stopping_) {
      ContinueStop();
    } else {
      CheckReadiness();
      StartWhatIsDue();
    }
    if (!said_ready && !stopping_ && AllReady()) {
      said_ready = true;
      if (const Result<void> done = when_ready(); !done.has_value()) GiveUp(done.error());
    }
    int stops = signals_.Wait(TimeToNextCheck());
    if (stops > 0 && !stopping_) {
      Log(LogLevel::kInfo, "stopping");
      stopping_ = true;
      --stops;
    }
    if (stops > 0) {
      for (Child& child : children_) Kill(child);
    }
  }
  KillRemainingChildren();
  if (failure_.has_value()) return tl::unexpected<Error>(*failure_);
  return {};
}

Result<void> Supervisor::EndRecordedLeftOvers() {
  for (const Child& child : children_) {
    const auto record = ReadProcessRecord(RecordFile(child));
    if (!record.has_value()) continue;
    if (IsAlive(*record)) {
      Log(LogLevel::kWarning, "ending left-over process", {{"program", child.program.name}, {"process", record->id}});
    }
    ESPALIER_RETURN_IF_ERROR(KillLeftOver(*record));
    unlink(RecordFile(child).c_str());
  }
  return {};
}

void Supervisor::ReapChildren() {
  int wait_status = 0;
  // -1: adopted orphans are reaped here, too, and belong to no program.
  while (const pid_t ended = waitpid(-1, &wait_status, WNOHANG)) {
    if (ended < 0) return;
    for (Child& child : children_) {
      const Running* running = std::get_if<Running>(&child.state);
      if (running != nullptr && running->process.id == ended) OnChildEnded(child, wait_status);
    }
  }
}

void Supervisor::OnChildEnded(Child& child, int wait_status) {
  const Running running = std::get<Running>(child.state);
  const Seconds now = MonotonicNow();
  unlink(RecordFile(child).c_str());
  if (stopping_) {
    child.state = Waiting{};
    Log(LogLevel::kInfo, "program stopped", {{"program", child.program.name}, {"by", DescribeEnd(wait_status)}});
    return;
  }
  if (now - running.since > policy_.steady_after) child.next_delay = policy_.first_delay;
  child.state = Waiting{now + child.next_delay};
  ++child.deaths;
  Log(LogLevel::kWarning, "program died",
      {{"program", child.program.name},
       {"by", DescribeEnd(wait_status)},
       {"restart_seconds", child.next_delay.count()}});
  child.next_delay = std::min(child.next_delay * 2, policy_.longest_delay);
  if (!child.was_ready && child.deaths >= policy_.first_start_attempts) {
    const std::string& log = child.program.command.log_file;
    GiveUp(Error{
        ErrorCode::kInternal,
        child.program.name + " does not start (" + DescribeEnd(wait_status) + "), see " + log + ": " + LastLine(log),
        ""});
  }
}

void Supervisor::StartWhatIsDue() {
  for (Child& child : children_) {
    if (const Waiting* waiting = std::get_if<Waiting>(&child.state)) {
      if (waiting->until > MonotonicNow()) return;
      if (const Result<void> started = Start(child); !started.has_value()) return GiveUp(started.error());
    }
    if (!std::get<Running>(child.state).ready) return;
  }
}

Result<void> Supervisor::Start(Child& child) {
  const Program& program = child.program;
  if (program.prepare) ESPALIER_RETURN_IF_ERROR(program.prepare());
  RotateLog(program.command.log_file);
  ESPALIER_ASSIGN(const pid_t id, StartChild(program.command));
  const ProcessRecord process = RecordOf(id).value_or(ProcessRecord{.id = id});
  child.state = Running{.process = process, .since = MonotonicNow(), .ready = !program.is_ready};
  child.was_ready = child.was_ready || !program.is_ready;
  if (child.deaths > 0) Log(LogLevel::kInfo, "program started again", {{"program", program.name}, {"process", id}});
  return WriteProcessRecord(RecordFile(child), process);
}

void Supervisor::CheckReadiness() {
  for (Child& child : children_) {
    Running* running = std::get_if<Running>(&child.state);
    if (running == nullptr || running->ready) continue;
    running->ready = child.program.is_ready(running->process.id);
    if (running->ready) child.was_ready = true;
  }
}

// One program at a time, the last first.
void Supervisor::ContinueStop() {
  const auto last = std::find_if(children_.rbegin(), children_.rend(),
                                 [](const Child& child) { return std::holds_alternative<Running>(child.state); });
  if (last == children_.rend()) return;
  Running& running = std::get<Running>(last->state);
  const Seconds now = MonotonicNow();
  if (!running.kill_at.has_value()) {
    running.kill_at = now + last->program.stop_patience;
    kill(running.process.id, last->program.stop_signal);
  } else if (now >= *running.kill_at) {
    Log(LogLevel::kWarning, "program does not stop in time: killing it", {{"program", last->program.name}});
    Kill(*last);
  }
}

// The first time with the program's own kill signal, after that with the one that cannot be caught.
void Supervisor::Kill(Child& child) {
  Running* running = std::get_if<Running>(&child.state);
  if (running == nullptr) return;
  kill(-running->process.id, running->killed ? SIGKILL : child.program.kill_signal);
  running->killed = true;
  running->kill_at = MonotonicNow() + kKillPatience;
}

void Supervisor::GiveUp(Error error) {
  if (!failure_.has_value()) failure_ = std::move(error);
  stopping_ = true;
}

bool Supervisor::AllReady() const {
  return std::all_of(children_.begin(), children_.end(), [](const Child& child) {
    const Running* running = std::get_if<Running>(&child.state);
    return running != nullptr && running->ready;
  });
}

bool Supervisor::NothingRuns() const {
  return std::none_of(children_.begin(), children_.end(),
                      [](const Child& child) { return std::holds_alternative<Running>(child.state); });
}

Seconds Supervisor::TimeToNextCheck() const {
  Seconds wait = kIdleInterval;
  const Seconds now = MonotonicNow();
  for (const Child& child : children_) {
    if (const Waiting* waiting = std::get_if<Waiting>(&child.state)) {
      if (!stopping_) wait = std::min(wait, std::max(waiting->until - now, kReadinessInterval));
    } else if (const Running& running = std::get<Running>(child.state); running.kill_at.has_value()) {
      wait = std::min(wait, std::max(*running.kill_at - now, Seconds(0)));
    } else if (!running.ready || stopping_) {
      wait = std::min(wait, kReadinessInterval);
    }
  }
  return wait;
}

std::string Supervisor::RecordFile(const Child& child) const { return record_directory_ + "/" + child.program.name; }

}  // namespace espalier
