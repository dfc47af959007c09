#include "base/goal_and_scope.h"

namespace espalier {

std::string_view Name(Goal goal) {
  switch (goal) {
    case Goal::kMinimize:
      return "min";
    case Goal::kMaximize:
      return "max";
  }
  return "";
}

std::string_view Name(Scope scope) {
  switch (scope) {
    case Scope::kNobody:
      return "nobody";
    case Scope::kStudy:
      return "study";
    case Scope::kTeam:
      return "team";
    case Scope::kEveryone:
      return "everyone";
  }
  return "";
}

Result<Goal> ParseGoal(std::string_view name) {
  for (const Goal goal : {Goal::kMinimize, Goal::kMaximize}) {
    if (Name(goal) == name) return goal;
  }
  return MakeError(ErrorCode::kInvalidArgument, "expected min or max, got '" + std::string(name) + "'");
}

Result<Scope> ParseScope(std::string_view name) {
  for (const Scope scope : {Scope::kNobody, Scope::kStudy, Scope::kTeam, Scope::kEveryone}) {
    if (Name(scope) == name) return scope;
  }
  return MakeError(ErrorCode::kInvalidArgument,
                   "expected nobody, study, team or everyone, got '" + std::string(name) + "'");
}

}  // namespace espalier
