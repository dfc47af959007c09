#include "master/rpc/inspect_service.h"

#include <algorithm>

#include "base/clock.h"
#include "master/core/views/makespan_bound.h"
#include "master/core/views/study_part.h"
#include "master/rpc/convert.h"
#include "master/rpc/grpc_status.h"

namespace espalier::master {
namespace {

constexpr std::int32_t kPageMax = 1000;

std::size_t PageSize(std::int32_t asked) {
  return static_cast<std::size_t>(asked < 1 ? kPageMax : std::min(asked, kPageMax));
}

}  // namespace

grpc::Status InspectService::ReadFor(const Result<Caller>& caller, const Look& look) {
  if (!caller.has_value()) return ToStatus(caller.error());
  Result<void> seen;
  const Result<void> read = master_.Read([&](const MasterState& state) { seen = look(state, *caller); });
  if (!read.has_value()) return ToStatus(read.error());
  return seen.has_value() ? grpc::Status::OK : ToStatus(seen.error());
}

StateReader InspectService::Reader() {
  return [this](const auto& look) { return master_.Read(look); };
}

grpc::Status InspectService::ListTrainers(grpc::ServerContext* context, const v1::ListTrainersRequest*,
                                          v1::ListTrainersResponse* response) {
  return ReadFor(callers_.Member(*context), [&](const MasterState& state, const Caller&) -> Result<void> {
    std::map<std::pair<std::string, std::string>, const KnownOffer*> newest;  // by trainer and data
    for (const auto& [digest, known] : state.offers) {
      const KnownOffer*& shown = newest[{known.offer.trainer, known.offer.data}];
      if (shown == nullptr || known.first_seen > shown->first_seen) shown = &known;
    }
    for (const auto& [key, known] : newest) *response->add_trainers() = ToProto(known->offer);
    return {};
  });
}

grpc::Status InspectService::ListServers(grpc::ServerContext* context, const v1::ListServersRequest*,
                                         v1::ListServersResponse* response) {
  return ReadFor(callers_.Member(*context), [&](const MasterState& state, const Caller& caller) -> Result<void> {
    for (const auto& [name, server] : state.servers) {
      v1::Server& message = *response->add_servers();
      message.set_name(name);
      message.set_connected(server.session.has_value());
      message.set_slot_count(server.slot_count);
      message.set_device_kind(server.device_kind);
      for (const RunId id : ActiveRunsOf(state, name)) {
        const Run& run = state.runs.at(id);
        if (!run.training()) continue;
        message.set_busy_slot_count(message.busy_slot_count() + 1);
        if (IsForTeam(state, run, caller.team)) message.add_running_run_ids(id.value);
      }
    }
    return {};
  });
}

grpc::Status InspectService::ListStudies(grpc::ServerContext* context, const v1::ListStudiesRequest* request,
                                         v1::ListStudiesResponse* response) {
  return ReadFor(callers_.Member(*context), [&](const MasterState& state, const Caller& caller) -> Result<void> {
    StudyQuery query = FromProto(*request);
    query.count_max = PageSize(request->page_size());
    ESPALIER_ASSIGN(const StudyPage page, master::ListStudies(state, query, caller, Now()));
    for (const StudyListing& listing : page.studies) {
      *response->add_studies() = ToProto(listing, state.studies.at(listing.id));
    }
    response->set_next_page_token(page.next_token);
    return {};
  });
}

grpc::Status InspectService::GetStudy(grpc::ServerContext* context, const v1::GetStudyRequest* request,
                                      v1::GetStudyResponse* response) {
  StudyId finished;
  const grpc::Status seen =
      ReadFor(callers_.Member(*context), [&](const MasterState& state, const Caller& caller) -> Result<void> {
        const StudyId id{request->study_id()};
        ESPALIER_ASSIGN(const Study* study, id == StudyId{0} ? FindStudyNamed(state, request->name(), caller)
                                                             : FindStudy(state, id, caller));
        *response->mutable_study() = ToProto(Summarize(state, study->id, Now()), *study);
        if (study->finished_at) finished = study->id;
        return {};
      });
  if (!seen.ok() || finished == StudyId{0}) return seen;
  const Result<MasterState> part = CopyStudy(Reader(), finished);
  if (!part.has_value()) return ToStatus(part.error());
  const Seconds bound = MakespanBound(*part, part->studies.at(finished));
  response->mutable_study()->set_makespan_bound_seconds(bound.count());
  return grpc::Status::OK;
}

grpc::Status InspectService::ListTrials(grpc::ServerContext* context, const v1::ListTrialsRequest* request,
                                        v1::ListTrialsResponse* response) {
  return ReadFor(callers_.Member(*context), [&](const MasterState& state, const Caller& caller) -> Result<void> {
    const StudyId id{request->study_id()};
    ESPALIER_ASSIGN(const Study* study, id == StudyId{0} ? FindStudyNamed(state, request->study_name(), caller)
                                                         : FindStudy(state, id, caller));
    TrialQuery query = FromProto(*request, study->id);
    query.count_max = PageSize(request->page_size());
    ESPALIER_ASSIGN(const TrialPage page, master::ListTrials(state, query));
    for (const TrialSummary& summary : page.trials) {
      *response->add_trials() = ToProto(summary, state.trials.at(summary.id));
    }
    response->set_next_page_token(page.next_token);
    return {};
  });
}

grpc::Status InspectService::GetTrial(grpc::ServerContext* context, const v1::GetTrialRequest* request,
                                      v1::GetTrialResponse* response) {
  return ReadFor(callers_.Member(*context), [&](const MasterState& state, const Caller& caller) -> Result<void> {
    ESPALIER_ASSIGN(const Trial* trial, FindTrial(state, TrialId{request->trial_id()}, caller));
    *response->mutable_trial() = ToProto(SummarizeTrial(state, trial->id), *trial);
    for (const TrialEvaluation& each : MetricsOnLineage(state, trial->id)) {
      *response->add_metrics() = ToProto(each);
    }
    return {};
  });
}

grpc::Status InspectService::GetPlan(grpc::ServerContext* context, const v1::GetPlanRequest* request,
                                     v1::GetPlanResponse* response) {
  const StudyId id{request->study_id()};
  const grpc::Status found =
      ReadFor(callers_.Member(*context), [&](const MasterState& state, const Caller& caller) -> Result<void> {
        ESPALIER_RETURN_IF_ERROR(FindStudy(state, id, caller));
        return {};
      });
  if (!found.ok()) return found;
  const Result<MasterState> part = CopyStudy(Reader(), id);
  if (!part.has_value()) return ToStatus(part.error());
  for (const PlanNodeView& view : ViewPlan(*part, id)) *response->add_nodes() = ToProto(view);
  return grpc::Status::OK;
}

grpc::Status InspectService::ExplainStage(grpc::ServerContext* context, const v1::ExplainStageRequest* request,
                                          v1::ExplainStageResponse* response) {
  return ReadFor(callers_.Member(*context), [&](const MasterState& state, const Caller& caller) -> Result<void> {
    const auto explain = [&]() -> Result<ExplainedStage> {
      if (request->has_run_id()) return ExplainRun(state, RunId{request->run_id()}, caller, Now());
      if (request->has_point()) return master::ExplainStage(state, FromProto(request->point()), caller, Now());
      return MakeError(ErrorCode::kInvalidArgument, "expected a point or a run", "stage");
    };
    ESPALIER_ASSIGN(const ExplainedStage explained, explain());
    *response = ToProto(explained);
    return {};
  });
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
  const auto forecast = ForecastStudies(Reader(), studies, caller->team);
  if (!forecast.has_value()) return ToStatus(forecast.error());
  *response = ToProto(*forecast);
  return grpc::Status::OK;
}

}  // namespace espalier::master
