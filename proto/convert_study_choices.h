// A study's goal, scope, what it keeps and when its trainer is checked, between the wire and base/study_choices.h: the
// same for master and clients.
#pragma once

#include "base/study_choices.h"
#include "espalier/v1/study.pb.h"

namespace espalier {

v1::Goal ToProto(Goal goal);
v1::Scope ToProto(Scope scope);
v1::Keep ToProto(Keep keep);
v1::CheckWhen ToProto(CheckWhen when);

// What says nothing is kMaximize.
Goal FromProto(v1::Goal goal);

// What says nothing is kTeam. Error: kInvalidArgument for a scope that this program does not know.
Result<Scope> FromProto(v1::Scope scope);

// What says nothing is kBest. Error: kInvalidArgument for one that this program does not know.
Result<Keep> FromProto(v1::Keep keep);

// What says nothing is kBeside. Error: kInvalidArgument for one that this program does not know.
Result<CheckWhen> FromProto(v1::CheckWhen when);

}  // namespace espalier
