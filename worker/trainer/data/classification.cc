#include "worker/trainer/data/classification.h"

#include "worker/trainer/models/tensor_state.h"

namespace espalier::trainer {

std::string Sha256Of(const LabeledSamples& samples) {
  return Sha256Of(State{{"features", ToArray(samples.features)}, {"labels", ToArray(samples.labels)}});
}

}  // namespace espalier::trainer
