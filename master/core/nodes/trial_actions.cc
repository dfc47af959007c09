#include "master/core/nodes/trial_actions.h"

#include <algorithm>
#include <cmath>

#include "master/core/calls/trial_edits.h"
#include "master/core/nodes/needs.h"
#include "master/core/settling.h"
#include "master/core/state/claims.h"
#include "searchplan/plan/step_set.h"

namespace espalier::master {
namespace {

// The last step on its way, up to there, at which its study's evaluation was measured, and that `is_wanted`. None:
// there is none. O(what was measured there).
template <class Predicate>
std::optional<Step> LastMeasured(const SearchPlan& plan, const Trial& trial, const Claim& furthest,
                                 const Predicate& is_wanted) {
  const std::vector<StepRange> ranges = LineageRanges(plan, trial.leaf, furthest.point.step);
  for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
    const auto& metrics = plan.Node(range->node).results->metrics;
    for (auto beyond = metrics.upper_bound(range->to); beyond != metrics.begin();) {
      --beyond;
      const Point point{range->node, beyond->first};
      if (beyond->second.contains(furthest.evaluation) && is_wanted(point)) return point.step;
    }
  }
  return std::nullopt;
}

// What was measured of it last, and is stored, is its result; else what was measured last. It asks for that, and has it
// at once.
void ClaimWhatItHas(Draft& draft, const Trial& trial, const Claim& furthest) {
  const SearchPlan& plan = draft.state().plans.at(trial.plan);
  std::optional<Step> last =
      LastMeasured(plan, trial, furthest, [&](Point point) { return plan.FindCheckpoint(point) != nullptr; });
  const Claim* done = LastDoneClaim(plan, trial);
  if (!last && done == nullptr) last = LastMeasured(plan, trial, furthest, [](Point) { return true; });
  if (!last || (done != nullptr && done->point.step >= *last)) return;
  const ClaimId claim = MakeClaim(draft, trial.study, trial.id, *last);
  Settle(draft, plan.id, claim, ClaimState::kDone);
}

// Null: its study does not let policies stop it, or it waits for nothing.
const Claim* FurthestToStop(const MasterState& state, TrialId id) {
  const auto known = state.trials.find(id);
  if (known == state.trials.end()) return nullptr;
  const Trial& trial = known->second;
  if (!state.index.studies_that_may_stop.contains(trial.study)) return nullptr;
  return LastWaitingClaim(state.plans.at(trial.plan), trial);
}

}  // namespace

bool Release(Draft& draft, const ReleaseTrial& release) {
  const MasterState& state = draft.state();
  const Claim* furthest = FurthestToStop(state, release.trial);
  if (furthest == nullptr) return false;
  const Trial& trial = state.trials.at(release.trial);
  draft.Log(LogLevel::kInfo, "trial released",
            {{"trial", trial.id}, {"study", trial.study}, {"policy", std::string(draft.policy.name())}});
  const PlanId plan = trial.plan;
  ClaimWhatItHas(draft, trial, *furthest);
  EndTrial(draft, release.trial, true);
  MeetNeeds(draft, plan);
  return true;
}

bool ClaimOf(Draft& draft, const ClaimStep& claim) {
  const MasterState& state = draft.state();
  const Claim* furthest = FurthestToStop(state, claim.trial);
  if (furthest == nullptr || claim.step >= furthest->point.step || claim.step < Step{1}) return false;
  const Trial& trial = state.trials.at(claim.trial);
  const SearchPlan& plan = state.plans.at(trial.plan);
  const bool has_it =
      std::ranges::any_of(trial.claims, [&](ClaimId id) { return plan.claims.at(id).point.step == claim.step; });
  if (has_it) return true;
  const std::string evaluation = furthest->evaluation;
  const ClaimId made = MakeClaim(draft, trial.study, trial.id, claim.step);
  if (plan.FindMetrics(plan.claims.at(made).point, evaluation) != nullptr) {
    Settle(draft, plan.id, made, ClaimState::kDone);
  }
  MeetNeeds(draft, plan.id);
  return true;
}

bool Label(Draft& draft, const LabelTrial& label) {
  const auto known = draft.state().trials.find(label.trial);
  if (known == draft.state().trials.end() || label.text.empty()) return false;
  if (!draft.state().running_studies.contains(known->second.study)) return false;
  draft.Do(SetLabel{label.trial, {.policy = std::string(draft.policy.name()), .text = label.text}});
  return true;
}

bool Analyse(Draft& draft, const AnalyseCurve& analyse) {
  const CurveQuestion& question = analyse.question;
  const MasterState& state = draft.state();
  if (question.curve.empty() || std::isnan(question.target) || !state.trials.contains(question.trial)) return false;
  if (state.analyses.contains({question.trial, question.at})) return false;
  draft.Do(BeginAnalysis{question.trial, question.at});
  draft.Emit(analyse);
  return true;
}

void OnCurveAnalysed(Draft& draft, const CurveAnalysed& analysed) {
  if (!draft.state().analyses.contains({analysed.trial, analysed.at})) return;
  draft.Do(EndAnalysis{analysed.trial, analysed.at});
  draft.touched.for_policy.emplace_back(analysed);
}

}  // namespace espalier::master
