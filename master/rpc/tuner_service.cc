#include "master/rpc/tuner_service.h"

#include <algorithm>
#include <set>

#include "espalier/v1/tuner.grpc.pb.h"
#include "master/rpc/batch_size.h"
#include "master/rpc/convert.h"
#include "master/rpc/one_study_stream.h"

namespace espalier::master {
namespace {

// Whose study it is. Error: kNotFound when there is none with a built-in tuner.
Result<Caller> OwnerOf(const MasterState& state, StudyId id) {
  const auto study = state.studies.find(id);
  if (study == state.studies.end() || study->second.specification.tuner.empty()) {
    return MakeError(ErrorCode::kNotFound, "no study " + std::to_string(id.value) + " of a built-in tuner");
  }
  return Caller{.user = study->second.user, .team = study->second.team};
}

}  // namespace

TunerService::TunerService(MasterPort& master, PendingCalls& calls, StudyWatch& watch, TunedStudies& tuned,
                           const Callers& callers)
    : GuardedService(v1::TunerService::service_full_name(), callers),
      master_(master),
      calls_(calls),
      watch_(watch),
      tuned_(tuned) {
  Serve("FindStudy", &Callers::TunerHost, &TunerService::FindStudy);
  Serve("Submit", &Callers::TunerHost, &TunerService::Submit);
  ServeStreams("Watch", &Callers::TunerHost, &TunerService::Watch);
}

Result<void> TunerService::FindStudy(const Caller&, const v1::FindStudyRequest& request,
                                     v1::FindStudyResponse& response) {
  if (request.except_study_ids_size() > kExceptStudiesMax) {
    return MakeError(ErrorCode::kResourceExhausted, "expected at most " + std::to_string(kExceptStudiesMax),
                     "except_study_ids");
  }
  std::set<StudyId> except = tuned_.All();
  for (const std::int64_t study : request.except_study_ids()) except.insert(StudyId{study});
  return master_.Read([&](const MasterState& state) {
    const std::set<StudyId>& tuned = state.index.tuned_studies;
    const auto found = std::find_if(tuned.begin(), tuned.end(), [&](StudyId study) { return !except.contains(study); });
    if (found == tuned.end()) return;
    response.set_study_id(found->value);
    response.set_definition(state.studies.at(*found).specification.definition);
  });
}

Result<void> TunerService::Submit(const Caller&, const v1::SubmitRequest& request, v1::SubmitResponse& response) {
  Result<Caller> user;
  ESPALIER_RETURN_IF_ERROR(
      master_.Read([&](const MasterState& state) { user = OwnerOf(state, StudyId{request.study_id()}); }));
  ESPALIER_RETURN_IF_ERROR(user);
  if (!request.request_id().starts_with(std::to_string(request.study_id()) + "/")) {
    return MakeError(ErrorCode::kInvalidArgument, "expected the study's id, / and the batch's number", "request_id");
  }
  SubmitBatch batch = FromProto(request);
  ESPALIER_RETURN_IF_ERROR(CheckBatchSize(batch));
  ESPALIER_ASSIGN(
      const Submitted submitted,
      calls_.Ask<Submitted>(master_, {.caller = *user, .request_id = request.request_id(), .what = std::move(batch)}));
  for (const TrialId trial : submitted.trials) response.add_trial_ids(trial.value);
  for (const ClaimId claim : submitted.claims) response.add_claim_ids(claim.value);
  return {};
}

Result<std::unique_ptr<StreamServer>> TunerService::Watch(StreamCall& call, const Caller& caller) {
  ESPALIER_ASSIGN(StreamPlaces::Place place, watches_.Take(caller.user));
  return std::make_unique<OneStudyStream>(
      watch_, tuned_, call, std::move(place),
      [](const MasterState& state, StudyId study, const Caller&) { return OwnerOf(state, study); });
}

}  // namespace espalier::master
