// Between the client's types and the wire's.
#pragma once

#include "client/study_specification.h"
#include "client/tuners/tuner.h"
#include "espalier/v1/inspect.pb.h"
#include "espalier/v1/study.pb.h"
#include "espalier/v1/user.pb.h"

namespace espalier {

v1::StudySpecification ToWire(const StudySpecification& specification);
v1::NewTrial ToWire(const tuners::StartTrial& trial);

// "member", "administrator", "node"; empty if unspecified; and back, unspecified for any other text.
std::string_view Name(v1::Role role);
v1::Role RoleOf(std::string_view name);

}  // namespace espalier
