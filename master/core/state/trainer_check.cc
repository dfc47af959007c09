#include "master/core/state/trainer_check.h"

#include <algorithm>

#include "master/core/state/master_state.h"
#include "searchplan/plan/record_result.h"

namespace espalier::master {

CheckKey CheckKeyOf(const Study& study) { return {TrainerDigest(study.training), study.device_kind}; }

bool IsChecked(const Study& study) {
  return study.specification.reference && study.specification.check != CheckWhen::kOff;
}

const CheckFinding* FindingOf(const MasterState& state, const Study& study) {
  if (!IsChecked(study)) return nullptr;
  const auto found = state.check_findings.find(CheckKeyOf(study));
  return found == state.check_findings.end() ? nullptr : &found->second.finding;
}

const CheckFinding* FailedCheckOf(const MasterState& state, const Study& study) {
  const CheckFinding* finding = FindingOf(state, study);
  return finding == nullptr || finding->outcome != CheckOutcome::kFailed ? nullptr : finding;
}

std::string WhyStopped(const CheckFinding& failed) {
  return "the trainer has failed its check: its training is another one when it is cut. Mend it (`espalier trainer "
         "check` tells more), or let it be: check: off, --check off\n" +
         failed.message;
}

std::string WhyFailed(const MasterState& state, const SearchPlan& plan, const Claim& claim) {
  std::string why = WhyFailed(plan, claim);
  if (!why.empty()) return why;
  const CheckFinding* failed = FailedCheckOf(state, state.studies.at(state.trials.at(claim.trial).study));
  return failed == nullptr ? std::string() : WhyStopped(*failed);
}

bool AwaitsCheck(const MasterState& state, const SearchPlan& plan) {
  const auto wanted = state.index.checks_wanted.find({plan.trainer, plan.identity.device_kind});
  if (wanted == state.index.checks_wanted.end()) return false;
  const auto is_first = [&](StudyId id) { return state.studies.at(id).specification.check == CheckWhen::kFirst; };
  if (std::ranges::none_of(wanted->second, is_first)) return false;
  return std::ranges::all_of(state.running_studies, [&](StudyId id) {
    const auto plans = state.index.plans_of_study.find(id);
    const bool is_in_it = plans != state.index.plans_of_study.end() && plans->second.contains(plan.id);
    return !is_in_it || is_first(id);
  });
}

}  // namespace espalier::master
