// What the built-in trainer registers, for tests without one.
#pragma once

#include "espalier/v1/schema.pb.h"
#include "espalier/v1/trainer.pb.h"

namespace espalier::testing {

// A trainer "mlp" on "digits": lr, momentum, dropout, weight_decay (floating), bs (integer), optimizer (text), hidden
// and seed (initial, integer); metrics test_acc and test_loss.
v1::TrainerDescription MlpTrainer();

}  // namespace espalier::testing
