// A study's goal, scope and what it keeps between the wire and base/study_choices.h: the same for master and clients.
#pragma once

#include "base/study_choices.h"
#include "espalier/v1/study.pb.h"

namespace espalier {

v1::Goal ToProto(Goal goal);
v1::Scope ToProto(Scope scope);
v1::Keep ToProto(Keep keep);

// What says nothing is kMaximize.
Goal FromProto(v1::Goal goal);

// What says nothing is kTeam. Error: kInvalidArgument for a scope that this program does not know.
Result<Scope> FromProto(v1::Scope scope);

// What says nothing is kBest. Error: kInvalidArgument for one that this program does not know.
Result<Keep> FromProto(v1::Keep keep);

}  // namespace espalier
