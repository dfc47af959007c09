#include "master/core/nodes/reports.h"

#include <algorithm>
#include <bit>

#include "base/text.h"
#include "master/core/nodes/attempts.h"
#include "master/core/nodes/measurements.h"
#include "master/core/nodes/runs.h"
#include "master/core/origin.h"
#include "master/core/state/stored_text.h"
#include "searchplan/plan/record_result.h"

namespace espalier::master {
namespace {

bool SameBits(const Metrics& a, const Metrics& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && std::bit_cast<std::uint64_t>(x.second) == std::bit_cast<std::uint64_t>(y.second);
  });
}

// The plan that has the point; null if none of this id does.
const SearchPlan* PlanWithPoint(const MasterState& state, PlanId plan_id, Point point) {
  const auto plan = state.plans.find(plan_id);
  if (plan == state.plans.end()) return nullptr;
  const auto node = plan->second.nodes.find(point.node);
  return node != plan->second.nodes.end() && point.step > node->second.start ? &plan->second : nullptr;
}

constexpr std::int64_t kStateBytesMax = std::int64_t{1} << 50;  // larger ones are none

struct Applier {
  Draft& draft;
  RunKey key;

  const MasterState& state() const { return draft.state(); }

  // The run, if this service's database knows it; null otherwise, also for a run of a leadership that it has forgotten.
  const Run* FindRun() const {
    const auto run = state().runs.find(key.run);
    return run == state().runs.end() || run->second.leadership != key.leadership ? nullptr : &run->second;
  }

  void Warn(std::string message, Point point, const std::string& why = {}) const {
    std::vector<LogField> fields = {{"run", key.run}, {"node", point.node}, {"step", point.step}};
    if (!why.empty()) fields.emplace_back("why", why);
    draft.Log(LogLevel::kWarning, std::move(message), std::move(fields));
  }

  // The plan of a result, if it fits: the point exists, under this lineage.
  const SearchPlan* PlanOf(PlanId id, Point point, const Digest128& lineage) const {
    const SearchPlan* plan = PlanWithPoint(state(), id, point);
    if (plan != nullptr && plan->Node(point.node).lineage == lineage) return plan;
    Warn("a result of another plan was refused", point);
    return nullptr;
  }

  void Reach(const Run& run, Point point) const {
    if (run.training() && point.step > run.at()) draft.Do(SetPosition{run.id, point.step, draft.now});
  }

  // What the run owed there is kept, or, if what came was refused, lost.
  void SettleOwed(PlanId plan, Point point, Owed owed, bool kept) const {
    const Run* run = FindRun();
    if (run == nullptr || run->plan != plan) return;
    Reach(*run, point);
    if (const Promise* promise = run->FindOpen(point.step, owed)) {
      SettlePromiseOf(draft, run->id, promise->id, kept ? PromiseState::kKept : PromiseState::kLost);
    }
  }

  // Metrics that cannot be stored are the trainer's fault: the same evaluation again would return the same.
  void operator()(const MetricsMeasured& measured) const {
    const SearchPlan* plan = PlanOf(measured.plan, measured.point, measured.lineage);
    if (plan == nullptr || !CheckName(measured.evaluation, "").has_value()) return;
    const Metrics* stored = plan->FindMetrics(measured.point, measured.evaluation);
    const auto fit = CheckMetrics(measured.metrics);
    if (!fit.has_value()) {
      Warn("an evaluation was refused", measured.point, fit.error().message);
      if (stored == nullptr && plan->FindEvaluationFailure(measured.point, measured.evaluation) == nullptr) {
        draft.Do(plan->id, {SetEvaluationFailure{measured.point, measured.evaluation, fit.error().message}});
      }
    } else if (stored == nullptr) {
      draft.Do(plan->id, {AddMetrics{measured.point, measured.evaluation, measured.metrics}});
      ForgetEvaluationAttempts(draft, *plan, measured.point, measured.evaluation);
      MeasureTime(draft, *plan, measured.point.node, CostKind::kEvaluate, 1, measured.time);
    } else if (!SameBits(*stored, measured.metrics)) {
      Warn("metrics differ from those stored; the stored ones stay", measured.point);
    }
    SettleOwed(plan->id, measured.point, Owed::kMetrics, fit.has_value());
    // A run that measures without owing the state (it lost it, or never promised it) settles claims whose state is
    // still needed from another.
    const Run* run = FindRun();
    const bool owes_state =
        run != nullptr && run->plan == plan->id && run->FindOpen(measured.point.step, Owed::kState) != nullptr;
    if (!owes_state) draft.NoteLostState(plan->id, measured.point);
  }

  void operator()(const TrainingMetrics& trained) const {
    if (const auto fits = CheckSeries(trained.series); !fits.has_value()) {
      const Error& why = fits.error();
      return Warn("training metrics were refused", {trained.node, Step{}}, why.field + ": " + why.message);
    }
    const std::vector<Step>& steps = trained.series.steps;
    if (PlanOf(trained.plan, {trained.node, steps.front()}, trained.lineage) == nullptr) return;
    draft.Do(AddTrainingMetrics{key.run, trained.plan, trained.node, trained.series});
  }

  void operator()(const StateStored& stored) const {
    const SearchPlan* plan = PlanOf(stored.plan, stored.point, stored.lineage);
    if (plan == nullptr) return;
    SettleOwed(plan->id, stored.point, Owed::kState, TakeState(*plan, stored));
  }

  // Whether a checkpoint stands there now.
  bool TakeState(const SearchPlan& plan, const StateStored& stored) const {
    if (const auto fits = CheckStored(stored); !fits.has_value()) {
      Warn("a checkpoint was refused", stored.point, fits.error().field + ": " + fits.error().message);
      return plan.FindCheckpoint(stored.point) != nullptr;
    }
    const StateDigest* known = plan.FindStateDigest(stored.point);
    const bool differs = known != nullptr && known->sha256 != stored.state_sha256;
    if (const Checkpoint* stands = plan.FindCheckpoint(stored.point)) {
      if (differs) Warn("a state differs from the one stored; the stored one stays", stored.point);
      if (stands->file != stored.file) draft.superseded_files.insert(stored.file);
      return true;
    }
    if (differs) Warn("a state that was trained again came out otherwise; no file of the first is left", stored.point);
    const Checkpoint checkpoint{.file = stored.file, .bytes = stored.bytes, .run = key.run, .stored_at = draft.now};
    draft.Do(plan.id,
             {SetCheckpoint{
                 stored.point, checkpoint, {stored.state_sha256, differs || (known != nullptr && known->disputed)}}});
    draft.stored_states = true;
    MeasureTime(draft, plan, stored.point.node, CostKind::kSave, 1, stored.time);
    Measure(draft, plan, stored.point.node, CostKind::kStateBytes, 1, stored.bytes);
    return true;
  }

  void operator()(const PromiseLost& lost) const {
    const Run* run = FindRun();
    if (run == nullptr || run->ended()) return;
    const auto named = run->promises.find(lost.promise);
    const Promise* promise = named == run->promises.end() ? run->FindOpen(lost.step, Owed::kState) : &named->second;
    if (promise == nullptr || promise->state != PromiseState::kOpen) return;
    draft.Log(LogLevel::kInfo, "promise lost",
              {{"run", key.run}, {"step", promise->step}, {"why", CleanText(lost.why, kMessageBytesMax)}});
    SettlePromiseOf(draft, key.run, promise->id, PromiseState::kLost);
  }

  void operator()(const StepsTrained& trained) const {
    const Run* run = FindRun();
    if (run == nullptr) return;
    const SearchPlan* plan = PlanWithPoint(state(), run->plan, {trained.node, trained.to});
    if (plan == nullptr) return;
    PlanEdit recorded = RecordTrained(*plan, trained.node, {key.run, trained.from, trained.to, trained.time});
    if (recorded.empty()) return;  // known already
    draft.Do(plan->id, std::move(recorded));
    MeasureTime(draft, *plan, trained.node, CostKind::kStep, trained.to - trained.from, trained.time);
  }

  void operator()(const RunFailed& failed) const {
    const Run* run = FindRun();
    if (run == nullptr || run->ended()) return;
    RunFailed storable = failed;
    storable.message = CleanText(failed.message, kMessageBytesMax);
    const bool is_finished = failed.kind == RunFailed::Kind::kFinished;
    draft.Log(is_finished ? LogLevel::kInfo : LogLevel::kWarning, is_finished ? "training finished" : "run failed",
              {{"run", key.run},
               {"kind", Name(failed.kind)},
               {"node", failed.point.node},
               {"step", failed.point.step},
               {"why", storable.message}});
    CountFailure(draft, key.run, storable);
  }

  void operator()(const EvaluationFailed& failed) const {
    const Run* run = FindRun();
    if (run == nullptr || run->ended() || !CheckName(failed.evaluation, "").has_value()) return;
    if (PlanWithPoint(state(), run->plan, failed.point) == nullptr) return;
    EvaluationFailed storable = failed;
    storable.message = CleanText(failed.message, kMessageBytesMax);
    Warn("an evaluation failed", failed.point, storable.message);
    CountEvaluationFailure(draft, key.run, storable);
    SettleOwed(run->plan, failed.point, Owed::kMetrics, false);
  }

  void operator()(const StartUnusable& start) const {
    const Run* run = FindRun();
    if (run == nullptr || PlanWithPoint(state(), run->plan, start.point) == nullptr) return;
    Warn("a checkpoint is missing or damaged", start.point, CleanText(start.why, kMessageBytesMax));
    DropFile(draft, run->plan, start.point, start.file);
  }

  void operator()(const StoreFull& full) const {
    draft.bytes_without_room += std::clamp<std::int64_t>(full.bytes, 0, kStateBytesMax);
  }

  void MeasureUse(const Run& run, const SearchPlan& plan, const StageUse& stage) const {
    if (std::ranges::find(run.path, stage.node, &PathStage::node) == run.path.end()) return;
    const auto measure = [&](CostKind kind, std::int64_t count, std::int64_t total) {
      if (total > 0) Measure(draft, plan, stage.node, kind, count, total);
    };
    measure(CostKind::kMemory, 1, stage.process_bytes);
    measure(CostKind::kDeviceMemory, 1, stage.device_bytes);
    Measure(draft, plan, stage.node, CostKind::kUtilization, stage.looks, stage.utilization);
  }

  void operator()(const RunEnded& ended) const {
    const Run* run = FindRun();
    if (run == nullptr || run->ended()) return;
    // The run had been stopped, and what was thought to be under way was not, or was lost meanwhile.
    if (!run->training()) return LoseAllBut(draft, key.run, ended.saves_under_way);
    if (ended.refused.empty()) {
      draft.Log(LogLevel::kInfo, "run ended", {{"run", key.run}, {"step", ended.step}, {"held", ended.slot_time}});
      NoteBegun(draft, key.run);
    } else {
      const std::string why = CleanText(ended.refused, kMessageBytesMax);
      draft.Log(LogLevel::kWarning, "run refused", {{"run", key.run}, {"server", run->slot.server}, {"why", why}});
      NoteRefusal(draft, key.run, why);
    }
    std::vector<Step> under_way;
    for (const Step step : ended.saves_under_way) {
      const Step first = BeginningOf(*run).step;
      if (step > first && !run->path.empty() && step <= run->path.back().to) under_way.push_back(step);
    }
    const Point beginning = BeginningOf(*run);
    const SearchPlan& plan = state().plans.at(run->plan);
    MeasureTime(draft, plan, beginning.node, CostKind::kSetUp, 1, ended.set_up_time);
    MeasureTime(draft, plan, beginning.node, CostKind::kLoad, 1, ended.load_time);
    for (const StageUse& stage : ended.stages) MeasureUse(*run, plan, stage);
    StopTraining(draft, key.run, under_way, ended.slot_time);
  }
};

}  // namespace

void ApplyReport(Draft& draft, const Report& report) { std::visit(Applier{draft, report.run}, report.kind); }

}  // namespace espalier::master
