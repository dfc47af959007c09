#include "master/core/nodes/reports.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/text.h"
#include "master/core/nodes/node_messages.h"
#include "master/core/state/stored_text.h"
#include "searchplan/plan/record_result.h"

namespace espalier::master {
namespace {

// So many crashes from one point, without progress, are final (design section 7).
constexpr std::int64_t kCrashCountMax = 3;

bool SameBits(const Metrics& a, const Metrics& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && std::bit_cast<std::uint64_t>(x.second) == std::bit_cast<std::uint64_t>(y.second);
  });
}

std::string At(Point point) {
  return " node=" + std::to_string(point.node.value) + " step=" + std::to_string(point.step.value);
}

const SearchPlan* PlanWithPoint(const MasterState& state, PlanId plan_id, Point point) {
  const auto plan = state.plans.find(plan_id);
  if (plan == state.plans.end()) return nullptr;
  const auto node = plan->second.nodes.find(point.node);
  return node != plan->second.nodes.end() && point.step > node->second.start ? &plan->second : nullptr;
}

// Where a run began: its checkpoint's point, or step 0 of its root.
Point StartOf(const Run& run) { return run.start ? *run.start : Point{run.path.front().node, Step{0}}; }

std::int64_t CrashCount(const SearchPlan& plan, Point start) {
  if (start.step == Step{0}) return plan.Node(start.node).root_crash_count;
  const PointRecord* record = plan.FindPoint(start);
  return record == nullptr ? 0 : record->crash_count;
}

// The first point at or after `point` that a run of this path can fail at: step 0 is none.
Point FailurePoint(const Run& run, Point point) {
  if (point.step > StartOf(run).step || run.path.empty()) return point;
  return {run.path.front().node, run.path.front().from + 1};
}

// Metrics that cannot be stored are the trainer's fault: the same evaluation again would return the same.
void StoreMetrics(Draft& draft, const SearchPlan& plan, const PointReached& reached) {
  if (reached.evaluation.empty() || !CheckName(reached.evaluation, "").has_value()) return;
  const Metrics* stored = plan.FindMetrics(reached.point, reached.evaluation);
  if (const auto fit = CheckMetrics(reached.metrics); !fit.has_value()) {
    draft.Emit(LogLine{LogLevel::kInfo, "evaluation refused" + At(reached.point) + " why=" + fit.error().message});
    const PointRecord* record = plan.FindPoint(reached.point);
    if (record != nullptr && record->evaluation_failures.contains(reached.evaluation)) return;
    if (stored == nullptr)
      draft.Do(plan.id, {SetEvaluationFailure{reached.point, reached.evaluation, fit.error().message}});
  } else if (stored == nullptr) {
    draft.Do(plan.id, {AddMetrics{reached.point, reached.evaluation, reached.metrics}});
  } else if (!SameBits(*stored, reached.metrics)) {
    draft.Emit(
        LogLine{LogLevel::kWarning, "metrics differ from those stored; the stored ones stay" + At(reached.point)});
  }
}

void StoreCheckpoint(Draft& draft, const SearchPlan& plan, RunId run, const PointReached& reached) {
  if (!reached.checkpoint) return;
  const StoredCheckpoint& checkpoint = *reached.checkpoint;
  if (const auto fits = CheckCheckpoint(checkpoint); !fits.has_value()) {
    draft.Emit(LogLine{LogLevel::kInfo, "checkpoint refused" + At(reached.point) + " why=" + fits.error().field + ": " +
                                            fits.error().message});
    return;
  }
  const PointRecord* record = plan.FindPoint(reached.point);
  if (record != nullptr && !record->state_sha256.empty() && record->state_sha256 != checkpoint.state_sha256) {
    draft.Emit(
        LogLine{LogLevel::kWarning, "state differs from the one stored; the stored one stays" + At(reached.point)});
    draft.superseded_files.insert(checkpoint.file);
    return;
  }
  if (record != nullptr && record->checkpoint) {
    if (record->checkpoint->file != checkpoint.file) draft.superseded_files.insert(checkpoint.file);
    return;
  }
  draft.Do(plan.id,
           {SetCheckpoint{reached.point,
                          {.file = checkpoint.file, .bytes = checkpoint.bytes, .run = run, .stored_at = draft.now},
                          checkpoint.state_sha256}});
}

struct Applier {
  Draft& draft;
  RunId run_id;

  const Run* FindRun() const {
    const auto run = draft.state().runs.find(run_id);
    return run == draft.state().runs.end() ? nullptr : &run->second;
  }

  void operator()(const PointReached& reached) const {
    const SearchPlan* plan = PlanWithPoint(draft.state(), reached.plan, reached.point);
    if (plan == nullptr) return;
    StoreMetrics(draft, *plan, reached);
    StoreCheckpoint(draft, *plan, run_id, reached);
    draft.touched_plans.insert(plan->id);
    draft.schedule = true;
    const Run* run = FindRun();
    if (run == nullptr || run->plan != plan->id) return;
    if (run->state == RunState::kTraining && reached.point.step > run->at) {
      draft.Do(SetPosition{run_id, reached.point.step});
    }
    const Point start = StartOf(*run);
    if (reached.point.step > start.step && CrashCount(*plan, start) > 0) {
      draft.Do(plan->id, {SetCrashCount{start, 0}});
    }
    SettlePromises(*run, *plan, reached);
  }

  // What was reported but refused is lost: nothing more will come of it.
  void SettlePromises(const Run& run, const SearchPlan& plan, const PointReached& reached) const {
    const PointRecord* record = plan.FindPoint(reached.point);
    const bool has_checkpoint = record != nullptr && record->checkpoint;
    const bool has_metrics = plan.FindMetrics(reached.point, reached.evaluation) != nullptr;
    for (const Target& target : OpenTargets(run)) {
      if (target.step != reached.point.step) continue;
      const bool kept = (!target.save || has_checkpoint) && (!target.evaluate || has_metrics);
      const bool refused = (target.save && reached.checkpoint && !has_checkpoint) ||
                           (target.evaluate && !reached.evaluation.empty() && !has_metrics);
      if (kept || refused) {
        SettlePromiseAt(draft, run_id, target.step, kept ? PromiseState::kStored : PromiseState::kLost);
      }
    }
  }

  void operator()(const PromiseLost& lost) const {
    const Run* run = FindRun();
    if (run == nullptr || run->state == RunState::kEnded) return;
    draft.Emit(LogLine{LogLevel::kInfo, "promise lost run=" + std::to_string(run_id.value) +
                                            " step=" + std::to_string(lost.step.value) +
                                            " why=" + CleanText(lost.why, kMessageBytesMax)});
    SettlePromiseAt(draft, run_id, lost.step, PromiseState::kLost);
  }

  void operator()(const StepsTrained& trained) const {
    const Run* run = FindRun();
    if (run == nullptr) return;
    const SearchPlan* plan = PlanWithPoint(draft.state(), run->plan, {trained.node, trained.to});
    if (plan == nullptr) return;
    draft.Do(plan->id, RecordTrained(*plan, trained.node, {run_id, trained.from, trained.to, trained.seconds}));
  }

  void operator()(const RunFailed& failed) const {
    const Run* run = FindRun();
    if (run == nullptr || run->state == RunState::kEnded) return;
    RunFailed storable = failed;
    storable.message = CleanText(failed.message, kMessageBytesMax);
    draft.Emit(LogLine{LogLevel::kInfo, "run failed run=" + std::to_string(run_id.value) + At(failed.point) +
                                            " why=" + storable.message});
    RecordFailure(*run, storable);
    draft.touched_plans.insert(run->plan);
    draft.schedule = true;
  }

  void RecordFailure(const Run& run, const RunFailed& failed) const {
    const Point point = FailurePoint(run, failed.point);
    if (PlanWithPoint(draft.state(), run.plan, point) == nullptr) {
      draft.Emit(
          LogLine{LogLevel::kWarning, "a run failed where its plan has no point run=" + std::to_string(run.id.value)});
      return;
    }
    const auto fail = [&](Failure::Kind kind) {
      const PointRecord* record = draft.state().plans.at(run.plan).FindPoint(point);
      if (record == nullptr || !record->failure) draft.Do(run.plan, {SetFailure{point, {kind, failed.message}}});
    };
    switch (failed.kind) {
      case RunFailed::Kind::kCrash: {
        const Point start = StartOf(run);
        const std::int64_t count = CrashCount(draft.state().plans.at(run.plan), start) + 1;
        draft.Do(run.plan, {SetCrashCount{start, count}});
        if (count >= kCrashCountMax) fail(Failure::Kind::kCrash);
        break;
      }
      case RunFailed::Kind::kTrainer:
        fail(Failure::Kind::kTrainer);
        break;
      case RunFailed::Kind::kOutOfMemory:
        fail(Failure::Kind::kOutOfMemory);
        break;
      case RunFailed::Kind::kDiverged:
        fail(Failure::Kind::kDiverged);
        break;
      case RunFailed::Kind::kEvaluation: {
        const auto trainer = draft.state().trainers.find({draft.state().plans.at(run.plan).identity.training.trainer,
                                                          draft.state().plans.at(run.plan).identity.training.data});
        if (trainer == draft.state().trainers.end()) break;
        draft.Do(run.plan, {SetEvaluationFailure{point, trainer->second.evaluation_digest, failed.message}});
        break;
      }
      case RunFailed::Kind::kCheckpoint:
        if (run.start) draft.Do(run.plan, {DropCheckpoint{*run.start}});
        break;
    }
  }

  void operator()(const RunEnded& ended) const {
    const Run* run = FindRun();
    if (run == nullptr || run->state != RunState::kTraining) return;
    const bool saving = !OpenTargets(*run).empty();
    draft.Do(SetRunState{run_id, saving ? RunState::kSaving : RunState::kEnded, ended.slot_seconds});
    draft.Emit(LogLine{LogLevel::kInfo, "run ended run=" + std::to_string(run_id.value) +
                                            " step=" + std::to_string(ended.step.value) +
                                            " slot_seconds=" + std::to_string(ended.slot_seconds.count())});
    draft.touched_plans.insert(run->plan);
    draft.schedule = true;
  }
};

}  // namespace

void SettlePromiseAt(Draft& draft, RunId id, Step step, PromiseState state) {
  const std::vector<Target> open = OpenTargets(draft.state().runs.at(id));
  const bool has = std::any_of(open.begin(), open.end(), [&](const Target& target) { return target.step == step; });
  if (!has) return;
  draft.Do(SettlePromise{id, step, state, draft.now});
  const Run& run = draft.state().runs.at(id);
  draft.touched_plans.insert(run.plan);
  draft.touched_servers.insert(run.slot.server);
  draft.schedule = true;
  if (run.state == RunState::kSaving && open.size() == 1) {
    draft.Do(SetRunState{id, RunState::kEnded, run.slot_seconds});
  }
}

void ApplyReport(Draft& draft, const Report& report) { std::visit(Applier{draft, report.run}, report.kind); }

}  // namespace espalier::master
