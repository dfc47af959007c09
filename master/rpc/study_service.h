// StudyService: parses, posts the event, waits, answers. Decides nothing.
#pragma once

#include "espalier/v1/study.grpc.pb.h"
#include "master/rpc/callers.h"
#include "master/rpc/master_port.h"
#include "master/rpc/pending_calls.h"
#include "master/rpc/study_watch.h"

namespace espalier::master {

class StudyService final : public v1::StudyService::Service {
 public:
  StudyService(MasterPort& master, PendingCalls& calls, StudyWatch& watch, const Callers& callers)
      : master_(master), calls_(calls), watch_(watch), callers_(callers) {}

  grpc::Status CreateStudy(grpc::ServerContext* context, const v1::CreateStudyRequest* request,
                           v1::CreateStudyResponse* response) override;
  grpc::Status Submit(grpc::ServerContext* context, const v1::SubmitRequest* request,
                      v1::SubmitResponse* response) override;
  grpc::Status CancelStudy(grpc::ServerContext* context, const v1::CancelStudyRequest* request,
                           v1::CancelStudyResponse* response) override;
  grpc::Status ContinueTrial(grpc::ServerContext* context, const v1::ContinueTrialRequest* request,
                             v1::ContinueTrialResponse* response) override;
  grpc::Status RetryStage(grpc::ServerContext* context, const v1::RetryStageRequest* request,
                          v1::RetryStageResponse* response) override;
  grpc::Status Watch(grpc::ServerContext* context, const v1::WatchRequest* request,
                     grpc::ServerWriter<v1::WatchResponse>* writer) override;

 private:
  // Posts what the caller asks for and waits for the answer.
  template <class Request, class What>
  Answer Ask(const Caller& caller, const Request& request, What what);

  MasterPort& master_;
  PendingCalls& calls_;
  StudyWatch& watch_;
  const Callers& callers_;
};

}  // namespace espalier::master
