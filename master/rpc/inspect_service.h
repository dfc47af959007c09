// InspectService: reads on the event loop's thread and converts. Any member may call; what a caller may see is
// state/visibility.h's to say. Costs are those on the loop, where everybody else waits; converting happens beside it.
#pragma once

#include <functional>
#include <string>

#include "espalier/v1/inspect.pb.h"
#include "master/core/master_facts.h"
#include "master/core/side_stores.h"
#include "master/core/views/state_reader.h"
#include "master/rpc/guarded_service.h"
#include "master/rpc/master_port.h"
#include "master/rpc/past_studies.h"
#include "master/rpc/reading.h"

namespace espalier::master {

class InspectService final : public GuardedService {
 public:
  InspectService(MasterPort& master, PastStudies& pasts, const SideStores& stores, MasterFacts facts,
                 const Callers& callers);

 private:
  // O(offers ever registered).
  Result<void> ListTrainers(const Caller& caller, const v1::ListTrainersRequest& request,
                            v1::ListTrainersResponse& response);
  // As views/trainer_standing.h says.
  Result<void> GetTrainer(const Caller& caller, const v1::GetTrainerRequest& request, v1::GetTrainerResponse& response);
  // O(servers + drains + runs under way).
  Result<void> ListServers(const Caller& caller, const v1::ListServersRequest& request,
                           v1::ListServersResponse& response);
  // O(1); the database is asked beside the loop.
  Result<void> GetMaster(const Caller& caller, const v1::GetMasterRequest& request, v1::GetMasterResponse& response);
  // O(policies).
  Result<void> GetPolicy(const Caller& caller, const v1::GetPolicyRequest& request, v1::GetPolicyResponse& response);
  // O(the page, and studies up to its last that are not wanted); the best first: O(studies x log studies).
  Result<void> ListStudies(const Caller& caller, const v1::ListStudiesRequest& request,
                           v1::ListStudiesResponse& response);
  // O(runs under way); of a finished study, in turns as study_part.h says.
  Result<void> GetStudy(const Caller& caller, const v1::GetStudyRequest& request, v1::GetStudyResponse& response);
  // As views/list_trials.h says: the page.
  Result<void> ListTrials(const Caller& caller, const v1::ListTrialsRequest& request, v1::ListTrialsResponse& response);
  // O(claims of the trial + depth + results on its lineage).
  Result<void> GetTrial(const Caller& caller, const v1::GetTrialRequest& request, v1::GetTrialResponse& response);
  // O(claims of the trial + depth); what was printed is read beside the loop.
  Result<void> GetTrialOutput(const Caller& caller, const v1::GetTrialOutputRequest& request,
                              v1::GetTrialOutputResponse& response);
  Result<void> GetTrainingMetrics(const Caller& caller, const v1::GetTrainingMetricsRequest& request,
                                  v1::GetTrainingMetricsResponse& response);
  // As views/list_runs.h says: the page.
  Result<void> ListRuns(const Caller& caller, const v1::ListRunsRequest& request, v1::ListRunsResponse& response);
  // O(the page).
  Result<void> ListEvents(const Caller& caller, const v1::ListEventsRequest& request, v1::ListEventsResponse& response);
  // In turns, as study_part.h says.
  Result<void> GetPlan(const Caller& caller, const v1::GetPlanRequest& request, v1::GetPlanResponse& response);
  // As views/explain_stage.h says.
  Result<void> ExplainStage(const Caller& caller, const v1::ExplainStageRequest& request,
                            v1::ExplainStageResponse& response);
  // In turns, as views/forecast.h says.
  Result<void> Forecast(const Caller& caller, const v1::ForecastRequest& request, v1::ForecastResponse& response);

  // As LookAtState does.
  Result<void> Read(const Look& look);

  // For what is looked at in turns.
  StateReader Reader();

  MasterPort& master_;
  PastStudies& pasts_;
  const MasterFacts facts_;
  DatabaseProbe& database_;
  OutputStore& outputs_;
  SeriesStore& series_;
};

}  // namespace espalier::master
