// What a trainer gives to be saved: all that its next steps depend on.
#pragma once

#include "worker/checkpoint/training_state.h"

namespace espalier::trainer {

using State = TrainingState;

}  // namespace espalier::trainer
