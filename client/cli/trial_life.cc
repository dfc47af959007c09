#include "client/cli/trial_life.h"

#include <algorithm>

#include "client/cli/json_output.h"
#include "client/cli/output.h"

namespace espalier {
namespace {

// Of a node that both pass: where the run trains there.
struct NodePart {
  std::int64_t node = 0;
  Stretch steps;
};

// The run's path, node by node; empty if the plan does not have it.
std::vector<NodePart> PathOf(const v1::ListedRun& run, const NodesById& nodes) {
  std::vector<NodePart> path;
  std::int64_t end = run.to().step();
  for (std::int64_t node = run.to().plan_node_id(); node != 0;) {
    const auto known = nodes.find(node);
    if (known == nodes.end()) return {};
    const bool begins_here = node == run.from().plan_node_id();
    const std::int64_t begin = begins_here ? run.from().step() : known->second.start_step();
    path.push_back({node, {begin, end}});
    if (begins_here) return path;
    end = begin;
    node = known->second.parent_id();
  }
  // It began with Init, or with a state of another plan, at a root's start.
  return path;
}

std::string MetricsText(const v1::ClaimSettled& settled) {
  std::string text;
  for (const auto& [name, value] : std::map<std::string, double>(settled.metrics().begin(), settled.metrics().end())) {
    text += (text.empty() ? "" : ", ") + name + " " + FormatNumber(value);
  }
  return text;
}

// What an event says of the trial; none: nothing.
std::optional<LifeMoment> MomentOf(const v1::StudyEvent& event, std::int64_t trial) {
  const double at = SecondsOf(event.happened_at());
  if (event.has_trial_submitted() && event.trial_submitted().trial_id() == trial) return LifeMoment{at, "submitted"};
  if (event.has_trial_closed() && event.trial_closed().trial_id() == trial) return LifeMoment{at, "closed"};
  if (event.has_claim_made() && event.claim_made().trial_id() == trial) {
    return LifeMoment{at, "asked", event.claim_made().step()};
  }
  if (!event.has_claim_settled() || event.claim_settled().trial_id() != trial) return std::nullopt;
  const v1::ClaimSettled& settled = event.claim_settled();
  switch (settled.state()) {
    case v1::ClaimSettled::STATE_FAILED:
      return LifeMoment{at, "failed", settled.step(), settled.message()};
    case v1::ClaimSettled::STATE_CANCELLED:
      return LifeMoment{at, "cancelled", settled.step()};
    default:
      return LifeMoment{at, "answered", settled.step(), MetricsText(settled)};
  }
}

Result<void> ReadEvents(Connection& connection, TrialLife& life) {
  v1::ListEventsRequest request;
  request.set_study_id(life.study_id);
  while (true) {
    ESPALIER_ASSIGN(const v1::ListEventsResponse page, connection.ListEvents(request));
    for (const v1::StudyEvent& event : page.events()) {
      if (auto moment = MomentOf(event, life.trial.trial_id())) life.moments.push_back(*std::move(moment));
      request.set_from_event(event.number() + 1);
    }
    if (!page.more()) return {};
  }
}

Result<void> ReadRuns(Connection& connection, const std::vector<v1::LineagePart>& way, TrialLife& life) {
  v1::GetPlanRequest of_plan;
  of_plan.set_study_id(life.study_id);
  ESPALIER_ASSIGN(const v1::GetPlanResponse plan, connection.GetPlan(of_plan));
  NodesById nodes;
  for (const v1::PlanNode& node : plan.nodes()) nodes.emplace(node.plan_node_id(), node);
  v1::ListRunsRequest request;
  request.set_study_id(life.study_id);
  do {
    ESPALIER_ASSIGN(const v1::ListRunsResponse page, connection.ListRuns(request));
    for (const v1::ListedRun& run : page.runs()) {
      const std::optional<Stretch> stretch = StretchOn(way, nodes, run);
      if (!stretch) continue;
      life.moments.push_back({.at = SecondsOf(run.held_from()), .what = "run", .run = run, .trained = stretch});
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return {};
}

// Its way as far as it has asked for: beyond, what others train there is no matter of this trial.
std::vector<v1::LineagePart> AskedFor(const v1::GetTrialResponse& response, const TrialLife& life) {
  std::int64_t furthest = 0;
  for (const LifeMoment& moment : life.moments) furthest = std::max(furthest, moment.step);
  std::vector<v1::LineagePart> way;
  for (const v1::LineagePart& part : response.lineage()) {
    if (!way.empty() && way.back().to_step() >= furthest) break;
    way.push_back(part);
  }
  if (!way.empty()) way.back().set_to_step(std::min(way.back().to_step(), furthest));
  return way;
}

// The first step that it has asked for, and was not answered.
std::optional<std::int64_t> FirstWaiting(const TrialLife& life) {
  std::map<std::int64_t, int> waiting;
  for (const LifeMoment& moment : life.moments) {
    if (moment.what == "asked") ++waiting[moment.step];
    if (moment.what == "answered" || moment.what == "failed" || moment.what == "cancelled") --waiting[moment.step];
  }
  for (const auto& [step, count] : waiting) {
    if (count > 0) return step;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Stretch> StretchOn(const std::vector<v1::LineagePart>& way, const NodesById& nodes,
                                 const v1::ListedRun& run) {
  std::map<std::int64_t, Stretch> of_node;
  std::int64_t begin = 0;
  for (const v1::LineagePart& part : way) {
    of_node[part.plan_node_id()] = {begin, part.to_step()};
    begin = part.to_step();
  }
  std::optional<Stretch> together;
  const bool only_evaluates =
      run.from().plan_node_id() == run.to().plan_node_id() && run.from().step() == run.to().step();
  for (const NodePart& part : PathOf(run, nodes)) {
    const auto mine = of_node.find(part.node);
    if (mine == of_node.end()) continue;
    const Stretch both{std::max(part.steps.from, mine->second.from), std::min(part.steps.to, mine->second.to)};
    if (both.from > both.to || (both.from == both.to && !only_evaluates)) continue;
    together = together ? Stretch{std::min(together->from, both.from), std::max(together->to, both.to)} : both;
  }
  return together;
}

Result<TrialLife> ReadTrialLife(Connection& connection, TrialId trial) {
  v1::GetTrialRequest request;
  request.set_trial_id(trial.value);
  ESPALIER_ASSIGN(const v1::GetTrialResponse response, connection.GetTrial(request));
  TrialLife life{.trial = response.trial(), .study_id = response.study_id(), .moments = {}, .waits = {}};
  ESPALIER_RETURN_IF_ERROR(ReadEvents(connection, life));
  const std::vector<v1::LineagePart> way = AskedFor(response, life);
  ESPALIER_RETURN_IF_ERROR(ReadRuns(connection, way, life));
  std::ranges::stable_sort(life.moments, {}, &LifeMoment::at);
  const std::optional<std::int64_t> step = FirstWaiting(life);
  const auto part =
      std::ranges::find_if(way, [&](const v1::LineagePart& each) { return step && each.to_step() >= *step; });
  if (part == way.end()) return life;
  v1::ExplainStageRequest explain;
  explain.mutable_point()->set_plan_node_id(part->plan_node_id());
  explain.mutable_point()->set_step(*step);
  ESPALIER_ASSIGN(life.waits, connection.ExplainStage(explain));
  return life;
}

}  // namespace espalier
