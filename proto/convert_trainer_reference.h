// Between protocol/trainer_reference.h and its message, both ways. Thread-safe: plain functions.
#pragma once

#include "espalier/v1/trainer_reference.pb.h"
#include "protocol/trainer_reference.h"

namespace espalier {

v1::TrainerReference ToProto(const TrainerReference& reference);

// As it comes: Check says whether it makes sense. Of a variable that comes twice, the last counts.
TrainerReference FromProto(const v1::TrainerReference& message);

}  // namespace espalier
