// A study's goal and scope between the wire and base/goal_and_scope.h: the same for master and clients.
#pragma once

#include "base/goal_and_scope.h"
#include "espalier/v1/study.pb.h"

namespace espalier {

v1::Goal ToProto(Goal goal);
v1::Scope ToProto(Scope scope);

// What says nothing is kMaximize.
Goal FromProto(v1::Goal goal);

// What says nothing is kTeam. Error: kInvalidArgument for a scope that this program does not know.
Result<Scope> FromProto(v1::Scope scope);

}  // namespace espalier
