// Between the client's types and the wire's.
#pragma once

#include <optional>

#include "base/study_event.h"
#include "client/study_specification.h"
#include "client/tuners/tuner.h"
#include "espalier/v1/inspect.pb.h"
#include "espalier/v1/study.pb.h"
#include "espalier/v1/user.pb.h"

namespace espalier {

v1::StudySpecification ToWire(const StudySpecification& specification);
v1::NewTrial ToWire(const tuners::StartTrial& trial);

// None: of a kind that this program does not know.
std::optional<StudyEvent> FromWire(const v1::StudyEvent& event);

// "member", "administrator", "node", "tuner"; empty if unspecified; and back, unspecified for any other text.
std::string_view Name(v1::Role role);
v1::Role RoleOf(std::string_view name);

}  // namespace espalier
