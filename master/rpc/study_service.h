// StudyService: parses, posts the event, waits, answers. Decides nothing. Any member may call; effect, errors and cost
// of each call are its handler's (core/calls/study_calls.h), behind those of parsing: kInvalidArgument with the field.
#pragma once

#include "espalier/v1/study.pb.h"
#include "master/rpc/guarded_service.h"
#include "master/rpc/limits.h"
#include "master/rpc/master_port.h"
#include "master/rpc/pending_calls.h"
#include "master/rpc/stream_places.h"
#include "master/rpc/study_watch.h"
#include "master/rpc/tuned_studies.h"

namespace espalier::master {

class StudyService final : public GuardedService {
 public:
  StudyService(MasterPort& master, PendingCalls& calls, StudyWatch& watch, TunedStudies& tuned, const Callers& callers);

 private:
  Result<void> CreateStudy(const Caller& caller, const v1::CreateStudyRequest& request,
                           v1::CreateStudyResponse& response);
  Result<void> PutArchive(const Caller& caller, const v1::PutArchiveRequest& request, v1::PutArchiveResponse& response);
  Result<void> DescribeTrainer(const Caller& caller, const v1::DescribeTrainerRequest& request,
                               v1::DescribeTrainerResponse& response);
  Result<void> Submit(const Caller& caller, const v1::SubmitRequest& request, v1::SubmitResponse& response);
  Result<void> PinStudy(const Caller& caller, const v1::PinStudyRequest& request, v1::PinStudyResponse& response);
  Result<void> WeighStudy(const Caller& caller, const v1::WeighStudyRequest& request, v1::WeighStudyResponse& response);
  Result<void> CancelStudy(const Caller& caller, const v1::CancelStudyRequest& request,
                           v1::CancelStudyResponse& response);
  Result<void> ContinueTrial(const Caller& caller, const v1::ContinueTrialRequest& request,
                             v1::ContinueTrialResponse& response);
  Result<void> RetryStage(const Caller& caller, const v1::RetryStageRequest& request, v1::RetryStageResponse& response);
  // Errors of both: kResourceExhausted over kWatchesPerUserMax; then those of the streams.
  Result<std::unique_ptr<StreamServer>> Watch(StreamCall& call, const Caller& caller);
  Result<std::unique_ptr<StreamServer>> WatchStudies(StreamCall& call, const Caller& caller);

  // Posts what the caller asks for and waits for the answer.
  template <class Reply, class Request, class What>
  Result<Reply> Ask(const Caller& caller, const Request& request, What what);

  MasterPort& master_;
  PendingCalls& calls_;
  StudyWatch& watch_;
  TunedStudies& tuned_;
  StreamPlaces watches_{"watches", kWatchesPerUserMax};
};

}  // namespace espalier::master
