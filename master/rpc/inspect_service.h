// InspectService: reads on the event loop's thread and converts.
#pragma once

#include <functional>

#include "espalier/v1/inspect.grpc.pb.h"
#include "master/core/views/state_reader.h"
#include "master/rpc/callers.h"
#include "master/rpc/master_port.h"

namespace espalier::master {

class InspectService final : public v1::InspectService::Service {
 public:
  InspectService(MasterPort& master, const Callers& callers) : master_(master), callers_(callers) {}

  grpc::Status ListTrainers(grpc::ServerContext* context, const v1::ListTrainersRequest* request,
                            v1::ListTrainersResponse* response) override;
  grpc::Status ListServers(grpc::ServerContext* context, const v1::ListServersRequest* request,
                           v1::ListServersResponse* response) override;
  grpc::Status ListStudies(grpc::ServerContext* context, const v1::ListStudiesRequest* request,
                           v1::ListStudiesResponse* response) override;
  grpc::Status GetStudy(grpc::ServerContext* context, const v1::GetStudyRequest* request,
                        v1::GetStudyResponse* response) override;
  grpc::Status ListTrials(grpc::ServerContext* context, const v1::ListTrialsRequest* request,
                          v1::ListTrialsResponse* response) override;
  grpc::Status GetTrial(grpc::ServerContext* context, const v1::GetTrialRequest* request,
                        v1::GetTrialResponse* response) override;
  grpc::Status GetPlan(grpc::ServerContext* context, const v1::GetPlanRequest* request,
                       v1::GetPlanResponse* response) override;
  grpc::Status ExplainStage(grpc::ServerContext* context, const v1::ExplainStageRequest* request,
                            v1::ExplainStageResponse* response) override;
  grpc::Status Forecast(grpc::ServerContext* context, const v1::ForecastRequest* request,
                        v1::ForecastResponse* response) override;

 private:
  using Look = std::function<Result<void>(const MasterState& state, const Caller& caller)>;

  // What the caller is answered: who calls must be known, the state be read, and `look` find what it is to show.
  grpc::Status ReadFor(const Result<Caller>& caller, const Look& look);

  // For what is looked at in turns.
  StateReader Reader();

  MasterPort& master_;
  const Callers& callers_;
};

}  // namespace espalier::master
