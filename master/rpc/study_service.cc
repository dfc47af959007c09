#include "master/rpc/study_service.h"

#include "espalier/v1/study.grpc.pb.h"
#include "master/rpc/batch_size.h"
#include "master/rpc/convert.h"
#include "master/rpc/one_study_stream.h"
#include "master/rpc/studies_stream.h"

namespace espalier::master {
namespace {

Result<Caller> AsHimself(const MasterState&, StudyId, const Caller& caller) { return caller; }

}  // namespace

StudyService::StudyService(MasterPort& master, PendingCalls& calls, StudyWatch& watch, TunedStudies& tuned,
                           const Callers& callers)
    : GuardedService(v1::StudyService::service_full_name(), callers),
      master_(master),
      calls_(calls),
      watch_(watch),
      tuned_(tuned) {
  Serve("CreateStudy", &Callers::Member, &StudyService::CreateStudy);
  Serve("PutArchive", &Callers::Member, &StudyService::PutArchive);
  Serve("DescribeTrainer", &Callers::Member, &StudyService::DescribeTrainer);
  Serve("Submit", &Callers::Member, &StudyService::Submit);
  Serve("CancelStudy", &Callers::Member, &StudyService::CancelStudy);
  Serve("PinStudy", &Callers::Member, &StudyService::PinStudy);
  Serve("WeighStudy", &Callers::Member, &StudyService::WeighStudy);
  Serve("ContinueTrial", &Callers::Member, &StudyService::ContinueTrial);
  Serve("RetryStage", &Callers::Member, &StudyService::RetryStage);
  ServeStreams("Watch", &Callers::Member, &StudyService::Watch);
  ServeStreams("WatchStudies", &Callers::Member, &StudyService::WatchStudies);
}

template <class Reply, class Request, class What>
Result<Reply> StudyService::Ask(const Caller& caller, const Request& request, What what) {
  return calls_.Ask<Reply>(master_, {.caller = caller, .request_id = request.request_id(), .what = std::move(what)});
}

Result<void> StudyService::CreateStudy(const Caller& caller, const v1::CreateStudyRequest& request,
                                       v1::CreateStudyResponse& response) {
  ESPALIER_ASSIGN(StudySpecification specification, FromProto(request.study()));
  ESPALIER_ASSIGN(const StudyCreated created,
                  Ask<StudyCreated>(caller, request, master::CreateStudy{std::move(specification)}));
  response.set_study_id(created.study.value);
  response.set_attached(created.attached);
  return {};
}

Result<void> StudyService::PutArchive(const Caller& caller, const v1::PutArchiveRequest& request,
                                      v1::PutArchiveResponse&) {
  ESPALIER_RETURN_IF_ERROR(Ask<ArchivePut>(caller, request, master::PutArchive{request.archive()}));
  return {};
}

Result<void> StudyService::DescribeTrainer(const Caller& caller, const v1::DescribeTrainerRequest& request,
                                           v1::DescribeTrainerResponse& response) {
  TrainerReference reference = FromProto(request.reference());
  reference.user = caller.user;
  reference.team = caller.team;
  ESPALIER_ASSIGN(const TrainerAsked asked,
                  Ask<TrainerAsked>(caller, request, master::DescribeTrainer{std::move(reference)}));
  response.set_reference_digest(ToHex(asked.reference));
  return {};
}

Result<void> StudyService::Submit(const Caller& caller, const v1::SubmitRequest& request,
                                  v1::SubmitResponse& response) {
  SubmitBatch batch = FromProto(request);
  ESPALIER_RETURN_IF_ERROR(CheckBatchSize(batch));
  ESPALIER_ASSIGN(const Submitted submitted, Ask<Submitted>(caller, request, std::move(batch)));
  for (const TrialId trial : submitted.trials) response.add_trial_ids(trial.value);
  for (const ClaimId claim : submitted.claims) response.add_claim_ids(claim.value);
  return {};
}

Result<void> StudyService::CancelStudy(const Caller& caller, const v1::CancelStudyRequest& request,
                                       v1::CancelStudyResponse&) {
  ESPALIER_RETURN_IF_ERROR(Ask<StudyCancelled>(caller, request, master::CancelStudy{StudyId{request.study_id()}}));
  return {};
}

Result<void> StudyService::PinStudy(const Caller& caller, const v1::PinStudyRequest& request, v1::PinStudyResponse&) {
  if (request.keep() == v1::KEEP_UNSPECIFIED) {
    return MakeError(ErrorCode::kInvalidArgument, "expected best, all, claimed or none", "keep");
  }
  ESPALIER_ASSIGN(const Keep keep, FromProto(request.keep()));
  ESPALIER_RETURN_IF_ERROR(Ask<StudyPinned>(caller, request, master::PinStudy{StudyId{request.study_id()}, keep}));
  return {};
}

Result<void> StudyService::WeighStudy(const Caller& caller, const v1::WeighStudyRequest& request,
                                      v1::WeighStudyResponse&) {
  const master::WeighStudy weigh{StudyId{request.study_id()}, request.weight()};
  ESPALIER_RETURN_IF_ERROR(Ask<WeightSet>(caller, request, weigh));
  return {};
}

Result<void> StudyService::ContinueTrial(const Caller& caller, const v1::ContinueTrialRequest& request,
                                         v1::ContinueTrialResponse& response) {
  ESPALIER_ASSIGN(const TrialContinued continued, Ask<TrialContinued>(caller, request, FromProto(request)));
  response.set_study_id(continued.study.value);
  for (const TrialId trial : continued.trials) response.add_trial_ids(trial.value);
  for (const ClaimId claim : continued.claims) response.add_claim_ids(claim.value);
  return {};
}

Result<void> StudyService::RetryStage(const Caller& caller, const v1::RetryStageRequest& request,
                                      v1::RetryStageResponse& response) {
  const Point point{PlanNodeId{request.plan_node_id()}, Step{request.step()}};
  ESPALIER_ASSIGN(const StageRetried retried, Ask<StageRetried>(caller, request, master::RetryStage{point}));
  for (const TrialId trial : retried.trials) response.add_trial_ids(trial.value);
  response.set_other_count(retried.other_count);
  return {};
}

Result<std::unique_ptr<StreamServer>> StudyService::Watch(StreamCall& call, const Caller& caller) {
  ESPALIER_ASSIGN(StreamPlaces::Place place, watches_.Take(caller.user));
  return std::make_unique<OneStudyStream>(watch_, tuned_, call, std::move(place), AsHimself);
}

Result<std::unique_ptr<StreamServer>> StudyService::WatchStudies(StreamCall& call, const Caller& caller) {
  ESPALIER_ASSIGN(StreamPlaces::Place place, watches_.Take(caller.user));
  return std::make_unique<StudiesStream>(watch_, call, std::move(place), AsHimself);
}

}  // namespace espalier::master
