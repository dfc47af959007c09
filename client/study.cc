#include "client/study.h"

#include "client/batch_cut.h"
#include "client/connection.h"
#include "client/convert.h"
#include "client/request_id.h"
#include "client/study_stream.h"

namespace espalier {
namespace {

v1::SubmitRequest ToRequest(const Batch& batch, StudyId study, const std::string& request_id) {
  v1::SubmitRequest request;
  request.set_request_id(request_id);
  request.set_study_id(study.value);
  for (const tuners::StartTrial& trial : batch.new_trials) *request.add_new_trials() = ToWire(trial);
  for (const FurtherClaim& claim : batch.claims) {
    v1::FurtherClaim& added = *request.add_claims();
    added.set_trial_id(claim.trial.value);
    added.set_steps(claim.steps.value);
  }
  for (const TrialId trial : batch.close) request.add_close_trial_ids(trial.value);
  for (const TrialId trial : batch.cancel) request.add_cancel_trial_ids(trial.value);
  request.set_finish(batch.finish);
  return request;
}

}  // namespace

struct Study::Parts {
  Parts(const std::shared_ptr<Connection>& connection_in, StudyId id_in, bool attached_in)
      : connection(connection_in), id(id_in), attached(attached_in), stream(connection_in, id_in) {}

  // Submits one request, and adds its answer to `answer`.
  Result<void> SubmitPart(const Batch& part, const std::string& request_id, BatchAnswer& answer) {
    ESPALIER_ASSIGN(const v1::SubmitResponse response, connection->Submit(ToRequest(part, id, request_id)));
    const auto trial_count = static_cast<std::size_t>(response.trial_ids_size());
    const auto claim_count = static_cast<std::size_t>(response.claim_ids_size());
    if (trial_count != part.new_trials.size() || claim_count != part.new_trials.size() + part.claims.size()) {
      return MakeError(ErrorCode::kInternal, "the server answered with " + std::to_string(trial_count) +
                                                 " trials and " + std::to_string(claim_count) +
                                                 " claims, which are not those asked for");
    }
    for (const std::int64_t trial : response.trial_ids()) answer.trials.push_back(TrialId{trial});
    for (const std::int64_t claim : response.claim_ids()) answer.evaluations.push_back(stream.FutureOf(ClaimId{claim}));
    return {};
  }

  std::shared_ptr<Connection> connection;
  StudyId id;
  bool attached;
  StudyStream stream;
};

Study::Study(std::shared_ptr<Connection> connection, StudyId id, bool attached)
    : parts_(std::make_shared<Parts>(std::move(connection), id, attached)) {}

StudyId Study::id() const { return parts_->id; }
bool Study::attached() const { return parts_->attached; }

Result<std::vector<Future<Evaluation>>> Study::Submit(const std::vector<tuners::TrialText>& trials,
                                                      const SubmitOptions& options) {
  Batch batch;
  for (const tuners::TrialText& trial : trials)
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
  const std::vector<Batch> parts = CutBatch(batch);
  BatchAnswer answer;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string part_id = parts.size() == 1 ? request_id : request_id + "/" + std::to_string(i);
    const Result<void> added = parts_->SubmitPart(parts[i], part_id, answer);
    if (!added.has_value()) return tl::unexpected<Error>(InWholeBatch(added.error(), parts, i));
  }
  return answer;
}

Result<void> Study::Cancel() {
  v1::CancelStudyRequest request;
  request.set_request_id(NewRequestId());
  request.set_study_id(parts_->id.value);
  ESPALIER_RETURN_IF_ERROR(parts_->connection->CancelStudy(request));
  return {};
}

Result<bool> Study::WaitUntilFinished(Seconds patience) const { return parts_->stream.WaitUntilFinished(patience); }

std::optional<v1::StudyProgress> Study::Progress() const { return parts_->stream.Progress(); }

}  // namespace espalier
