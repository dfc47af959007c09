#include "client/convert.h"

#include "proto/convert_schema.h"

namespace espalier {
namespace {

v1::Scope ToWire(Scope scope) {
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

}  // namespace

v1::StudySpecification ToWire(const StudySpecification& specification) {
  v1::StudySpecification wire;
  wire.set_name(specification.name);
  wire.set_trainer(specification.trainer);
  wire.set_data(specification.data);
  if (const auto* updates = std::get_if<Updates>(&specification.step)) {
    wire.mutable_step()->set_updates(updates->count);
  } else {
    wire.mutable_step()->set_epoch(true);
  }
  wire.set_evaluate_every_steps(specification.evaluate_every_steps);
  wire.set_metric(specification.metric);
  wire.set_goal(specification.goal == Goal::kMaximize ? v1::GOAL_MAXIMIZE : v1::GOAL_MINIMIZE);
  wire.set_scope(ToWire(specification.scope));
  wire.set_definition(specification.definition);
  for (const auto& [name, type] : specification.undeclared) (*wire.mutable_undeclared())[name] = ToProto(type);
  return wire;
}

v1::NewTrial ToWire(const StartTrial& trial) {
  v1::NewTrial wire;
  wire.mutable_sequences()->insert(trial.sequences.begin(), trial.sequences.end());
  wire.set_steps(trial.steps.value);
  wire.set_horizon_steps(trial.horizon.value);
  return wire;
}

std::string_view Name(v1::Goal goal) {
  switch (goal) {
    case v1::GOAL_MAXIMIZE:
      return "maximize";
    case v1::GOAL_MINIMIZE:
      return "minimize";
    default:
      return "";
  }
}

std::string_view Name(v1::Scope scope) {
  switch (scope) {
    case v1::SCOPE_NOBODY:
      return "nobody";
    case v1::SCOPE_STUDY:
      return "study";
    case v1::SCOPE_TEAM:
      return "team";
    case v1::SCOPE_EVERYONE:
      return "everyone";
    default:
      return "";
  }
}

std::string_view Name(v1::Role role) {
  switch (role) {
    case v1::ROLE_MEMBER:
      return "member";
    case v1::ROLE_ADMINISTRATOR:
      return "administrator";
    case v1::ROLE_NODE:
      return "node";
    default:
      return "";
  }
}

v1::Role RoleOf(std::string_view name) {
  for (const v1::Role role : {v1::ROLE_MEMBER, v1::ROLE_ADMINISTRATOR, v1::ROLE_NODE}) {
    if (Name(role) == name) return role;
  }
  return v1::ROLE_UNSPECIFIED;
}

}  // namespace espalier
