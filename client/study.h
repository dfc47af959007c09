// A study as its client holds it: submit trials, get futures of their evaluations.
// Copies share one stream of events; it is read until the last copy goes. Any thread may call.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "client/evaluation.h"
#include "client/future.h"
#include "client/tuners/batch.h"

namespace espalier {

class Connection;

struct BatchAnswer {
  std::vector<TrialId> trials;                  // parallel to new_trials
  std::vector<Future<Evaluation>> evaluations;  // of the new trials' claims, then of `claims`
};

struct SubmitOptions {
  Step steps;    // the first claim
  Step horizon;  // the most that may ever be asked for; Step{0}: `steps`
};

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

  // False: not finished within `patience`.
  Result<bool> WaitUntilFinished(Seconds patience = Seconds::max()) const;

 private:
  struct Parts;
  explicit Study(std::shared_ptr<Parts> parts) : parts_(std::move(parts)) {}
  Future<Evaluation> FutureOf(ClaimId claim, TrialId trial);

  std::shared_ptr<Parts> parts_;
};

}  // namespace espalier
