#include "master/rpc/inspect_service.h"

#include <algorithm>

#include "base/clock.h"
#include "master/rpc/convert.h"
#include "master/rpc/grpc_status.h"
#include "master/rpc/identity.h"

namespace espalier {
namespace {

constexpr std::int32_t kTrialsAPageMax = 1000;

Error NoStudy(const std::string& which) { return {ErrorCode::kNotFound, "no study " + which, "study_id"}; }

const Study* FindStudy(const MasterState& state, StudyId id) {
  const auto study = state.studies.find(id);
  return study != state.studies.end() && study->second.user == kLocalUser ? &study->second : nullptr;
}

const Study* NewestOfName(const MasterState& state, const std::string& name) {
  for (auto it = state.studies.rbegin(); it != state.studies.rend(); ++it) {
    if (it->second.user == kLocalUser && it->second.specification.name == name) return &it->second;
  }
  return nullptr;
}

// The status of a read whose own outcome is `found`.
grpc::Status Outcome(const Result<void>& read, const Result<void>& found) {
  if (!read.has_value()) return ToStatus(read.error());
  return found.has_value() ? grpc::Status::OK : ToStatus(found.error());
}

}  // namespace

grpc::Status InspectService::ListTrainers(grpc::ServerContext*, const v1::ListTrainersRequest*,
                                          v1::ListTrainersResponse* response) {
  const auto read = master_.Read([&](const MasterState& state) {
    for (const auto& [key, trainer] : state.trainers) *response->add_trainers() = ToProto(trainer);
  });
  return Outcome(read, {});
}

grpc::Status InspectService::ListServers(grpc::ServerContext*, const v1::ListServersRequest*,
                                         v1::ListServersResponse* response) {
  const auto read = master_.Read([&](const MasterState& state) {
    for (const auto& [name, server] : state.servers) {
      v1::Server& message = *response->add_servers();
      message.set_name(name);
      message.set_connected(server.session.has_value());
      message.set_slot_count(server.slot_count);
      message.set_device_kind(server.device_kind);
      for (const RunId id : state.active_runs) {
        const Run& run = state.runs.at(id);
        if (run.slot.server == name && run.state == RunState::kTraining) message.add_running_run_ids(id.value);
      }
    }
  });
  return Outcome(read, {});
}

grpc::Status InspectService::ListStudies(grpc::ServerContext*, const v1::ListStudiesRequest*,
                                         v1::ListStudiesResponse* response) {
  const auto read = master_.Read([&](const MasterState& state) {
    for (auto it = state.studies.rbegin(); it != state.studies.rend(); ++it) {
      if (it->second.user != kLocalUser) continue;
      *response->add_studies() = ToProto(Summarize(state, it->first, Now()), it->second);
    }
  });
  return Outcome(read, {});
}

grpc::Status InspectService::GetStudy(grpc::ServerContext*, const v1::GetStudyRequest* request,
                                      v1::GetStudyResponse* response) {
  Result<void> found;
  const auto read = master_.Read([&](const MasterState& state) {
    const StudyId id{request->study_id()};
    const Study* study = id == StudyId{0} ? NewestOfName(state, request->name()) : FindStudy(state, id);
    if (study == nullptr) {
      found = tl::unexpected(NoStudy(id == StudyId{0} ? "named '" + request->name() + "'" : std::to_string(id.value)));
      return;
    }
    *response->mutable_study() = ToProto(Summarize(state, study->id, Now()), *study);
  });
  return Outcome(read, found);
}

grpc::Status InspectService::ListTrials(grpc::ServerContext*, const v1::ListTrialsRequest* request,
                                        v1::ListTrialsResponse* response) {
  Result<void> found;
  const auto read = master_.Read([&](const MasterState& state) {
    const StudyId id{request->study_id()};
    const Study* study = id == StudyId{0} ? NewestOfName(state, request->study_name()) : FindStudy(state, id);
    if (study == nullptr) {
      found = tl::unexpected(
          NoStudy(id == StudyId{0} ? "named '" + request->study_name() + "'" : std::to_string(id.value)));
      return;
    }
    TrialQuery query = FromProto(*request, study->id);
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

grpc::Status InspectService::GetTrial(grpc::ServerContext*, const v1::GetTrialRequest* request,
                                      v1::GetTrialResponse* response) {
  Result<void> found;
  const auto read = master_.Read([&](const MasterState& state) {
    const auto trial = state.trials.find(TrialId{request->trial_id()});
    if (trial == state.trials.end() || FindStudy(state, trial->second.study) == nullptr) {
      found =
          tl::unexpected(Error{ErrorCode::kNotFound, "no trial " + std::to_string(request->trial_id()), "trial_id"});
      return;
    }
    *response->mutable_trial() = ToProto(SummarizeTrial(state, trial->first), trial->second);
    for (const TrialEvaluation& each : MetricsOnLineage(state, trial->first)) {
      *response->add_metrics() = ToProto(each);
    }
  });
  return Outcome(read, found);
}

grpc::Status InspectService::GetPlan(grpc::ServerContext*, const v1::GetPlanRequest* request,
                                     v1::GetPlanResponse* response) {
  Result<void> found;
  const auto read = master_.Read([&](const MasterState& state) {
    const Study* study = FindStudy(state, StudyId{request->study_id()});
    if (study == nullptr) {
      found = tl::unexpected(NoStudy(std::to_string(request->study_id())));
      return;
    }
    for (const PlanNodeView& view : ViewPlan(state, study->id)) *response->add_nodes() = ToProto(view);
  });
  return Outcome(read, found);
}

grpc::Status InspectService::Forecast(grpc::ServerContext*, const v1::ForecastRequest* request,
                                      v1::ForecastResponse* response) {
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
    const auto forecast = ForecastStudies(state, studies, kLocalTeam);
    if (forecast.has_value()) {
      *response = ToProto(*forecast);
    } else {
      found = tl::unexpected(forecast.error());
    }
  });
  return Outcome(read, found);
}

}  // namespace espalier
