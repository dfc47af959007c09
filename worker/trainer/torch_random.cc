#include "worker/trainer/torch_random.h"

#include "worker/trainer/models/tensor_state.h"

namespace espalier::trainer {

State TakeRandomGenerators() {
  State generators;
  SaveRandom("", generators);
  return generators;
}

void PutBackRandomGenerators(const State& generators) { LoadRandom(generators, ""); }

}  // namespace espalier::trainer
