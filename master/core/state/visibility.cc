#include "master/core/state/visibility.h"

#include <algorithm>

namespace espalier::master {
namespace {

tl::unexpected<Error> NoStudy(const std::string& which, std::string field) {
  return MakeError(ErrorCode::kNotFound, "no study " + which + "; see: espalier study list", std::move(field));
}

}  // namespace

bool MaySee(const Caller& caller, const Study& study) { return study.team == caller.team || study.user == caller.user; }

bool IsAdministrator(const MasterState& state, const Caller& caller) {
  const auto user = state.users.find(caller.user);
  return user != state.users.end() && user->second.role == Role::kAdministrator;
}

Result<const Study*> FindStudy(const MasterState& state, StudyId id, const Caller& caller) {
  const auto study = state.studies.find(id);
  if (study == state.studies.end() || !MaySee(caller, study->second)) {
    return NoStudy(std::to_string(id.value), "study_id");
  }
  return &study->second;
}

Result<const Study*> FindStudyNamed(const MasterState& state, const std::string& name, const Caller& caller) {
  const Study* found = nullptr;
  for (auto it = state.studies.rbegin(); it != state.studies.rend(); ++it) {
    const Study& study = it->second;
    if (study.specification.name != name || !MaySee(caller, study)) continue;
    if (study.user == caller.user) return &study;
    if (found == nullptr) found = &study;
  }
  if (found == nullptr) return NoStudy("named '" + name + "'", "name");
  return found;
}

Result<const Trial*> FindTrial(const MasterState& state, TrialId id, const Caller& caller) {
  const auto trial = state.trials.find(id);
  if (trial == state.trials.end() || !MaySee(caller, state.studies.at(trial->second.study))) {
    return MakeError(ErrorCode::kNotFound, "no trial " + std::to_string(id.value) + "; see: espalier trial list STUDY",
                     "trial_id");
  }
  return &trial->second;
}

Result<const Study*> FindOwnStudy(const MasterState& state, StudyId id, const Caller& caller) {
  ESPALIER_ASSIGN(const Study* study, FindStudy(state, id, caller));
  if (study->user == caller.user) return study;
  return MakeError(ErrorCode::kFailedPrecondition,
                   "study " + std::to_string(id.value) + " is " + study->user + "'s, who alone may change it",
                   "study_id");
}

bool IsForTeam(const MasterState& state, const Run& run, const std::string& team) {
  return std::any_of(run.charges.begin(), run.charges.end(),
                     [&](const auto& charge) { return state.studies.at(charge.first).team == team; });
}

bool IsOfEveryone(const SearchPlan& plan) { return plan.identity.sharing.scope == Scope::kEveryone; }

bool MayKnow(const MasterState& state, const SearchPlan& plan, const std::string& team) {
  const Sharing& sharing = plan.identity.sharing;
  switch (sharing.scope) {
    case Scope::kEveryone:
      return true;
    case Scope::kTeam:
      return sharing.team == team;
    case Scope::kStudy:
    case Scope::kNobody:
      break;
  }
  const auto study = state.studies.find(sharing.study);
  return study != state.studies.end() && study->second.team == team;
}

}  // namespace espalier::master
