#include "worker/check/performer.h"

#include "worker/checkpoint/checkpoint_format.h"

namespace espalier::trainer_check {
namespace {

const RunKey kRun{LeadershipId{1}, RunId{1}};

worker::CheckpointIdentity IdentityAt(Step step) {
  return {.run = kRun, .plan = PlanId{1}, .point = {PlanNodeId{1}, step}, .lineage = DigestOf("trainer check")};
}

Finding FailedAt(Step step, std::string message, bool is_fault_of_trainer = true) {
  return {.observed = Observed::kFailure,
          .step = step,
          .message = std::move(message),
          .is_fault_of_trainer = is_fault_of_trainer};
}

Finding FailedAt(Step step, const Error& error) {
  return FailedAt(step, error.message, error.code != ErrorCode::kUnavailable);
}

// The step to which nothing is done but training.
Step TrainsTo(std::vector<Action>::const_iterator at, std::vector<Action>::const_iterator end) {
  Step step;
  for (; at != end && at->deed == Deed::kTrain; ++at) step = at->step;
  return step;
}

}  // namespace

void Performer::Follow(Course course) {
  course_ = std::move(course);
  trained_.clear();
  evaluated_.clear();
  saved_.clear();
}

Result<std::optional<Finding>> Performer::Perform(const Pass& pass, bool more_processes) {
  int processes_left = ProcessCount({pass});
  std::vector<Action> done;
  for (auto at = pass.actions.begin(); at != pass.actions.end(); ++at) {
    const Action& action = *at;
    stands_at_ = TrainsTo(at, pass.actions.end());
    if (ProcessCount({{"", {action}}}) > 0) --processes_left;
    done.push_back(action);
    ESPALIER_ASSIGN(std::optional<Finding> finding, Do(action, more_processes || processes_left > 0));
    if (!finding.has_value()) continue;
    finding->after = Suspect(done);
    finding->pass = pass.name;
    return finding;
  }
  return std::nullopt;
}

Performer::Seen Performer::Do(const Action& action, bool more_processes) {
  if (action.deed == Deed::kBegin || action.deed == Deed::kResume) {
    const Result<void> next = workers_.Next(more_processes);
    if (!next.has_value() && next.error().code == ErrorCode::kAborted) return tl::unexpected<Error>(next.error());
    if (!next.has_value()) return FailedAt(action.step, next.error());
  }
  switch (action.deed) {
    case Deed::kBegin:
    case Deed::kBeginAgain: {
      ESPALIER_ASSIGN(std::optional<Finding> failed, Begin());
      return failed.has_value() ? failed : Setup(Step{}, SequencesAt(course_, Step{}));
    }
    case Deed::kResume:
    case Deed::kResumeInProcess: {
      ESPALIER_ASSIGN(std::optional<Finding> failed, Begin());
      return failed.has_value() ? failed : Load(action.step);
    }
    case Deed::kReload: {
      ESPALIER_ASSIGN(std::optional<Finding> failed, Proceed(action.step));
      return failed.has_value() ? failed : Load(action.step);
    }
    case Deed::kProceed:
      return Proceed(action.step);
    case Deed::kTrain:
      return Train(action.step);
    case Deed::kEvaluate:
      return Evaluate(action.step);
    case Deed::kSave:
      return Save(action.step);
  }
  return std::nullopt;
}

template <class Kind>
Performer::Seen Performer::Ask(Step at, worker::RequestKind request, Kind& answer) {
  const Result<worker::ReplyKind> reply = workers_.Current().Ask(std::move(request));
  if (!reply.has_value() && reply.error().code == ErrorCode::kAborted) return tl::unexpected<Error>(reply.error());
  if (!reply.has_value()) return FailedAt(at, reply.error());
  if (const auto* failure = std::get_if<worker::Failure>(&*reply)) {
    const bool is_finished = failure->kind == worker::FailureKind::kFinished;
    return FailedAt(at,
                    is_finished
                        ? "training was finished before step " + std::to_string(at.value) +
                              ", which leaves too little to check: check fewer steps (--steps): " + failure->message
                        : failure->message,
                    failure->kind != worker::FailureKind::kOutOfMemory);
  }
  const auto* expected = std::get_if<Kind>(&*reply);
  if (expected == nullptr) return FailedAt(at, "the worker breaks the protocol: an answer to another kind of request");
  answer = *expected;
  return std::nullopt;
}

Performer::Seen Performer::Begin() {
  worker::Done done;
  return Ask(Step{},
             worker::Init{.run = kRun,
                          .trainer = trainer_,
                          .data = data_,
                          .step = course_.step,
                          .values = course_.values.front(),
                          .step_log = ""},
             done);
}

Performer::Seen Performer::Proceed(Step at) {
  if (!workers_.Can(worker::capability::kProceed)) return std::nullopt;
  worker::Done done;
  return Ask(at, worker::Proceed{.run = kRun, .step_log = ""}, done);
}

Performer::Seen Performer::Setup(Step at, worker::Values values) {
  worker::Done done;
  return Ask(at, worker::Setup{std::move(values)}, done);
}

Performer::Seen Performer::Load(Step step) {
  ESPALIER_ASSIGN(std::optional<Finding> failed, Setup(step, SequencesAt(course_, step - 1)));
  worker::Done done;
  return failed.has_value() ? failed : Ask(step, worker::Load{saved_.at(step).path.string()}, done);
}

Performer::Seen Performer::Train(Step step) {
  if (worker::Values changes = ChangesAt(course_, step - 1); !changes.empty()) {
    ESPALIER_ASSIGN(std::optional<Finding> failed, Setup(step - 1, std::move(changes)));
    if (failed.has_value()) return failed;
  }
  worker::Train train{step};
  if (workers_.Can(worker::capability::kStretches)) {
    train.until = stands_at_;
    for (Step at = step; at < stands_at_; at = at + 1) {
      if (worker::Values changes = ChangesAt(course_, at); !changes.empty())
        train.ahead.push_back({at, std::move(changes)});
    }
  }
  worker::Trained trained;
  ESPALIER_ASSIGN(std::optional<Finding> failed, Ask(step, std::move(train), trained));
  if (failed.has_value()) return failed;
  ++counts_.steps;
  return Compare(Observed::kTraining, step, trained.metrics, trained_);
}

Performer::Seen Performer::Evaluate(Step step) {
  worker::Evaluated evaluated;
  ESPALIER_ASSIGN(std::optional<Finding> failed, Ask(step, worker::Evaluate{}, evaluated));
  if (failed.has_value()) return failed;
  ++counts_.evaluations;
  return Compare(Observed::kEvaluation, step, evaluated.metrics, evaluated_);
}

Performer::Seen Performer::Compare(Observed observed, Step step, const Metrics& metrics,
                                   std::map<Step, Metrics>& before) {
  const auto [it, is_first] = before.try_emplace(step, metrics);
  if (is_first) return std::nullopt;
  std::vector<Difference> differences = Differences(it->second, metrics);
  if (differences.empty()) return std::nullopt;
  return Finding{.observed = observed, .step = step, .differences = std::move(differences)};
}

Performer::Seen Performer::Save(Step step) {
  const std::string name = "state-" + std::to_string(step.value);
  const std::filesystem::path path = folder_ / (saved_.contains(step) ? name + "-again" : name);
  worker::Saved saved;
  ESPALIER_ASSIGN(std::optional<Finding> failed, Ask(step, worker::Save{path.string(), IdentityAt(step)}, saved));
  if (failed.has_value()) return failed;
  ++counts_.states;
  const Result<CheckpointHead> head = CheckCheckpointFile(path);
  if (!head.has_value()) return FailedAt(step, "what was saved is no checkpoint: " + head.error().message);
  if (head->state_sha256 != saved.state_sha256 || head->identity != IdentityAt(step)) {
    return FailedAt(step, "the file that was saved is not what the worker says that it is");
  }
  const auto [it, is_first] = saved_.try_emplace(step, SavedState{path, saved.state_sha256});
  if (is_first) return std::nullopt;
  if (it->second.sha256 == saved.state_sha256) {
    std::filesystem::remove(path);
    return std::nullopt;
  }
  ESPALIER_ASSIGN(const CheckpointFile before, ReadCheckpointFile(it->second.path));
  ESPALIER_ASSIGN(const CheckpointFile now, ReadCheckpointFile(path));
  return Finding{.observed = Observed::kState, .step = step, .differences = Differences(before.state, now.state)};
}

}  // namespace espalier::trainer_check
