#include "client/submit.h"

#include "client/convert.h"
#include "client/tuners/batch_cut.h"

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

Result<void> Add(const Batch& part, const v1::SubmitResponse& response, BatchIds& ids) {
  std::size_t claims = part.claims.size();
  for (const tuners::StartTrial& trial : part.new_trials) claims += 1 + trial.more.size();
  const auto trial_count = static_cast<std::size_t>(response.trial_ids_size());
  const auto claim_count = static_cast<std::size_t>(response.claim_ids_size());
  if (trial_count != part.new_trials.size() || claim_count != claims) {
    return MakeError(ErrorCode::kInternal, "the server answered with " + std::to_string(trial_count) + " trials and " +
                                               std::to_string(claim_count) + " claims, which are not those asked for");
  }
  for (const std::int64_t trial : response.trial_ids()) ids.trials.push_back(TrialId{trial});
  for (const std::int64_t claim : response.claim_ids()) ids.claims.push_back(ClaimId{claim});
  return {};
}

}  // namespace

Result<BatchIds> Submit(StudyPort& port, StudyId study, const Batch& batch, const std::string& request_id,
                        std::optional<std::int64_t> number) {
  const std::vector<Batch> parts = CutBatch(batch);
  BatchIds ids;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    v1::SubmitRequest request =
        ToRequest(parts[i], study, parts.size() == 1 ? request_id : request_id + "/" + std::to_string(i));
    if (number && i + 1 == parts.size()) request.set_tuner_batch(*number);
    const Result<v1::SubmitResponse> response = port.Submit(request);
    if (!response.has_value()) return tl::unexpected<Error>(InWholeBatch(response.error(), parts, i));
    ESPALIER_RETURN_IF_ERROR(Add(parts[i], *response, ids));
  }
  return ids;
}

}  // namespace espalier
