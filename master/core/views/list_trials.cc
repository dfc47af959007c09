#include "master/core/views/list_trials.h"

#include <algorithm>

#include "base/check.h"
#include "master/core/state/claims.h"
#include "master/core/state/visibility.h"
#include "master/core/views/trial_state.h"
#include "searchplan/plan/record_result.h"

namespace espalier::master {
namespace {

TrialSummary SummarizeTrial(const MasterState& state, const Study& study, const Trial& trial) {
  const SearchPlan& plan = state.plans.at(trial.plan);
  TrialSummary summary{.id = trial.id, .state = TrialState(state, trial)};
  if (const Origin* origin = OriginOf(plan, trial.leaf)) {
    summary.origin = OriginSummary{.study = study.specification.reuse.value().study,
                                   .code_digest = state.plans.at(origin->plan).identity.training.code_digest,
                                   .point = origin->point};
  }
  for (const ClaimId id : trial.claims) {
    const Claim& claim = plan.claims.at(id);
    if (claim.state == ClaimState::kDone) {
      summary.evaluations.push_back({AnsweredAt(plan, claim.point).step, AnswerOf(plan, claim, study.metric_names)});
    }
    if (claim.state == ClaimState::kFailed && summary.message.empty()) summary.message = WhyFailed(state, plan, claim);
  }
  const Claim* last = LastDoneClaim(plan, trial);
  if (last == nullptr) return summary;
  const Point answered = AnsweredAt(plan, last->point);
  summary.steps = answered.step;
  const Metrics& metrics = summary.evaluations.back().metrics;
  if (const auto metric = metrics.find(study.specification.metric); metric != metrics.end()) {
    summary.metric = metric->second;
  }
  if (const StateDigest* state_digest = plan.FindStateDigest(answered)) summary.state_sha256 = state_digest->sha256;
  return summary;
}

struct StateName {
  std::string_view name;
  TrialStanding standing;
};
constexpr StateName kStateNames[] = {
    {"waiting", TrialStanding::kWaiting}, {"running", TrialStanding::kWaiting},
    {"idle", TrialStanding::kIdle},       {"done", TrialStanding::kDone},
    {"failed", TrialStanding::kFailed},   {"cancelled", TrialStanding::kCancelled},
};

// Of the states asked for; all of them if none is named.
Result<TrialIndex::Standings> StandingsOf(const std::vector<std::string>& states) {
  TrialIndex::Standings standings;
  for (const StateName& each : kStateNames) {
    if (states.empty()) standings.insert(each.standing);
  }
  for (const std::string& state : states) {
    const auto known = std::find_if(std::begin(kStateNames), std::end(kStateNames),
                                    [&](const StateName& each) { return each.name == state; });
    if (known == std::end(kStateNames)) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "expected waiting, running, idle, done, failed or cancelled, got '" + state + "'", "states");
    }
    standings.insert(known->standing);
  }
  return standings;
}

// The list that an order gives, in its tokens.
char ListOf(TrialOrder order) { return order == TrialOrder::kMetric ? 'm' : 's'; }

}  // namespace

TrialSummary SummarizeTrial(const MasterState& state, TrialId id) {
  const Trial& trial = state.trials.at(id);
  return SummarizeTrial(state, state.studies.at(trial.study), trial);
}

Result<TrialPage> ListTrials(const MasterState& state, const TrialQuery& query) {
  ESPALIER_CHECK(query.count_max >= 1) << "a page holds something";
  ESPALIER_ASSIGN(const TrialIndex::Standings standings, StandingsOf(query.states));
  ESPALIER_ASSIGN(const std::optional<TrialPlace> after, PlaceOf<TrialId>(ListOf(query.order), query.token));
  const Study& study = state.studies.at(query.study);
  const auto is_wanted = [&](const std::string& name) {
    return query.states.empty() || std::find(query.states.begin(), query.states.end(), name) != query.states.end();
  };
  TrialPage page;
  std::optional<TrialPlace> last;
  state.trial_index.at(query.study).Each(query.order, standings, after, [&](const TrialPlace& place) {
    const Trial& trial = state.trials.at(place.id);
    if (!is_wanted(TrialState(state, trial))) return true;
    if (page.trials.size() == query.count_max) {
      page.next_token = TokenOf(ListOf(query.order), *last);
      return false;
    }
    page.trials.push_back(SummarizeTrial(state, study, trial));
    last = place;
    return true;
  });
  return page;
}

std::vector<TrialEvaluation> MetricsOnLineage(const MasterState& state, TrialId id) {
  const Trial& trial = state.trials.at(id);
  const SearchPlan& plan = state.plans.at(trial.plan);
  const Study& study = state.studies.at(trial.study);
  const std::int64_t every = study.specification.evaluate_every;
  const auto may_see = [&](const Point& point) {
    if (!IsOfEveryone(plan) || (every > 0 && point.step.value % every == 0)) return true;
    return std::any_of(trial.claims.begin(), trial.claims.end(),
                       [&](ClaimId claim) { return plan.claims.at(claim).point == point; });
  };
  std::vector<TrialEvaluation> metrics;
  for (const StepRange& range : LineageRanges(plan, trial.leaf, trial.horizon)) {
    for (const auto& [step, of_evaluations] : plan.Node(range.node).results->metrics) {
      const auto stored = of_evaluations.find(study.evaluation);
      if (step > range.to || stored == of_evaluations.end() || !may_see({range.node, step})) continue;
      metrics.push_back({step, stored->second});
    }
  }
  return metrics;
}

}  // namespace espalier::master
