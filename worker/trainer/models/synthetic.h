// The built-in trainer `synthetic`: trains nothing and takes any hyper-parameters, for trying the service, for load
// tests and for forecasts. Its state and its metrics depend on every value that it was given, in their order, so that
// it tells whether a training was shared, stopped and resumed rightly. Hyper-parameters of its own: step_seconds (how
// long a step takes), state_bytes (initial: the size of a saved state beyond some bytes), and the curve of the metric
// `test_acc`: with each step it goes curve_rate of the way to a level between half of curve_limit and curve_limit,
// which all other hyper-parameters' values of that step decide; curve_noise is the width of what is added to it when it
// is measured. `test_loss` is 1 - test_acc.
#pragma once

#include "worker/trainer/trainer.h"

namespace espalier::trainer {

TrainerKind Synthetic();

}  // namespace espalier::trainer
