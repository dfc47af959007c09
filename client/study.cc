#include "client/study.h"

#include <thread>

#include "client/connection.h"
#include "client/continuation.h"
#include "client/convert_views.h"
#include "client/request_id.h"
#include "client/study_stream.h"
#include "client/submit.h"
#include "proto/convert_study_choices.h"

namespace espalier {
namespace {

// Parallel to the batch's claims, as BatchIds has them.
std::vector<TrialId> TrialsOfClaims(const Batch& batch, const std::vector<TrialId>& new_trials) {
  std::vector<TrialId> trials;
  for (std::size_t i = 0; i < new_trials.size(); ++i) {
    trials.insert(trials.end(), 1 + batch.new_trials[i].more.size(), new_trials[i]);
  }
  for (const FurtherClaim& claim : batch.claims) trials.push_back(claim.trial);
  return trials;
}

}  // namespace

struct Study::Parts {
  Parts(const std::shared_ptr<Connection>& connection_in, StudyId id_in, bool attached_in)
      : connection(connection_in), id(id_in), attached(attached_in), stream(connection_in, id_in) {}

  // The last copy of a study may be a callback's: the thread that calls it cannot wait for itself.
  static void End(Parts* parts) {
    if (parts->stream.IsRead()) {
      std::thread([parts] { delete parts; }).detach();
    } else {
      delete parts;
    }
  }

  std::shared_ptr<Connection> connection;
  StudyId id;
  bool attached;
  StudyStream stream;
};

Study::Study(const std::shared_ptr<Connection>& connection, StudyId id, bool attached)
    : parts_(new Parts(connection, id, attached), [](Parts* parts) { Parts::End(parts); }) {}

StudyId Study::id() const { return parts_->id; }
bool Study::attached() const { return parts_->attached; }
Connection& Study::connection() const { return *parts_->connection; }

Result<std::vector<Future<Evaluation>>> Study::Submit(const std::vector<TrialText>& trials,
                                                      const SubmitOptions& options) {
  Batch batch;
  for (const TrialText& trial : trials)
    batch.new_trials.push_back(tuners::StartTrial{trial, options.steps, options.horizon});
  ESPALIER_ASSIGN(BatchAnswer answer, SubmitBatch(batch, NewRequestId()));
  return std::move(answer.evaluations);
}

Result<Future<Evaluation>> Study::Continue(TrialId trial, Step steps) {
  Batch batch;
  batch.claims.push_back(FurtherClaim{trial, steps});
  ESPALIER_ASSIGN(const BatchAnswer answer, SubmitBatch(batch, NewRequestId()));
  return answer.evaluations.front();
}

Result<Evaluation> Study::Eval(const TrialText& trial, Step step) {
  ESPALIER_ASSIGN(const std::vector<Future<Evaluation>> futures, Submit({trial}, {.steps = step, .horizon = step}));
  return futures.front().Get();
}

Result<void> Study::Close(std::vector<TrialId> trials) {
  Batch batch;
  batch.close = std::move(trials);
  ESPALIER_RETURN_IF_ERROR(SubmitBatch(batch, NewRequestId()));
  return {};
}

Result<void> Study::CancelTrials(std::vector<TrialId> trials) {
  Batch batch;
  batch.cancel = std::move(trials);
  ESPALIER_RETURN_IF_ERROR(SubmitBatch(batch, NewRequestId()));
  return {};
}

Result<void> Study::Finish() {
  Batch batch;
  batch.finish = true;
  ESPALIER_RETURN_IF_ERROR(SubmitBatch(batch, NewRequestId()));
  return {};
}

Result<BatchAnswer> Study::SubmitBatch(const Batch& batch, const std::string& request_id) {
  ESPALIER_ASSIGN(const BatchIds ids, espalier::Submit(*parts_->connection, parts_->id, batch, request_id));
  BatchAnswer answer{.trials = ids.trials, .evaluations = {}};
  const std::vector<TrialId> trials = TrialsOfClaims(batch, ids.trials);
  for (std::size_t i = 0; i < ids.claims.size(); ++i) answer.evaluations.push_back(FutureOf(ids.claims[i], trials[i]));
  return answer;
}

Future<Evaluation> Study::FutureOf(ClaimId claim, TrialId trial) {
  // Of a study that was let go, every future is settled.
  const auto cancel = [parts = std::weak_ptr(parts_), trial]() -> Result<void> {
    const std::shared_ptr<Parts> study = parts.lock();
    return study == nullptr ? Result<void>() : Study(study).CancelTrials({trial});
  };
  return parts_->stream.FutureOf(claim, cancel);
}

Result<void> Study::Cancel() {
  v1::CancelStudyRequest request;
  request.set_request_id(NewRequestId());
  request.set_study_id(parts_->id.value);
  ESPALIER_RETURN_IF_ERROR(parts_->connection->CancelStudy(request));
  return {};
}

Result<void> Study::Pin(Keep keep) {
  v1::PinStudyRequest request;
  request.set_request_id(NewRequestId());
  request.set_study_id(parts_->id.value);
  request.set_keep(ToProto(keep));
  ESPALIER_RETURN_IF_ERROR(parts_->connection->PinStudy(request));
  return {};
}

Result<Continued> Study::Extend(TrialId trial, Step steps, const std::string& name) const {
  return GoOn(trial, {TrialBranch{.at = {}, .steps = steps}}, name);
}

Result<Continued> Study::Branch(TrialId trial, const std::vector<TrialBranch>& branches,
                                const std::string& name) const {
  for (std::size_t i = 0; i < branches.size(); ++i) {
    if (branches[i].change.empty() && !branches[i].decay) {
      return MakeError(ErrorCode::kInvalidArgument, "expected hyper-parameters that change, a decay, or both",
                       "branches[" + std::to_string(i) + "]");
    }
  }
  return GoOn(trial, branches, name);
}

Result<Continued> Study::GoOn(TrialId trial, const std::vector<TrialBranch>& continuations,
                              const std::string& name) const {
  v1::ContinueTrialRequest request;
  request.set_trial_id(trial.value);
  request.set_name(name);
  for (const TrialBranch& continuation : continuations) *request.add_continuations() = ToWire(continuation);
  ESPALIER_ASSIGN(const v1::ContinueTrialResponse response, GoOnFrom(connection(), request));
  if (response.trial_ids_size() != response.claim_ids_size()) {
    return MakeError(ErrorCode::kInternal, "the server answered with other claims than those asked for");
  }
  Continued continued{Study(parts_->connection, StudyId{response.study_id()}, false), {}, {}};
  for (int i = 0; i < response.trial_ids_size(); ++i) {
    continued.trials.push_back(TrialId{response.trial_ids(i)});
    continued.evaluations.push_back(continued.study.FutureOf(ClaimId{response.claim_ids(i)}, continued.trials.back()));
  }
  return continued;
}

Result<bool> Study::WaitUntilFinished(Seconds patience) const { return parts_->stream.WaitUntilFinished(patience); }

}  // namespace espalier
