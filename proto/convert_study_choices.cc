#include "proto/convert_study_choices.h"

namespace espalier {

Goal FromProto(v1::Goal goal) { return goal == v1::GOAL_MINIMIZE ? Goal::kMinimize : Goal::kMaximize; }

v1::Goal ToProto(Goal goal) { return goal == Goal::kMinimize ? v1::GOAL_MINIMIZE : v1::GOAL_MAXIMIZE; }

Result<Scope> FromProto(v1::Scope scope) {
  switch (scope) {
    case v1::SCOPE_NOBODY:
      return Scope::kNobody;
    case v1::SCOPE_STUDY:
      return Scope::kStudy;
    case v1::SCOPE_UNSPECIFIED:
    case v1::SCOPE_TEAM:
      return Scope::kTeam;
    case v1::SCOPE_EVERYONE:
      return Scope::kEveryone;
    default:
      return MakeError(ErrorCode::kInvalidArgument, "expected nobody, study, team or everyone", "share");
  }
}

v1::Scope ToProto(Scope scope) {
  switch (scope) {
    case Scope::kNobody:
      return v1::SCOPE_NOBODY;
    case Scope::kStudy:
      return v1::SCOPE_STUDY;
    case Scope::kTeam:
      return v1::SCOPE_TEAM;
    case Scope::kEveryone:
      return v1::SCOPE_EVERYONE;
  }
  return v1::SCOPE_UNSPECIFIED;
}

Result<Keep> FromProto(v1::Keep keep) {
  switch (keep) {
    case v1::KEEP_UNSPECIFIED:
    case v1::KEEP_BEST:
      return Keep::kBest;
    case v1::KEEP_ALL:
      return Keep::kAll;
    case v1::KEEP_NONE:
      return Keep::kNone;
    case v1::KEEP_CLAIMED:
      return Keep::kClaimed;
    default:
      return MakeError(ErrorCode::kInvalidArgument, "expected best, all, claimed or none", "keep");
  }
}

v1::Keep ToProto(Keep keep) {
  switch (keep) {
    case Keep::kBest:
      return v1::KEEP_BEST;
    case Keep::kAll:
      return v1::KEEP_ALL;
    case Keep::kNone:
      return v1::KEEP_NONE;
    case Keep::kClaimed:
      return v1::KEEP_CLAIMED;
  }
  return v1::KEEP_UNSPECIFIED;
}

Result<CheckWhen> FromProto(v1::CheckWhen when) {
  switch (when) {
    case v1::CHECK_WHEN_UNSPECIFIED:
    case v1::CHECK_WHEN_BESIDE:
      return CheckWhen::kBeside;
    case v1::CHECK_WHEN_FIRST:
      return CheckWhen::kFirst;
    case v1::CHECK_WHEN_OFF:
      return CheckWhen::kOff;
    default:
      return MakeError(ErrorCode::kInvalidArgument, "expected beside, first or off", "check");
  }
}

v1::CheckWhen ToProto(CheckWhen when) {
  switch (when) {
    case CheckWhen::kBeside:
      return v1::CHECK_WHEN_BESIDE;
    case CheckWhen::kFirst:
      return v1::CHECK_WHEN_FIRST;
    case CheckWhen::kOff:
      return v1::CHECK_WHEN_OFF;
  }
  return v1::CHECK_WHEN_UNSPECIFIED;
}

}  // namespace espalier
