#include "worker/trainer/registry.h"

#include "worker/trainer/models/mlp.h"

namespace espalier {

std::vector<TrainerKind> BuiltInTrainers() { return {MlpOnDigits()}; }

}  // namespace espalier
