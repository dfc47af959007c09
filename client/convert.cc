#include "client/convert.h"

#include "proto/convert_schema.h"
#include "proto/convert_study_choices.h"

namespace espalier {

v1::StudySpecification ToWire(const StudySpecification& specification) {
  v1::StudySpecification wire;
  wire.set_name(specification.name);
  wire.set_trainer(specification.trainer);
  wire.set_data(specification.data);
  *wire.mutable_step() = ToProto(specification.step);
  wire.set_evaluate_every_steps(specification.evaluate_every_steps);
  if (specification.hang_after) wire.set_hang_after_seconds(specification.hang_after->count());
  wire.set_metric(specification.metric);
  wire.set_goal(ToProto(specification.goal));
  wire.set_scope(ToProto(specification.scope));
  wire.set_keep(ToProto(specification.keep));
  wire.set_check(ToProto(specification.check));
  wire.set_definition(specification.definition);
  wire.set_reference_digest(specification.reference);
  for (const auto& [name, type] : specification.undeclared) (*wire.mutable_undeclared())[name] = ToProto(type);
  return wire;
}

v1::NewTrial ToWire(const tuners::StartTrial& trial) {
  v1::NewTrial wire;
  wire.mutable_sequences()->insert(trial.sequences.begin(), trial.sequences.end());
  wire.set_steps(trial.steps.value);
  wire.set_horizon_steps(trial.horizon.value);
  return wire;
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
