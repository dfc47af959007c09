#include "master/core/nodes/attempts.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "master/core/state/demand.h"
#include "master/core/state/stages.h"
#include "master/core/state/stored_text.h"
#include "searchplan/plan/record_result.h"

namespace espalier::master {
namespace {

constexpr std::int64_t kCrashesMax = 3;
constexpr std::int64_t kKillsMax = 10;
constexpr std::size_t kLostServersMax = 3;
constexpr std::chrono::seconds kPauseMin{1};
constexpr std::chrono::seconds kPauseMax{60};

// Where in the plan a run that stands at `point` fails: step 0 and the start itself are no points of its own.
Point FailingPoint(const Run& run, Point point) {
  const Step first = BeginningOf(run).step + 1;
  const Step last = run.path.back().to;
  return PointOf(run, std::clamp(point.step, first, last));
}

// By the last checkpoint before the step that failed.
AttemptKey KeyOf(const SearchPlan& plan, Point failing) {
  const PlanNode& node = plan.Node(failing.node);
  const Step before = failing.step - 1;
  const Point reached =
      before > node.start ? Point{failing.node, before} : Point{node.parent.value_or(failing.node), before};
  const std::optional<Point> checkpoint = before > Step{0} ? LastCheckpointBefore(plan, reached) : std::nullopt;
  return {.from = checkpoint ? checkpoint->step : Step{0}, .evaluation = {}};
}

Time PauseAfter(Time now, std::int64_t count) {
  const auto doublings = static_cast<int>(std::clamp<std::int64_t>(count - 1, 0, 6));
  return now + std::min<std::chrono::seconds>(kPauseMin * (1 << doublings), kPauseMax);
}

Attempts Before(const SearchPlan& plan, PlanNodeId node, const AttemptKey& key) {
  const Attempts* known = plan.FindAttempts(node, key);
  return known == nullptr ? Attempts{} : *known;
}

Failure::Kind KindOf(RunFailed::Kind kind) {
  switch (kind) {
    case RunFailed::Kind::kCrash:
    case RunFailed::Kind::kKilled:
    case RunFailed::Kind::kUnusable:
      return Failure::Kind::kCrash;
    case RunFailed::Kind::kTrainer:
      return Failure::Kind::kTrainer;
    case RunFailed::Kind::kOutOfMemory:
      return Failure::Kind::kOutOfMemory;
    case RunFailed::Kind::kDiverged:
      return Failure::Kind::kDiverged;
    case RunFailed::Kind::kFinished:
      return Failure::Kind::kFinished;
  }
  return Failure::Kind::kTrainer;
}

void Fail(Draft& draft, PlanId plan, Point point, Failure failure) {
  draft.Do(plan, RecordFailure(draft.state().plans.at(plan), point, std::move(failure)));
}

// Again with twice as much of a device, if some server has that; else for good.
void CountOutOfMemory(Draft& draft, const Run& run, Point point, const std::string& message) {
  const MasterState& state = draft.state();
  const SearchPlan& plan = state.plans.at(run.plan);
  const auto server = state.servers.find(run.slot.server);
  const auto device = static_cast<std::size_t>(run.reservation.device);
  const AttemptKey key = KeyOf(plan, point);
  Attempts attempts = Before(plan, point.node, key);
  if (server != state.servers.end() && device < server->second.devices.size()) {
    attempts.demand = Larger(attempts.demand, MoreThan(run.reservation, server->second.devices[device]));
  }
  const std::string had = Printed(state, run);
  if (!IsHad(state, plan, attempts.demand)) {
    return Fail(draft, run.plan, point,
                {Failure::Kind::kOutOfMemory,
                 CleanText("out of memory with " + had + ", and no server that offers it has more: " + message,
                           kMessageBytesMax)});
  }
  draft.Log(LogLevel::kInfo, "out of memory: again with more",
            {{"node", point.node}, {"step", point.step}, {"had", had}});
  attempts.begun_at = StageOf(run).first;
  attempts.log = message;
  draft.Do(run.plan, {SetAttempts{point.node, key, std::move(attempts)}});
}

bool MayBeTriedAgain(RunFailed::Kind kind) {
  return kind == RunFailed::Kind::kCrash || kind == RunFailed::Kind::kKilled || kind == RunFailed::Kind::kUnusable;
}

bool HasLostMetrics(const Run& run, Step step) {
  return std::ranges::any_of(run.promises, [&](const auto& entry) {
    const Promise& promise = entry.second;
    return promise.owed == Owed::kMetrics && promise.step == step && promise.state == PromiseState::kLost;
  });
}

// A device that fails is nobody's failure, unless that happens again at the same stage: then the stage may be why.
// How many crashes there are now.
std::int64_t CountUnusable(Attempts& attempts) {
  return attempts.unusable++ == 0 ? attempts.crashes : ++attempts.crashes;
}

}  // namespace

void CountFailure(Draft& draft, RunId id, const RunFailed& failed) {
  const Run& run = draft.state().runs.at(id);
  if (run.failed || run.path.empty()) return;
  draft.Do(SetRunFailed{id});
  const SearchPlan& plan = draft.state().plans.at(run.plan);
  const Point point = FailingPoint(run, failed.point);
  if (failed.kind == RunFailed::Kind::kOutOfMemory) return CountOutOfMemory(draft, run, point, failed.message);
  if (!MayBeTriedAgain(failed.kind)) return Fail(draft, run.plan, point, {KindOf(failed.kind), failed.message});
  const AttemptKey key = KeyOf(plan, point);
  Attempts attempts = Before(plan, point.node, key);
  const bool killed = failed.kind == RunFailed::Kind::kKilled;
  const bool unusable = failed.kind == RunFailed::Kind::kUnusable;
  const std::int64_t count = unusable ? CountUnusable(attempts) : ++(killed ? attempts.kills : attempts.crashes);
  attempts.earliest = attempts.earliest == Step{0} ? point.step : std::min(attempts.earliest, point.step);
  attempts.servers.insert(run.slot.server);
  attempts.begun_at = StageOf(run).first;
  attempts.not_before = PauseAfter(draft.now, count);
  attempts.log = failed.message;
  const Point earliest{point.node, attempts.earliest};
  draft.Do(run.plan, {SetAttempts{point.node, key, std::move(attempts)}});
  if (count >= (killed ? kKillsMax : kCrashesMax)) {
    Fail(draft, run.plan, earliest, {Failure::Kind::kCrash, failed.message});
  }
}

void CountEvaluationFailure(Draft& draft, RunId id, const EvaluationFailed& failed) {
  const Run& run = draft.state().runs.at(id);
  const SearchPlan& plan = draft.state().plans.at(run.plan);
  const auto bar = [&] {
    if (plan.FindEvaluationFailure(failed.point, failed.evaluation) != nullptr) return;
    draft.Do(run.plan, {SetEvaluationFailure{failed.point, failed.evaluation, failed.message}});
  };
  if (failed.kind == EvaluationFailed::Kind::kTrainer) return bar();
  // One that ended its run is told apart by the run, one that did not by the promise, which is lost with it.
  const Promise* promise = run.FindOpen(failed.point.step, Owed::kMetrics);
  if (promise == nullptr && (run.failed || HasLostMetrics(run, failed.point.step))) return;
  if (promise == nullptr) draft.Do(SetRunFailed{id});
  const AttemptKey key{failed.point.step, failed.evaluation};
  Attempts attempts = Before(plan, failed.point.node, key);
  const bool unusable = failed.kind == EvaluationFailed::Kind::kUnusable;
  const std::int64_t count = unusable ? CountUnusable(attempts) : ++attempts.crashes;
  attempts.earliest = failed.point.step;
  attempts.servers.insert(run.slot.server);
  attempts.begun_at = StageOf(run).first;
  attempts.not_before = PauseAfter(draft.now, count);
  attempts.log = failed.message;
  draft.Do(run.plan, {SetAttempts{failed.point.node, key, std::move(attempts)}});
  if (count >= kCrashesMax) bar();
}

void CountLostServer(Draft& draft, RunId id) {
  const Run& run = draft.state().runs.at(id);
  if (!run.training() || run.path.empty()) return;
  const SearchPlan& plan = draft.state().plans.at(run.plan);
  const Point point =
      FailingPoint(run, PointOf(run, run.at() + 1 > run.path.back().to ? run.path.back().to : run.at() + 1));
  const AttemptKey key = KeyOf(plan, point);
  Attempts attempts = Before(plan, point.node, key);
  if (!attempts.lost_servers.insert(run.slot.server).second) return;
  attempts.begun_at = StageOf(run).first;
  if (attempts.lost_servers.size() >= kLostServersMax) {
    attempts.not_before = Time::max();
    draft.Log(LogLevel::kWarning, "held: three servers were lost under one stage, `espalier stage retry` releases it",
              {{"plan", run.plan}, {"node", point.node}, {"step", point.step}});
  }
  draft.Do(run.plan, {SetAttempts{point.node, key, std::move(attempts)}});
}

void NoteRefusal(Draft& draft, RunId id, const std::string& why) {
  const Run& run = draft.state().runs.at(id);
  const StageBeginning stage = StageOf(run);
  Refusal refusal;
  if (const auto stages = draft.state().refusals.find(stage); stages != draft.state().refusals.end()) {
    if (const auto here = stages->second.find(run.slot.server); here != stages->second.end()) refusal = here->second;
  }
  refusal.until = PauseAfter(draft.now, ++refusal.count);
  refusal.why = why;
  draft.Do(SetRefusal{stage, run.slot.server, std::move(refusal)});
}

void NoteBegun(Draft& draft, RunId id) {
  const StageBeginning stage = StageOf(draft.state().runs.at(id));
  if (draft.state().refusals.contains(stage)) draft.Do(ForgetRefusals{stage});
}

void ForgetEvaluationAttempts(Draft& draft, const SearchPlan& plan, Point point, const std::string& evaluation) {
  const AttemptKey key{point.step, evaluation};
  if (plan.FindAttempts(point.node, key) != nullptr) draft.Do(plan.id, {SetAttempts{point.node, key, std::nullopt}});
}

}  // namespace espalier::master
