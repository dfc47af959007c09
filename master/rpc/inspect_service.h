// InspectService: reads on the event loop's thread and converts.
#pragma once

#include <functional>

#include "espalier/v1/inspect.pb.h"
#include "master/core/views/state_reader.h"
#include "master/rpc/guarded_service.h"
#include "master/rpc/master_port.h"

namespace espalier::master {

class InspectService final : public GuardedService {
 public:
  InspectService(MasterPort& master, const Callers& callers);

 private:
  Result<void> ListTrainers(const Caller& caller, const v1::ListTrainersRequest& request,
                            v1::ListTrainersResponse& response);
  Result<void> ListServers(const Caller& caller, const v1::ListServersRequest& request,
                           v1::ListServersResponse& response);
  Result<void> ListStudies(const Caller& caller, const v1::ListStudiesRequest& request,
                           v1::ListStudiesResponse& response);
  Result<void> GetStudy(const Caller& caller, const v1::GetStudyRequest& request, v1::GetStudyResponse& response);
  Result<void> ListTrials(const Caller& caller, const v1::ListTrialsRequest& request, v1::ListTrialsResponse& response);
  Result<void> GetTrial(const Caller& caller, const v1::GetTrialRequest& request, v1::GetTrialResponse& response);
  Result<void> GetPlan(const Caller& caller, const v1::GetPlanRequest& request, v1::GetPlanResponse& response);
  Result<void> ExplainStage(const Caller& caller, const v1::ExplainStageRequest& request,
                            v1::ExplainStageResponse& response);
  Result<void> Forecast(const Caller& caller, const v1::ForecastRequest& request, v1::ForecastResponse& response);

  using Look = std::function<Result<void>(const MasterState& state)>;

  // Error: when the state cannot be read; else `look`'s.
  Result<void> Read(const Look& look);

  // For what is looked at in turns.
  StateReader Reader();

  MasterPort& master_;
};

}  // namespace espalier::master
