// A study as its client holds it: submit trials, get futures of their evaluations.
// Its events are read, with those of the client's other studies, until the last copy goes. Any thread may call.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/study_choices.h"
#include "base/units.h"
#include "client/branch.h"
#include "client/evaluation.h"
#include "client/future.h"
#include "client/tuners/batch.h"
#include "client/views.h"

namespace espalier {

class Connection;

struct BatchAnswer {
  std::vector<TrialId> trials;                  // parallel to new_trials
  std::vector<Future<Evaluation>> evaluations;  // of the new trials' claims, then of `claims`
};

struct SubmitOptions {
  Step steps{};    // the first claim
  Step horizon{};  // the most that may ever be asked for; Step{0}: `steps`
};

struct Continued;

class Study {
 public:
  Study(const std::shared_ptr<Connection>& connection, StudyId id, bool attached);

  StudyId id() const;
  // True: the study was running already when this client created it.
  bool attached() const;

  // One future a trial, in order. Errors of this and the next: the master's.
  Result<std::vector<Future<Evaluation>>> Submit(const std::vector<TrialText>& trials, const SubmitOptions& options);
  Result<Future<Evaluation>> Continue(TrialId trial, Step steps);
  // Waits for what one trial comes to at step `step`; what is trained of it already is not trained again.
  Result<Evaluation> Eval(const TrialText& trial, Step step);
  Result<void> Close(std::vector<TrialId> trials);
  Result<void> CancelTrials(std::vector<TrialId> trials);
  Result<void> Finish();

  // The same in one batch. The same request id with the same content gets the first answer again. One that is cut takes
  // the request ids ID/0, ID/1, ...: after an interruption, repeat it whole.
  Result<BatchAnswer> SubmitBatch(const Batch& batch, const std::string& request_id);

  // Cancels every open trial and waiting claim, and finishes the study.
  Result<void> Cancel();

  // Which of its states are never evicted from now on, also of a finished study.
  Result<void> Pin(Keep keep = Keep::kClaimed);

  // The study with its numbers. Errors of this and the next: the master's.
  Result<StudyView> View() const;
  // Reads as many pages as that takes.
  Result<std::vector<TrialView>> Trials(const TrialQuery& query = {}) const;
  // The trial whose metric is best, each taken at its last settled claim; none: none has one. What diverged has none.
  Result<std::optional<TrialView>> Best() const;
  // One trial of any study, with every metric that is stored on its way, whoever asked for it.
  Result<TrialView> ViewTrial(TrialId trial) const;
  // What its steps returned as they were trained, each of the first 1,024, fewer beyond.
  Result<TrainingCurves> TrainingMetrics(TrialId trial) const;
  // Of its states, by step: Client::FetchCheckpoint brings one here.
  Result<std::vector<CheckpointView>> Checkpoints(TrialId trial) const;

  // Goes on from a trial, whatever has become of it and its study, in a new study, which shares all that is trained.
  // `name`: the new study's; empty: "trial-3-extended", "trial-3-branched". Error: also kInvalidArgument, with the
  // field.
  Result<Continued> Extend(TrialId trial, Step steps, const std::string& name = {}) const;
  Result<Continued> Branch(TrialId trial, const std::vector<TrialBranch>& branches, const std::string& name = {}) const;

  // False: not finished within `patience`.
  Result<bool> WaitUntilFinished(Seconds patience = Seconds::max()) const;

 private:
  struct Parts;
  explicit Study(std::shared_ptr<Parts> parts) : parts_(std::move(parts)) {}
  Connection& connection() const;
  Future<Evaluation> FutureOf(ClaimId claim, TrialId trial);
  Result<Continued> GoOn(TrialId trial, const std::vector<TrialBranch>& continuations, const std::string& name) const;

  std::shared_ptr<Parts> parts_;
};

// A study of trials that go on from another. Its futures are read as long as it lives.
struct Continued {
  Study study;
  std::vector<TrialId> trials;                  // in the order of the branches
  std::vector<Future<Evaluation>> evaluations;  // at their ends
};

}  // namespace espalier
