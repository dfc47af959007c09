#include "master/rpc/inspect_service.h"

#include <algorithm>

#include "base/clock.h"
#include "master/rpc/convert.h"
#include "master/rpc/grpc_status.h"

namespace espalier {
namespace {

constexpr std::int32_t kTrialsAPageMax = 1000;

// The status of a read whose own outcome is `found`.
grpc::Status Outcome(const Result<void>& read, const Result<void>& found) {
  if (!read.has_value()) return ToStatus(read.error());
  return found.has_value() ? grpc::Status::OK : ToStatus(found.error());
}

}  // namespace

grpc::Status InspectService::ListTrainers(grpc::ServerContext* context, const v1::ListTrainersRequest*,
                                          v1::ListTrainersResponse* response) {
  const Result<Caller> caller = callers_.Member(*context);
  if (!caller.has_value()) return ToStatus(caller.error());
  const auto read = master_.Read([&](const MasterState& state) {
    for (const auto& [key, trainer] : state.trainers) *response->add_trainers() = ToProto(trainer);
  });
  return Outcome(read, {});
}

grpc::Status InspectService::ListServers(grpc::ServerContext* context, const v1::ListServersRequest*,
                                         v1::ListServersResponse* response) {
  const Result<Caller> caller = callers_.Member(*context);
  if (!caller.has_value()) return ToStatus(caller.error());
  const auto read = master_.Read([&](const MasterState& state) {
    for (const auto& [name, server] : state.servers) {
      v1::Server& message = *response->add_servers();
      message.set_name(name);
      message.set_connected(server.session.has_value());
      message.set_slot_count(server.slot_count);
      message.set_device_kind(server.device_kind);
      for (const RunId id : state.active_runs) {
        const Run& run = state.runs.at(id);
        if (run.slot.server != name || run.state != RunState::kTraining) continue;
        message.set_busy_slot_count(message.busy_slot_count() + 1);
        if (IsForTeam(state, run, caller->team)) message.add_running_run_ids(id.value);
      }
    }
  });
  return Outcome(read, {});
}

grpc::Status InspectService::ListStudies(grpc::ServerContext* context, const v1::ListStudiesRequest*,
                                         v1::ListStudiesResponse* response) {
  const Result<Caller> caller = callers_.Member(*context);
  if (!caller.has_value()) return ToStatus(caller.error());
  const auto read = master_.Read([&](const MasterState& state) {
    for (auto it = state.studies.rbegin(); it != state.studies.rend(); ++it) {
      if (!MaySee(*caller, it->second)) continue;
      *response->add_studies() = ToProto(Summarize(state, it->first, Now()), it->second);
    }
  });
  return Outcome(read, {});
}

grpc::Status InspectService::GetStudy(grpc::ServerContext* context, const v1::GetStudyRequest* request,
                                      v1::GetStudyResponse* response) {
  const Result<Caller> caller = callers_.Member(*context);
  if (!caller.has_value()) return ToStatus(caller.error());
  Result<void> found;
  const auto read = master_.Read([&](const MasterState& state) {
    const StudyId id{request->study_id()};
    const auto study =
        id == StudyId{0} ? FindStudyNamed(state, request->name(), *caller) : FindStudy(state, id, *caller);
    if (study.has_value()) {
      *response->mutable_study() = ToProto(Summarize(state, (*study)->id, Now()), **study);
    } else {
      found = tl::unexpected(study.error());
    }
  });
  return Outcome(read, found);
}

grpc::Status InspectService::ListTrials(grpc::ServerContext* context, const v1::ListTrialsRequest* request,
                                        v1::ListTrialsResponse* response) {
  const Result<Caller> caller = callers_.Member(*context);
  if (!caller.has_value()) return ToStatus(caller.error());
  Result<void> found;
  const auto read = master_.Read([&](const MasterState& state) {
    const StudyId id{request->study_id()};
    const auto study =
        id == StudyId{0} ? FindStudyNamed(state, request->study_name(), *caller) : FindStudy(state, id, *caller);
    if (!study.has_value()) {
      found = tl::unexpected(study.error());
      return;
    }
    TrialQuery query = FromProto(*request, (*study)->id);
    query.count_max = static_cast<std::size_t>(
        request->page_size() < 1 ? kTrialsAPageMax : std::min(request->page_size(), kTrialsAPageMax));
    const Result<TrialPage> page = espalier::ListTrials(state, query);
    if (!page.has_value()) {
      found = tl::unexpected(page.error());
      return;
    }
    for (const TrialSummary& summary : page->trials) {
      *response->add_trials() = ToProto(summary, state.trials.at(summary.id));
    }
    response->set_next_page_token(page->next_token);
  });
  return Outcome(read, found);
}

grpc::Status InspectService::GetTrial(grpc::ServerContext* context, const v1::GetTrialRequest* request,
                                      v1::GetTrialResponse* response) {
  const Result<Caller> caller = callers_.Member(*context);
  if (!caller.has_value()) return ToStatus(caller.error());
  Result<void> found;
  const auto read = master_.Read([&](const MasterState& state) {
    const Result<const Trial*> trial = FindTrial(state, TrialId{request->trial_id()}, *caller);
    if (!trial.has_value()) {
      found = tl::unexpected(trial.error());
      return;
    }
    *response->mutable_trial() = ToProto(SummarizeTrial(state, (*trial)->id), **trial);
    for (const TrialEvaluation& each : MetricsOnLineage(state, (*trial)->id)) {
      *response->add_metrics() = ToProto(each);
    }
  });
  return Outcome(read, found);
}

grpc::Status InspectService::GetPlan(grpc::ServerContext* context, const v1::GetPlanRequest* request,
                                     v1::GetPlanResponse* response) {
  const Result<Caller> caller = callers_.Member(*context);
  if (!caller.has_value()) return ToStatus(caller.error());
  Result<void> found;
  const auto read = master_.Read([&](const MasterState& state) {
    const auto study = FindStudy(state, StudyId{request->study_id()}, *caller);
    if (!study.has_value()) {
      found = tl::unexpected(study.error());
      return;
    }
    for (const PlanNodeView& view : ViewPlan(state, (*study)->id)) *response->add_nodes() = ToProto(view);
  });
  return Outcome(read, found);
}

grpc::Status InspectService::Forecast(grpc::ServerContext* context, const v1::ForecastRequest* request,
                                      v1::ForecastResponse* response) {
  const Result<Caller> caller = callers_.Member(*context);
  if (!caller.has_value()) return ToStatus(caller.error());
  std::vector<ForecastStudy> studies;
  for (const v1::ForecastStudy& part : request->studies()) {
    auto specification = FromProto(part.study());
    if (!specification.has_value()) return ToStatus(specification.error());
    ForecastStudy study{.specification = std::move(*specification)};
    for (const v1::NewTrial& trial : part.trials()) study.trials.push_back(FromProto(trial));
    studies.push_back(std::move(study));
  }
  Result<void> found;
  const auto read = master_.Read([&](const MasterState& state) {
    const auto forecast = ForecastStudies(state, studies, caller->team);
    if (forecast.has_value()) {
      *response = ToProto(*forecast);
    } else {
      found = tl::unexpected(forecast.error());
    }
  });
  return Outcome(read, found);
}

}  // namespace espalier
