#include "master/core/nodes/reports.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "base/text.h"
#include "master/core/nodes/attempts.h"
#include "master/core/nodes/check_report.h"
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

constexpr std::int64_t kStateBytesMax = std::int64_t{1} << 50;  // larger ones are none

// Of a report that fits its run.
struct Applier {
  Draft& draft;
  const Run& run;

  const SearchPlan& plan() const { return draft.state().plans.at(run.plan); }

  void Warn(std::string message, Point point, const std::string& why = {}) const {
    std::vector<LogField> fields = {{"run", run.id}, {"node", point.node}, {"step", point.step}};
    if (!why.empty()) fields.emplace_back("why", why);
    draft.Log(LogLevel::kWarning, std::move(message), std::move(fields));
  }

  // What the run owed there is kept, or, if what came was refused, lost.
  void SettleOwed(Point point, Owed owed, bool kept) const {
    if (run.training() && point.step > run.at()) draft.Do(SetPosition{run.id, point.step, draft.now});
    if (const Promise* promise = run.FindOpen(point.step, owed)) {
      SettlePromiseOf(draft, run.id, promise->id, kept ? PromiseState::kKept : PromiseState::kLost);
    }
  }

  // Metrics that cannot be stored are the trainer's fault: the same evaluation again would return the same.
  void operator()(const MetricsMeasured& measured) const {
    const Metrics* stored = plan().FindMetrics(measured.point, measured.evaluation);
    const auto fit = CheckMetrics(measured.metrics);
    if (!fit.has_value()) {
      Warn("an evaluation was refused", measured.point, fit.error().message);
      if (stored == nullptr && plan().FindEvaluationFailure(measured.point, measured.evaluation) == nullptr) {
        draft.Do(run.plan, {SetEvaluationFailure{measured.point, measured.evaluation, fit.error().message}});
      }
    } else if (stored == nullptr) {
      draft.Do(run.plan, {AddMetrics{measured.point, measured.evaluation, measured.metrics}});
      ForgetEvaluationAttempts(draft, plan(), measured.point, measured.evaluation);
      MeasureTime(draft, plan(), measured.point.node, CostKind::kEvaluate, 1, measured.time);
    } else if (!SameBits(*stored, measured.metrics)) {
      Warn("metrics differ from those stored; the stored ones stay", measured.point);
    }
    SettleOwed(measured.point, Owed::kMetrics, fit.has_value());
    // A run that measures without owing the state (it lost it, or never promised it) settles claims whose state is
    // still needed from another.
    if (run.FindOpen(measured.point.step, Owed::kState) == nullptr) draft.NoteLostState(run.plan, measured.point);
  }

  void operator()(const TrainingMetrics& trained) const {
    draft.Do(AddTrainingMetrics{run.id, run.plan, trained.node, trained.series});
  }

  void operator()(const StateStored& stored) const { SettleOwed(stored.point, Owed::kState, TakeState(stored)); }

  // Whether a checkpoint stands there now.
  bool TakeState(const StateStored& stored) const {
    if (const auto fits = CheckStored(stored); !fits.has_value()) {
      Warn("a checkpoint was refused", stored.point, fits.error().field + ": " + fits.error().message);
      return plan().FindCheckpoint(stored.point) != nullptr;
    }
    const StateDigest* known = plan().FindStateDigest(stored.point);
    const bool differs = known != nullptr && known->sha256 != stored.state_sha256;
    if (const Checkpoint* stands = plan().FindCheckpoint(stored.point)) {
      if (differs) Warn("a state differs from the one stored; the stored one stays", stored.point);
      if (stands->file != stored.file) draft.superseded_files.insert(stored.file);
      return true;
    }
    if (differs) Warn("a state that was trained again came out otherwise; no file of the first is left", stored.point);
    const Checkpoint checkpoint{.file = stored.file, .bytes = stored.bytes, .run = run.id, .stored_at = draft.now};
    const bool disputed = differs || (known != nullptr && known->disputed);
    draft.Do(run.plan, {SetCheckpoint{stored.point, checkpoint, {stored.state_sha256, disputed}}});
    draft.stored_states = true;
    MeasureTime(draft, plan(), stored.point.node, CostKind::kSave, 1, stored.time);
    Measure(draft, plan(), stored.point.node, CostKind::kStateBytes, 1, stored.bytes);
    return true;
  }

  void operator()(const PromiseLost& lost) const {
    if (run.ended()) return;
    const auto named = run.promises.find(lost.promise);
    const Promise* promise = named == run.promises.end() ? run.FindOpen(lost.step, Owed::kState) : &named->second;
    if (promise == nullptr || promise->state != PromiseState::kOpen) return;
    draft.Log(LogLevel::kInfo, "promise lost",
              {{"run", run.id}, {"step", promise->step}, {"why", CleanText(lost.why, kMessageBytesMax)}});
    SettlePromiseOf(draft, run.id, promise->id, PromiseState::kLost);
  }

  void operator()(const StepsTrained& trained) const {
    PlanEdit recorded = RecordTrained(plan(), trained.node, {run.id, trained.from, trained.to, trained.time});
    if (recorded.empty()) return;  // known already
    draft.Do(run.plan, std::move(recorded));
    MeasureTime(draft, plan(), trained.node, CostKind::kStep, trained.to - trained.from, trained.time);
  }

  void operator()(const RunFailed& failed) const {
    if (run.ended()) return;
    RunFailed storable = failed;
    storable.message = CleanText(failed.message, kMessageBytesMax);
    const bool is_finished = failed.kind == RunFailed::Kind::kFinished;
    draft.Log(is_finished ? LogLevel::kInfo : LogLevel::kWarning, is_finished ? "training finished" : "run failed",
              {{"run", run.id},
               {"kind", Name(failed.kind)},
               {"node", failed.point.node},
               {"step", failed.point.step},
               {"why", storable.message}});
    CountFailure(draft, run.id, storable);
  }

  void operator()(const EvaluationFailed& failed) const {
    if (run.ended()) return;
    EvaluationFailed storable = failed;
    storable.message = CleanText(failed.message, kMessageBytesMax);
    Warn("an evaluation failed", failed.point, storable.message);
    CountEvaluationFailure(draft, run.id, storable);
    SettleOwed(failed.point, Owed::kMetrics, false);
  }

  void operator()(const StartUnusable& start) const {
    Warn("a checkpoint is missing or damaged", start.point, CleanText(start.why, kMessageBytesMax));
    DropFile(draft, run.plan, start.point, start.file);
  }

  void operator()(const StoreFull& full) const {
    if (run.ended()) return;
    draft.Do(WantRoom{run.id, std::clamp<std::int64_t>(full.bytes, 0, kStateBytesMax)});
    draft.found_no_room = true;
  }

  void MeasureUse(const StageUse& stage) const {
    if (std::ranges::find(run.path, stage.node, &PathStage::node) == run.path.end()) return;
    const auto measure = [&](CostKind kind, std::int64_t count, std::int64_t total) {
      if (total > 0) Measure(draft, plan(), stage.node, kind, count, total);
    };
    measure(CostKind::kMemory, 1, stage.process_bytes);
    measure(CostKind::kDeviceMemory, 1, stage.device_bytes);
    Measure(draft, plan(), stage.node, CostKind::kUtilization, stage.looks, stage.utilization);
  }

  // What of it does not fit is passed over.
  void operator()(const RunEnded& ended) const {
    if (run.ended()) return;
    // The run had been stopped, and what was thought to be under way was not, or was lost meanwhile.
    if (!run.training()) return LoseAllBut(draft, run.id, ended.saves_under_way);
    if (ended.refused.empty()) {
      draft.Log(LogLevel::kInfo, "run ended", {{"run", run.id}, {"step", ended.step}, {"held", ended.slot_time}});
      NoteBegun(draft, run.id);
    } else {
      const std::string why = CleanText(ended.refused, kMessageBytesMax);
      draft.Log(LogLevel::kWarning, "run refused", {{"run", run.id}, {"server", run.slot.server}, {"why", why}});
      NoteRefusal(draft, run.id, why);
    }
    std::vector<Step> under_way;
    for (const Step step : ended.saves_under_way) {
      if (FindStage(run, step) != nullptr) under_way.push_back(step);
    }
    const PlanNodeId first = BeginningOf(run).node;
    MeasureTime(draft, plan(), first, CostKind::kSetUp, 1, ended.set_up_time);
    MeasureTime(draft, plan(), first, CostKind::kLoad, 1, ended.load_time);
    for (const StageUse& stage : ended.stages) MeasureUse(stage);
    const auto held = IsPossible(ended.slot_time) ? std::optional(ended.slot_time) : std::nullopt;
    StopTraining(draft, run.id, under_way, held);
  }
};

}  // namespace

void ApplyReport(Draft& draft, const Server& server, const Report& report) {
  const Result<const Run*> run = CheckReport(draft.state(), server, report);
  if (run.has_value()) return std::visit(Applier{draft, **run}, report.kind);
  const std::string why = (run.error().field.empty() ? "" : run.error().field + ": ") + run.error().message;
  draft.Log(LogLevel::kWarning, "a report was refused",
            {{"run", report.run.run}, {"server", server.name}, {"number", report.number}, {"why", why}});
}

}  // namespace espalier::master
