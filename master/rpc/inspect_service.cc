#include "master/rpc/inspect_service.h"

#include <algorithm>

#include "base/clock.h"
#include "base/version.h"
#include "espalier/v1/inspect.grpc.pb.h"
#include "master/core/views/bill.h"
#include "master/core/views/list_runs.h"
#include "master/core/views/makespan_bound.h"
#include "master/core/views/trainer_standing.h"
#include "master/core/views/trial_lineage.h"
#include "master/rpc/convert.h"
#include "master/rpc/event_turn.h"
#include "master/rpc/reading.h"
#include "proto/convert_node_protocol.h"

namespace espalier::master {
namespace {

// `server` null: an administrator drains it, and it is not there.
v1::Server ServerFor(const Caller& caller, const MasterState& state, const std::string& name, const Server* server) {
  v1::Server message;
  message.set_name(name);
  if (server != nullptr) {
    message.set_connected(server->session.has_value());
    message.set_slot_count(server->slot_count());
    for (const Device& device : server->devices) *message.add_devices() = ToProto(device);
    message.set_host_cores(server->host_cores);
    message.set_host_memory_bytes(server->host_memory_bytes);
    std::set<std::string> kinds;
    for (const auto& [trainer, made] : server->offers) kinds.insert(made.device_kind);
    message.mutable_device_kinds()->Assign(kinds.begin(), kinds.end());
    message.set_trouble(server->trouble);
    message.set_version(server->version);
    message.set_clock_ahead_seconds(server->clock_ahead.count());
  }
  const auto drain = state.drains.find(name);
  message.set_draining(drain != state.drains.end() || (server != nullptr && server->stopping));
  if (drain != state.drains.end()) *message.mutable_drain() = ToProto(drain->second);
  const std::set<RunId>& active = ActiveRunsOf(state, name);
  message.set_run_count(static_cast<int>(active.size()));
  for (const RunId id : active) {
    const Run& run = state.runs.at(id);
    if (!run.training()) continue;
    message.set_busy_slot_count(message.busy_slot_count() + run.slots);
    if (IsForTeam(state, run, caller.team)) message.add_running_run_ids(id.value);
  }
  return message;
}

}  // namespace

InspectService::InspectService(MasterPort& master, PastStudies& pasts, const SideStores& stores, MasterFacts facts,
                               const Callers& callers)
    : GuardedService(v1::InspectService::service_full_name(), callers),
      master_(master),
      pasts_(pasts),
      facts_(std::move(facts)),
      database_(stores.database),
      outputs_(stores.outputs),
      series_(stores.series) {
  Serve("ListTrainers", &Callers::Member, &InspectService::ListTrainers);
  Serve("GetTrainer", &Callers::Member, &InspectService::GetTrainer);
  Serve("ListServers", &Callers::Member, &InspectService::ListServers);
  Serve("GetMaster", &Callers::Member, &InspectService::GetMaster);
  Serve("GetPolicy", &Callers::Member, &InspectService::GetPolicy);
  Serve("ListStudies", &Callers::Member, &InspectService::ListStudies);
  Serve("GetStudy", &Callers::Member, &InspectService::GetStudy);
  Serve("ListTrials", &Callers::Member, &InspectService::ListTrials);
  Serve("GetTrial", &Callers::Member, &InspectService::GetTrial);
  Serve("GetTrialOutput", &Callers::Member, &InspectService::GetTrialOutput);
  Serve("GetTrainingMetrics", &Callers::Member, &InspectService::GetTrainingMetrics);
  Serve("ListRuns", &Callers::Member, &InspectService::ListRuns);
  Serve("ListEvents", &Callers::Member, &InspectService::ListEvents);
  Serve("GetPlan", &Callers::Member, &InspectService::GetPlan);
  Serve("ExplainStage", &Callers::Member, &InspectService::ExplainStage);
  Serve("Forecast", &Callers::Member, &InspectService::Forecast);
}

StateReader InspectService::Reader() {
  return [this](const auto& look) { return master_.Read(look); };
}

Result<void> InspectService::Read(const Look& look) { return LookAtState(master_, look); }

Result<void> InspectService::ListTrainers(const Caller&, const v1::ListTrainersRequest&,
                                          v1::ListTrainersResponse& response) {
  return Read([&](const MasterState& state) -> Result<void> {
    std::map<std::pair<std::string, std::string>, const KnownOffer*> newest;  // by trainer and data
    for (const auto& [digest, known] : state.offers) {
      if (!known.listed) continue;
      const KnownOffer*& shown = newest[{known.offer.trainer, known.offer.data}];
      if (shown == nullptr || known.first_seen > shown->first_seen) shown = &known;
    }
    for (const auto& [key, known] : newest) *response.add_trainers() = ToProto(known->offer);
    return {};
  });
}

Result<void> InspectService::GetTrainer(const Caller& caller, const v1::GetTrainerRequest& request,
                                        v1::GetTrainerResponse& response) {
  const Result<Digest128> reference = ParseDigest128(request.reference_digest());
  if (!reference.has_value()) return InField("reference_digest", reference.error());
  return Read([&](const MasterState& state) -> Result<void> {
    ESPALIER_ASSIGN(const TrainerStanding standing, StandingOf(state, *reference, caller));
    response.set_wanted(standing.wanted);
    for (const TrainerOnServer& here : standing.servers) {
      v1::TrainerOnServer& message = *response.add_servers();
      message.set_server(here.server);
      for (const Offer* offer : here.offers) *message.add_offers() = ToProto(*offer);
      message.set_refused(here.refused);
    }
    return {};
  });
}

Result<void> InspectService::ListServers(const Caller& caller, const v1::ListServersRequest&,
                                         v1::ListServersResponse& response) {
  return Read([&](const MasterState& state) -> Result<void> {
    std::map<std::string, const Server*> shown;
    for (const auto& [name, drain] : state.drains) shown.emplace(name, nullptr);
    for (const auto& [name, server] : state.servers) shown[name] = &server;
    for (const auto& [name, server] : shown) *response.add_servers() = ServerFor(caller, state, name, server);
    for (const TeamBill& bill : BillFor(caller, state, Now())) *response.add_teams() = ToProto(bill);
    return {};
  });
}

Result<void> InspectService::GetMaster(const Caller& caller, const v1::GetMasterRequest&,
                                       v1::GetMasterResponse& response) {
  bool is_administrator = false;
  ESPALIER_RETURN_IF_ERROR(Read([&](const MasterState& state) -> Result<void> {
    is_administrator = IsAdministrator(state, caller);
    if (!is_administrator) return {};
    response.set_checkpoint_bytes(state.index.cache.bytes());
    response.set_checkpoint_bytes_max(facts_.checkpoint_bytes_max);
    return {};
  }));
  response.set_version(std::string(Version()));
  response.set_epoch(facts_.epoch);
  response.set_host(facts_.host);
  response.set_process(facts_.process);
  response.set_listen_address(facts_.listen_address);
  *response.mutable_leads_since() = ToProto(facts_.leads_since);
  if (const Result<DatabaseStanding> standing = database_.Ask(); standing.has_value()) {
    response.set_database_seconds(standing->answered_within.count());
    if (is_administrator) response.set_database_bytes(standing->bytes);
  } else {
    response.set_database_trouble(standing.error().message);
  }
  *response.mutable_now() = ToProto(Now());
  return {};
}

Result<void> InspectService::GetPolicy(const Caller&, const v1::GetPolicyRequest&, v1::GetPolicyResponse& response) {
  PolicyChoice choice;
  ESPALIER_RETURN_IF_ERROR(Read([&](const MasterState& state) -> Result<void> {
    choice = state.policy;
    return {};
  }));
  response = ToProto(choice);
  return {};
}

Result<void> InspectService::ListStudies(const Caller& caller, const v1::ListStudiesRequest& request,
                                         v1::ListStudiesResponse& response) {
  return Read([&](const MasterState& state) -> Result<void> {
    StudyQuery query = FromProto(request);
    query.count_max = PageSize(request.page_size());
    ESPALIER_ASSIGN(const StudyPage page, master::ListStudies(state, query, caller, Now()));
    for (const StudyListing& listing : page.studies) {
      *response.add_studies() = ToProto(listing, state.studies.at(listing.id));
    }
    response.set_next_page_token(page.next_token);
    return {};
  });
}

Result<void> InspectService::GetStudy(const Caller& caller, const v1::GetStudyRequest& request,
                                      v1::GetStudyResponse& response) {
  StudyId finished;
  ESPALIER_RETURN_IF_ERROR(Read([&](const MasterState& state) -> Result<void> {
    const StudyId id{request.study_id()};
    ESPALIER_ASSIGN(const Study* study,
                    id == StudyId{0} ? FindStudyNamed(state, request.name(), caller) : FindStudy(state, id, caller));
    *response.mutable_study() = ToProto(Summarize(state, study->id, Now()), *study);
    if (study->finished_at) finished = study->id;
    return {};
  }));
  if (finished == StudyId{0}) return {};
  ESPALIER_ASSIGN(const PastStudy part, pasts_.Copy(finished));
  const Seconds bound = MakespanBound(*part, part->studies.at(finished));
  response.mutable_study()->set_makespan_bound_seconds(bound.count());
  return {};
}

Result<void> InspectService::ListTrials(const Caller& caller, const v1::ListTrialsRequest& request,
                                        v1::ListTrialsResponse& response) {
  const auto find = [&](const MasterState& state) {
    const StudyId id{request.study_id()};
    return id == StudyId{0} ? FindStudyNamed(state, request.study_name(), caller) : FindStudy(state, id, caller);
  };
  return pasts_.LookAtStudy(find, [&](const MasterState& state) -> Result<void> {
    ESPALIER_ASSIGN(const Study* study, find(state));
    TrialQuery query = FromProto(request, study->id);
    query.count_max = PageSize(request.page_size());
    ESPALIER_ASSIGN(const TrialPage page, master::ListTrials(state, query));
    for (const TrialSummary& summary : page.trials) {
      *response.add_trials() = ToProto(summary, state.trials.at(summary.id));
    }
    response.set_next_page_token(page.next_token);
    return {};
  });
}

Result<void> InspectService::GetTrial(const Caller& caller, const v1::GetTrialRequest& request,
                                      v1::GetTrialResponse& response) {
  return pasts_.LookAtTrial(TrialId{request.trial_id()}, caller, [&](const MasterState& state) -> Result<void> {
    ESPALIER_ASSIGN(const Trial* trial, FindTrial(state, TrialId{request.trial_id()}, caller));
    *response.mutable_trial() = ToProto(SummarizeTrial(state, trial->id), *trial);
    response.set_study_id(trial->study.value);
    for (const TrialEvaluation& each : MetricsOnLineage(state, trial->id)) {
      *response.add_metrics() = ToProto(each);
    }
    for (const StepRange& part : LineageRanges(state.plans.at(trial->plan), trial->leaf, trial->horizon)) {
      v1::LineagePart& message = *response.add_lineage();
      message.set_plan_node_id(part.node.value);
      message.set_to_step(part.to.value);
    }
    return {};
  });
}

Result<void> InspectService::GetTrialOutput(const Caller& caller, const v1::GetTrialOutputRequest& request,
                                            v1::GetTrialOutputResponse& response) {
  OutputQuery query{.lineage = {}, .team = caller.team, .after = request.after()};
  const Look look = [&](const MasterState& state) -> Result<void> {
    ESPALIER_ASSIGN(const Trial* trial, FindTrial(state, TrialId{request.trial_id()}, caller));
    query.lineage = LineageAskedFor(state, *trial);
    response.set_more(IsWaiting(state, *trial));
    return {};
  };
  ESPALIER_RETURN_IF_ERROR(pasts_.LookAtTrial(TrialId{request.trial_id()}, caller, look));
  ESPALIER_ASSIGN(const std::vector<StoredOutput> outputs, outputs_.Read(query));
  for (const StoredOutput& output : outputs) *response.add_pieces() = ToProto(output);
  response.set_next(outputs.empty() ? query.after : outputs.back().number);
  return {};
}

Result<void> InspectService::GetTrainingMetrics(const Caller& caller, const v1::GetTrainingMetricsRequest& request,
                                                v1::GetTrainingMetricsResponse& response) {
  SeriesQuery query{.lineage = {}, .after = request.after()};
  const Look look = [&](const MasterState& state) -> Result<void> {
    ESPALIER_ASSIGN(const Trial* trial, FindTrial(state, TrialId{request.trial_id()}, caller));
    query.lineage = LineageAskedFor(state, *trial);
    return {};
  };
  ESPALIER_RETURN_IF_ERROR(pasts_.LookAtTrial(TrialId{request.trial_id()}, caller, look));
  ESPALIER_ASSIGN(const std::vector<StoredSeries> stored, series_.Read(query));
  for (const StoredSeries& each : stored) *response.add_series() = ToProto(each);
  response.set_next(stored.empty() ? query.after : stored.back().number);
  return {};
}

Result<void> InspectService::ListRuns(const Caller& caller, const v1::ListRunsRequest& request,
                                      v1::ListRunsResponse& response) {
  const StudyId study{request.study_id()};
  const auto find = [&](const MasterState& state) { return FindStudy(state, study, caller); };
  return pasts_.LookAtStudy(find, [&](const MasterState& state) -> Result<void> {
    ESPALIER_ASSIGN(const RunPage page,
                    master::ListRuns(state, study, PageSize(request.page_size()), request.page_token()));
    for (const RunId run : page.runs) *response.add_runs() = ToProto(state.runs.at(run), study);
    response.set_next_page_token(page.next_token);
    return {};
  });
}

Result<void> InspectService::ListEvents(const Caller& caller, const v1::ListEventsRequest& request,
                                        v1::ListEventsResponse& response) {
  const StudyId id{request.study_id()};
  const std::int64_t first = request.from_event() == 0 ? 1 : request.from_event();
  EventTurn turn;
  const auto find = [&](const MasterState& state) { return FindStudy(state, id, caller); };
  const Look look = [&](const MasterState& state) -> Result<void> {
    ESPALIER_ASSIGN(turn, TakeTurn(state, id, {.next = first, .previous = {}}, caller));
    *response.mutable_created_at() = ToProto(state.studies.at(id).created_at);
    return {};
  };
  ESPALIER_RETURN_IF_ERROR(pasts_.LookAtStudy(find, look));
  std::int64_t next = first;
  std::vector<EventPiece> pieces = PiecesOf(turn, next);
  response.mutable_events()->Swap(&pieces.front());
  const bool is_cut =
      std::ranges::any_of(pieces.begin() + 1, pieces.end(), [](const EventPiece& piece) { return !piece.empty(); });
  response.set_more(is_cut || !turn.all_events);
  return {};
}

Result<void> InspectService::GetPlan(const Caller& caller, const v1::GetPlanRequest& request,
                                     v1::GetPlanResponse& response) {
  const StudyId id{request.study_id()};
  ESPALIER_RETURN_IF_ERROR(Read([&](const MasterState& state) -> Result<void> {
    ESPALIER_RETURN_IF_ERROR(FindStudy(state, id, caller));
    return {};
  }));
  ESPALIER_ASSIGN(const PastStudy part, pasts_.Copy(id));
  for (const PlanNodeView& view : ViewPlan(*part, id)) *response.add_nodes() = ToProto(view);
  return {};
}

Result<void> InspectService::ExplainStage(const Caller& caller, const v1::ExplainStageRequest& request,
                                          v1::ExplainStageResponse& response) {
  return Read([&](const MasterState& state) -> Result<void> {
    const auto explain = [&]() -> Result<ExplainedStage> {
      if (request.has_run_id()) return ExplainRun(state, RunId{request.run_id()}, caller, Now());
      if (request.has_point()) return master::ExplainStage(state, FromProto(request.point()), caller, Now());
      return MakeError(ErrorCode::kInvalidArgument, "expected a point or a run", "stage");
    };
    ESPALIER_ASSIGN(const ExplainedStage explained, explain());
    response = ToProto(explained);
    return {};
  });
}

Result<void> InspectService::Forecast(const Caller& caller, const v1::ForecastRequest& request,
                                      v1::ForecastResponse& response) {
  std::vector<ForecastStudy> studies;
  for (const v1::ForecastStudy& part : request.studies()) {
    ForecastStudy study;
    ESPALIER_ASSIGN(study.specification, FromProto(part.study()));
    for (const v1::NewTrial& trial : part.trials()) study.trials.push_back(FromProto(trial));
    studies.push_back(std::move(study));
  }
  ESPALIER_ASSIGN(const master::Forecast forecast, ForecastStudies(Reader(), studies, caller.team));
  response = ToProto(forecast);
  return {};
}

}  // namespace espalier::master
