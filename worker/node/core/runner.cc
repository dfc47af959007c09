#include "worker/node/core/runner.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace espalier::node {
namespace {

constexpr Seconds kStopPatience{1};
// A worker that is still writing an earlier checkpoint is not killed for so long.
constexpr Seconds kSavePatience{30};

bool AllFinite(const std::map<std::string, double>& metrics) {
  return std::all_of(metrics.begin(), metrics.end(), [](const auto& item) { return std::isfinite(item.second); });
}

std::string DescribeNotFinite(const std::map<std::string, double>& metrics) {
  for (const auto& [name, value] : metrics) {
    if (!std::isfinite(value)) return name + " is " + (std::isnan(value) ? "not a number" : "infinite");
  }
  return {};
}

}  // namespace

Runner::Runner(DesiredRun desired)
    : desired_(std::move(desired)), reached_(StartOf(desired_)), begun_(StartOf(desired_)) {}

RunStatus Runner::Status() const {
  RunState state = RunState::kTraining;
  if (closed_) state = saving() ? RunState::kSaving : RunState::kEnded;
  return {desired_.run, desired_.wishes.generation, begun_, state};
}

bool Runner::saving() const {
  return std::any_of(points_.begin(), points_.end(), [](const auto& item) {
    return item.second.save == SaveState::kWriting || item.second.save == SaveState::kUploading;
  });
}

// The last target on the path. Where none is left, the run is stopping anyway.
Step Runner::End() const {
  Step end = StartOf(desired_);
  for (const Target& target : desired_.wishes.targets) {
    if (target.step <= PathEnd(desired_)) end = std::max(end, target.step);
  }
  return end;
}

bool Runner::AnythingAhead() const {
  const auto& targets = desired_.wishes.targets;
  return std::any_of(targets.begin(), targets.end(), [this](const Target& target) {
    return begun_ <= target.step && target.step <= PathEnd(desired_);
  });
}

bool Runner::Met(const Target& target) const {
  const auto it = points_.find(target.step);
  if (it == points_.end()) return false;
  const Point& point = it->second;
  const bool saved = point.save != SaveState::kNone && point.save != SaveState::kFailed;
  return (!target.evaluate || point.evaluated) && (!target.save || saved);
}

bool Runner::WantsEvaluation() const {
  for (const Target& target : desired_.wishes.targets) {
    if (target.step == reached_ && target.evaluate) return true;
  }
  const auto& periods = desired_.wishes.evaluate_every_steps;
  return reached_ > StartOf(desired_) && std::any_of(periods.begin(), periods.end(), [this](std::int64_t period) {
           return period > 0 && reached_.value % period == 0;
         });
}

bool Runner::WantsSave(Seconds now) const {
  for (const Target& target : desired_.wishes.targets) {
    if (target.step == reached_ && target.save) return true;
  }
  if (reached_ == StartOf(desired_)) return false;
  const Seconds period = desired_.wishes.save_every;
  return preempted_ || (period > Seconds(0) && now - saved_at_ >= period);
}

void Runner::Begin(const std::string& start_path, const std::string& staging, const std::string& step_log, Seconds now,
                   Wanted& wanted) {
  ESPALIER_CHECK(waiting());
  staging_ = staging;
  slot_since_ = asked_at_ = saved_at_ = now;
  activity_ = Activity::kStarting;
  wanted.requests.push_back(
      Init{desired_.run, desired_.trainer, desired_.data, desired_.step, InitialValues(desired_), step_log});
  if (!desired_.start.has_value()) return;
  if (reached_ > Step{0}) in_force_ = SequenceValues(desired_, reached_ - 1);
  wanted.requests.push_back(Setup{in_force_});
  wanted.requests.push_back(Load{start_path});
}

void Runner::Advance(Seconds now, Wanted& wanted) {
  if (stop_before_.has_value()) return Finish(now, wanted);
  const bool evaluate = WantsEvaluation() && !(points_.contains(reached_) && points_[reached_].evaluated);
  if (evaluate) {
    activity_ = Activity::kEvaluating;
    asked_at_ = now;
    wanted.requests.push_back(Evaluate{});
    return;
  }
  if (WantsSave(now)) SaveHere(points_[reached_], now, wanted);
  if (const auto here = points_.find(reached_); here != points_.end() && here->second.save == SaveState::kNone) {
    ReportMetrics(reached_, here->second, wanted);
  }
  if (preempted_ || reached_ >= End()) return Finish(now, wanted);
  BeginStep(now, wanted);
}

void Runner::SaveHere(Point& here, Seconds now, Wanted& wanted) {
  if (here.save != SaveState::kNone) return;
  here.save = SaveState::kWriting;
  here.staged = staging_ + "/" + std::to_string(desired_.run.value) + "-" + std::to_string(reached_.value) + ".ckpt";
  saved_at_ = now;
  wanted.requests.push_back(
      Save{here.staged,
           {desired_.plan, PlanNodeAt(desired_, reached_), reached_, desired_.run, LineageDigestAt(desired_, reached_),
            here.evaluated ? desired_.evaluation_digest : std::string(), here.metrics}});
}

void Runner::BeginStep(Seconds now, Wanted& wanted) {
  const Values values = SequenceValues(desired_, reached_);
  Values changed = Changed(values, in_force_);
  if (!changed.empty()) wanted.requests.push_back(Setup{std::move(changed)});
  wanted.requests.push_back(Train{reached_ + 1});
  in_force_ = values;
  begun_ = reached_ + 1;
  activity_ = Activity::kTraining;
  asked_at_ = now;
}

void Runner::OnReply(const RequestKind& request, const ReplyKind& reply, Seconds now, Wanted& wanted) {
  if (const auto* failure = std::get_if<Failure>(&reply)) return OnFailure(request, *failure, now, wanted);
  if (const auto* save = std::get_if<Save>(&request)) {
    if (const auto* saved = std::get_if<Saved>(&reply)) return OnSaved(*save, *saved, wanted);
  }
  if (over()) return;
  if (const auto* train = std::get_if<Train>(&request)) {
    if (const auto* trained = std::get_if<Trained>(&reply)) return OnTrained(train->step, *trained, now, wanted);
  }
  if (std::holds_alternative<Evaluate>(request)) {
    if (const auto* evaluated = std::get_if<Evaluated>(&reply)) return OnEvaluated(*evaluated, now, wanted);
  }
  const bool done = std::holds_alternative<Done>(reply);
  const bool prepares = std::holds_alternative<Init>(request) || std::holds_alternative<Setup>(request) ||
                        std::holds_alternative<Load>(request);
  if (!done || !prepares) {
    return Fail(FaultKind::kTrainer, begun_, "the worker gave an answer of the wrong kind", now, wanted);
  }
  if (activity_ != Activity::kStarting) return;
  const bool last =
      desired_.start.has_value() ? std::holds_alternative<Load>(request) : std::holds_alternative<Init>(request);
  if (!last) return;
  if (desired_.start.has_value()) load_time_ = now - asked_at_;
  Advance(now, wanted);
}

void Runner::OnTrained(Step step, const Trained& trained, Seconds now, Wanted& wanted) {
  if (activity_ != Activity::kTraining) return;
  reached_ = step;
  if (!AllFinite(trained.metrics)) {
    return Fail(FaultKind::kDiverged, step, DescribeNotFinite(trained.metrics), now, wanted);
  }
  Advance(now, wanted);
}

void Runner::OnEvaluated(const Evaluated& evaluated, Seconds now, Wanted& wanted) {
  if (activity_ != Activity::kEvaluating) return;
  if (evaluated.metrics.empty()) {
    return Fail(FaultKind::kEvaluation, reached_, "the evaluation returned no metrics", now, wanted);
  }
  if (!AllFinite(evaluated.metrics)) {
    return Fail(FaultKind::kDiverged, reached_, DescribeNotFinite(evaluated.metrics), now, wanted);
  }
  Point& here = points_[reached_];
  here.evaluated = true;
  here.metrics = evaluated.metrics;
  here.evaluate_time = evaluated.time;
  Advance(now, wanted);
}

void Runner::OnSaved(const Save& save, const Saved& saved, Wanted& wanted) {
  Point& point = points_[save.identity.step];
  if (point.save != SaveState::kWriting) return;
  point.save = SaveState::kUploading;
  PointReached reached = PointAt(save.identity.step, point);
  reached.checkpoint = StoredCheckpoint{"", saved.bytes, saved.state_sha256, saved.blocking};
  wanted.uploads.push_back({std::move(reached), point.staged});
}

// A file that could not be written costs its promise alone: the worker's state is whole.
void Runner::OnFailure(const RequestKind& request, const Failure& failure, Seconds now, Wanted& wanted) {
  if (const auto* save = std::get_if<Save>(&request)) {
    LoseSave(save->identity.step, points_[save->identity.step], failure.message, wanted);
    if (failure.kind == FailureKind::kCheckpoint) return;
  }
  FaultKind kind = FaultKind::kTrainer;
  if (std::holds_alternative<Evaluate>(request)) kind = FaultKind::kEvaluation;
  if (failure.kind == FailureKind::kOutOfMemory) kind = FaultKind::kOutOfMemory;
  if (failure.kind == FailureKind::kCheckpoint && std::holds_alternative<Load>(request)) kind = FaultKind::kCheckpoint;
  if (!over()) Fail(kind, begun_, failure.message, now, wanted);
}

void Runner::OnWorkerDied(const std::string& log, Seconds now, Wanted& wanted) {
  if (holds_slot()) {
    const bool stopping = stop_before_.has_value() && !killed_because_.has_value();
    const std::string message = killed_because_.has_value() ? *killed_because_ + "\n" + log : log;
    stopping ? Finish(now, wanted) : Fail(FaultKind::kCrash, begun_, message, now, wanted);
  }
  for (auto& [step, point] : points_) {
    if (point.save == SaveState::kWriting) LoseSave(step, point, "the worker died while it wrote", wanted);
  }
}

void Runner::OnStartMissing(const std::string& why, Wanted& wanted) {
  ESPALIER_CHECK(waiting());
  Fail(FaultKind::kCheckpoint, reached_, why, slot_since_, wanted);
}

void Runner::OnUploaded(Step step) { points_[step].save = SaveState::kStored; }

void Runner::OnUploadFailed(Step step, const std::string& why, Wanted& wanted) {
  LoseSave(step, points_[step], why, wanted);
}

void Runner::TakeOver(const Wishes& wishes, Seconds now, Wanted& wanted) {
  if (wishes.generation <= desired_.wishes.generation) return;
  desired_.wishes = wishes;
  if (over()) {
    if (closed_) ReportUnmet("the run has ended", true, wanted);
    return;
  }
  ReportUnmet("the run is past it", false, wanted);
  if (!AnythingAhead()) return StopAtOnce(now, wanted);
  if (wishes.preempt) Preempt(now, wanted);
}

void Runner::StopAtOnce(Seconds now, Wanted& wanted) {
  if (over() || stop_before_.has_value()) return;
  stop_before_ = now + kStopPatience;
  if (waiting()) Finish(now, wanted);
}

void Runner::Preempt(Seconds now, Wanted& wanted) {
  preempted_ = true;
  if (waiting()) Finish(now, wanted);
}

bool Runner::MustKill(Seconds now, bool worker_saves) {
  if (!holds_slot() || activity_ == Activity::kDying) return false;
  const Seconds hang = desired_.wishes.hang;
  if (hang > Seconds(0) && now - asked_at_ > hang) {
    killed_because_ =
        "no answer for " + std::to_string((now - asked_at_).count()) + " s: the worker hung and was killed";
  } else if (!stop_before_.has_value() || now <= *stop_before_ + (worker_saves ? kSavePatience : Seconds(0))) {
    return false;
  }
  if (activity_ == Activity::kTraining && killed_because_.has_value()) {
    killed_because_ = "step " + std::to_string(reached_.value + 1) + ": " + *killed_because_;
  }
  activity_ = Activity::kDying;
  return true;
}

// A fault before the first step of all belongs to that step: step 0 is no point of the plan.
void Runner::Fail(FaultKind kind, Step step, std::string message, Seconds now, Wanted& wanted) {
  step = std::max(step, Step{1});
  const PlanNodeId plan_node = PlanNodeAt(desired_, std::min(step, PathEnd(desired_)));
  failure_ = RunFailed{kind, step, plan_node, std::move(message)};
  Finish(now, wanted);
}

void Runner::Finish(Seconds now, Wanted& wanted) {
  if (holds_slot()) slot_time_ = now - slot_since_;
  activity_ = Activity::kOver;
  begun_ = reached_;
  wanted.read_step_log = true;
}

void Runner::Close(Wanted& wanted) {
  ESPALIER_CHECK(over() && !closed_);
  closed_ = true;
  for (auto& [step, point] : points_) {
    if (point.save == SaveState::kNone || point.save == SaveState::kFailed) ReportMetrics(step, point, wanted);
  }
  if (failure_.has_value()) wanted.reports.push_back(*failure_);
  ReportUnmet(failure_.has_value() ? "the run failed" : "the run ended before it", true, wanted);
  wanted.reports.push_back(RunEnded{reached_, slot_time_, load_time_});
}

void Runner::LoseSave(Step step, Point& point, std::string why, Wanted& wanted) {
  point.save = SaveState::kFailed;
  point.why_lost = std::move(why);
  wanted.abandoned_files.push_back(point.staged);
  if (over() && !closed_) return;  // Close reports it, after the failure
  ReportMetrics(step, point, wanted);
  ReportUnmet("", closed_, wanted);
}

// Those that lie behind, cannot be reached, or, once the run has ended, all that are neither met nor on their way.
void Runner::ReportUnmet(const std::string& why, bool ended, Wanted& wanted) {
  const std::int64_t generation = desired_.wishes.generation;
  for (const Target& target : desired_.wishes.targets) {
    const auto it = points_.find(target.step);
    const bool failed = it != points_.end() && it->second.save == SaveState::kFailed && target.save;
    const bool missed = ended || failed || target.step < begun_ || target.step > PathEnd(desired_);
    if (!missed || Met(target)) continue;
    Point& point = points_[target.step];
    if (std::exchange(point.lost_in_generation, generation) == generation) continue;
    wanted.reports.push_back(PromiseLost{generation, target.step, failed ? point.why_lost : why});
  }
}

void Runner::ReportMetrics(Step step, Point& point, Wanted& wanted) {
  if (!point.evaluated || std::exchange(point.metrics_reported, true)) return;
  wanted.reports.push_back(PointAt(step, point));
}

PointReached Runner::PointAt(Step step, const Point& point) const {
  PointReached reached{desired_.plan, PlanNodeAt(desired_, step), step, "", {}, Seconds(0), std::nullopt};
  if (!point.evaluated) return reached;
  reached.evaluation_digest = desired_.evaluation_digest;
  reached.metrics = point.metrics;
  reached.evaluate_time = point.evaluate_time;
  return reached;
}

}  // namespace espalier::node
