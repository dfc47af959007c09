#include "master/core/nodes/trial_actions.h"

#include "master/core/calls/trial_edits.h"
#include "master/core/nodes/needs.h"
#include "master/core/state/claims.h"

namespace espalier::master {

bool Release(Draft& draft, const ReleaseTrial& release) {
  const MasterState& state = draft.state();
  const auto known = state.trials.find(release.trial);
  if (known == state.trials.end()) return false;
  const Trial& trial = known->second;
  if (!state.index.studies_that_may_stop.contains(trial.study)) return false;
  if (LastWaitingClaim(state.plans.at(trial.plan), trial) == nullptr) return false;
  draft.Log(LogLevel::kInfo, "trial released",
            {{"trial", trial.id}, {"study", trial.study}, {"policy", std::string(draft.policy.name())}});
  const PlanId plan = trial.plan;
  EndTrial(draft, release.trial, true);
  MeetNeeds(draft, plan);
  return true;
}

bool Label(Draft& draft, const LabelTrial& label) {
  const auto known = draft.state().trials.find(label.trial);
  if (known == draft.state().trials.end() || label.text.empty()) return false;
  if (!draft.state().running_studies.contains(known->second.study)) return false;
  draft.Do(SetLabel{label.trial, {.policy = std::string(draft.policy.name()), .text = label.text}});
  return true;
}

}  // namespace espalier::master
