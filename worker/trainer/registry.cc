#include "worker/trainer/registry.h"

#include "worker/trainer/models/mlp.h"
#include "worker/trainer/models/synthetic.h"

namespace espalier {

std::vector<TrainerKind> BuiltInTrainers() { return {MlpOnDigits(), Synthetic()}; }

}  // namespace espalier
