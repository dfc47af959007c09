#include "worker/trainer/registry.h"

#include "worker/trainer/models/mlp.h"
#include "worker/trainer/models/synthetic.h"

namespace espalier::trainer {

std::vector<TrainerKind> BuiltInTrainers() { return {MlpOnDigits(), Synthetic()}; }

}  // namespace espalier::trainer
