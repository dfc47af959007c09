#include "client/cli/trace_export.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "client/cli/server_access.h"
#include "client/convert.h"
#include "client/simulation/trace.h"
#include "proto/convert_study_choices.h"

namespace espalier {
namespace {

using google::protobuf::Timestamp;
using google::protobuf::util::TimeUtil;

Seconds Between(const Timestamp& from, const Timestamp& to) {
  return Seconds(static_cast<double>(TimeUtil::DurationToMicroseconds(to - from)) * 1e-6);
}

// A study, and what of it is known before it is read whole.
struct Chosen {
  v1::StudySummary summary;
  Timestamp created;
};

Result<std::vector<Chosen>> Choose(Connection& connection, const std::vector<std::string>& studies) {
  std::vector<Chosen> all;
  std::set<std::int64_t> ids;
  for (const std::string& study : studies) {
    ESPALIER_ASSIGN(v1::StudySummary summary, FindStudy(connection, study));
    const std::string id = std::to_string(summary.study_id());
    if (!ids.insert(summary.study_id()).second) {
      return MakeError(ErrorCode::kInvalidArgument, "study " + id + " is named twice", "STUDY");
    }
    if (summary.state() != "finished") {
      return MakeError(ErrorCode::kFailedPrecondition,
                       "study " + id + " is " + summary.state() +
                           "; a trace is of what is finished: espalier study watch " + id + " waits for that",
                       "STUDY");
    }
    v1::ListEventsRequest request;
    request.set_study_id(summary.study_id());
    ESPALIER_ASSIGN(const v1::ListEventsResponse first, connection.ListEvents(request));
    all.push_back({std::move(summary), first.created_at()});
  }
  return all;
}

// What a study's events say, by trial.
class EventsOfStudy {
 public:
  explicit EventsOfStudy(TracedStudy& study) : study_(study) {}

  void Take(const StudyEvent& event, Seconds at) {
    std::visit([&](const auto& kind) { On(kind, at); }, event);
  }

 private:
  void On(const TrialSubmitted& event, Seconds at) {
    places_.emplace(event.trial, study_.trials.size());
    TracedTrial& trial = study_.trials.emplace_back();
    trial.id = event.trial.value;
    trial.submitted = at;
  }
  void On(const ClaimMade& event, Seconds at) {
    TracedTrial& trial = Of(event.trial);
    claims_.emplace(event.claim, trial.claims.size());
    trial.claims.push_back({.step = event.step, .made = at});
  }
  void On(const ClaimSettled& event, Seconds at) {
    TracedTrial& trial = Of(event.trial);
    TracedClaim& claim = trial.claims.at(claims_.at(event.claim));
    claim.settled = at;
    claim.state = event.state;
    if (event.state != ClaimState::kDone) return;
    trial.metrics[event.step] = event.metrics;
    if (study_.metric.empty() && !event.metrics.empty()) study_.metric = event.metrics.begin()->first;
  }
  void On(const TrialClosed& event, Seconds at) {
    TracedTrial& trial = Of(event.trial);
    trial.closed = at;
    trial.cancelled = event.cancelled;
  }
  void On(const BatchTaken&, Seconds) { study_.has_tuner = true; }
  void On(const SlotIdle&, Seconds) {}
  void On(const StudyFinished&, Seconds at) { study_.ended = at; }

  TracedTrial& Of(TrialId trial) { return study_.trials.at(places_.at(trial)); }

  TracedStudy& study_;
  std::unordered_map<TrialId, std::size_t> places_;
  std::unordered_map<ClaimId, std::size_t> claims_;  // among its trial's
};

Result<void> ReadEvents(Connection& connection, const Timestamp& began, TracedStudy& study) {
  EventsOfStudy events(study);
  v1::ListEventsRequest request;
  request.set_study_id(study.id);
  request.set_from_event(1);
  for (bool more = true; more;) {
    ESPALIER_ASSIGN(const v1::ListEventsResponse page, connection.ListEvents(request));
    for (const v1::StudyEvent& each : page.events()) {
      const std::optional<StudyEvent> event = FromWire(each);
      if (event) events.Take(*event, Between(began, each.happened_at()));
      request.set_from_event(each.number() + 1);
    }
    more = page.more();
  }
  return {};
}

Result<void> ReadTrials(Connection& connection, TracedStudy& study) {
  v1::GetTrialRequest request;
  for (TracedTrial& trial : study.trials) {
    request.set_trial_id(trial.id);
    ESPALIER_ASSIGN(const v1::GetTrialResponse whole, connection.GetTrial(request));
    trial.sequences = {whole.trial().sequences().begin(), whole.trial().sequences().end()};
    trial.horizon = Step{whole.trial().horizon_steps()};
    for (const v1::LineagePart& part : whole.lineage()) {
      trial.lineage.push_back({part.plan_node_id(), Step{part.to_step()}});
    }
    for (const v1::TrialEvaluation& each : whole.metrics()) {
      trial.metrics[Step{each.step()}] = {each.metrics().begin(), each.metrics().end()};
    }
  }
  return {};
}

std::map<CostKind, Seconds> TimesOf(const v1::TrainingCosts& costs) {
  std::map<CostKind, Seconds> times;
  if (costs.has_step_seconds()) times[CostKind::kStep] = Seconds(costs.step_seconds());
  if (costs.has_set_up_seconds()) times[CostKind::kSetUp] = Seconds(costs.set_up_seconds());
  if (costs.has_load_seconds()) times[CostKind::kLoad] = Seconds(costs.load_seconds());
  if (costs.has_save_seconds()) times[CostKind::kSave] = Seconds(costs.save_seconds());
  if (costs.has_evaluate_seconds()) times[CostKind::kEvaluate] = Seconds(costs.evaluate_seconds());
  return times;
}

Result<void> ReadNodes(Connection& connection, TracedStudy& study) {
  v1::GetPlanRequest request;
  request.set_study_id(study.id);
  ESPALIER_ASSIGN(const v1::GetPlanResponse plan, connection.GetPlan(request));
  for (const v1::PlanNode& node : plan.nodes()) {
    const bool trained =
        std::ranges::any_of(node.stages(), [](const v1::StageView& stage) { return stage.state() == "trained"; });
    study.nodes.push_back({node.plan_node_id(), trained, TimesOf(node.costs())});
  }
  return {};
}

TracedStretch StretchOf(const v1::StagePoint& point) { return {point.plan_node_id(), Step{point.step()}}; }

Result<void> ReadRuns(Connection& connection, const Timestamp& began, TracedStudy& study) {
  v1::ListRunsRequest request;
  request.set_study_id(study.id);
  do {
    ESPALIER_ASSIGN(const v1::ListRunsResponse page, connection.ListRuns(request));
    for (const v1::ListedRun& run : page.runs()) {
      // A study may have ended while a run that served it still trains for others.
      const Seconds until = run.has_held_until() ? Between(began, run.held_until()) : study.ended;
      study.runs.push_back({.id = run.run_id(),
                            .server = run.server(),
                            .slot = run.slot(),
                            .slots = run.slot_count(),
                            .from = StretchOf(run.from()),
                            .to = StretchOf(run.to()),
                            // One that was ordered for others before is replayed as the study's own.
                            .held_from = std::max(Seconds{0}, Between(began, run.held_from())),
                            .held_until = std::max(Seconds{0}, until),
                            .charged = Seconds(run.device_seconds())});
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return {};
}

Result<TracedStudy> ReadStudy(Connection& connection, const Chosen& chosen, const Timestamp& began) {
  const v1::StudySummary& summary = chosen.summary;
  TracedStudy study{.id = summary.study_id(),
                    .name = summary.name(),
                    .definition = summary.definition(),
                    .trainer = summary.trainer(),
                    .metric = summary.best().metric(),
                    .goal = FromProto(summary.goal()),
                    .scope = FromProto(summary.scope()).value_or(Scope::kTeam),
                    .arrived = Between(began, chosen.created),
                    .cancelled = summary.cancelled(),
                    .device_time = Seconds(summary.slot_seconds()),
                    .claimed_steps = summary.steps().claimed(),
                    .unique_steps = summary.steps().unique(),
                    .trained_steps = summary.steps().trained(),
                    .reused_steps = summary.steps().reused()};
  ESPALIER_RETURN_IF_ERROR(ReadEvents(connection, began, study));
  ESPALIER_RETURN_IF_ERROR(ReadTrials(connection, study));
  ESPALIER_RETURN_IF_ERROR(ReadNodes(connection, study));
  ESPALIER_RETURN_IF_ERROR(ReadRuns(connection, began, study));
  return study;
}

// Adds what the study's runs say of the servers that they were given to.
void AddServers(const TracedStudy& study, std::map<std::string, TracedServer>& servers) {
  for (const TracedRun& run : study.runs) {
    TracedServer& server = servers[run.server];
    server.name = run.server;
    server.slots = std::max(server.slots, run.slot + 1);
    server.gone = std::max(server.gone.value_or(Seconds{0}), run.held_until);
  }
}

}  // namespace

Result<void> ExportTrace(Connection& connection, const std::vector<std::string>& studies, std::ostream& out) {
  ESPALIER_ASSIGN(const std::vector<Chosen> chosen, Choose(connection, studies));
  const Timestamp began = std::ranges::min_element(chosen, {}, [](const Chosen& each) {
                            return TimeUtil::TimestampToMicroseconds(each.created);
                          })->created;
  ESPALIER_ASSIGN(const v1::ListServersResponse now, connection.ListServers({}));
  ESPALIER_ASSIGN(const v1::GetPolicyResponse chosen_policy, connection.GetPolicy({}));
  WriteTrace(out, TraceHead{TimeUtil::ToString(began), chosen_policy.policy()});
  std::map<std::string, TracedServer> servers;
  for (const Chosen& each : chosen) {
    ESPALIER_ASSIGN(const TracedStudy study, ReadStudy(connection, each, began));
    AddServers(study, servers);
    WriteTrace(out, study);
  }
  for (const v1::Server& listed : now.servers()) {
    const auto used = servers.find(listed.name());
    if (used == servers.end() || !listed.connected()) continue;
    used->second.gone.reset();
    used->second.slots = std::max(used->second.slots, static_cast<int>(listed.slot_count()));
  }
  if (servers.empty()) return MakeError(ErrorCode::kInvalidArgument, "no slot was ever used for this", "STUDY");
  for (const auto& [name, server] : servers) WriteTrace(out, server);
  return {};
}

}  // namespace espalier
