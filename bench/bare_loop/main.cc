// espalier-bare-loop HIDDEN UPDATES STEPS SEED: the training that bench overhead has the service do, in a loop with
// nothing around it: so many steps of so many updates, and an evaluation. Prints "SECONDS TEST_ACC".
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>

#include "base/clock.h"
#include "worker/trainer/registry.h"
#include "worker/trainer/torch_device.h"

namespace {

using espalier::trainer::HyperParameterValues;
using espalier::trainer::TrainerKind;

HyperParameterValues ValuesOf(const TrainerKind& kind, std::int64_t hidden, std::int64_t seed, bool initial_too) {
  HyperParameterValues values;
  for (const auto& declared : kind.hyper_parameters) {
    if (declared.initial && !initial_too) continue;
    values[declared.name] = declared.default_value;
  }
  values["momentum"] = 0.9;
  if (initial_too) values["hidden"] = hidden;
  if (initial_too) values["seed"] = seed;
  return values;
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 5) return 2;
  const std::int64_t hidden = std::stoll(arguments[1]);
  const std::int64_t updates = std::stoll(arguments[2]);
  const std::int64_t steps = std::stoll(arguments[3]);
  const std::int64_t seed = std::stoll(arguments[4]);
  const auto kinds = espalier::trainer::ChooseTrainers({.trainers = {"mlp"}, .data = {"digits"}});
  if (!kinds.has_value()) {
    std::cerr << kinds.error().message << "\n";
    return 1;
  }
  espalier::trainer::SetUpDevice(1);
  const TrainerKind& kind = kinds->front();
  const espalier::Seconds begin = espalier::MonotonicNow();
  const auto trainer = kind.make({.updates = updates});
  trainer->Init(ValuesOf(kind, hidden, seed, true));
  trainer->Setup(ValuesOf(kind, hidden, seed, false));
  for (std::int64_t step = 0; step < steps; ++step) trainer->Train();
  const double accuracy = trainer->Evaluate().at("test_acc");
  std::printf("%.6f %.17g\n", (espalier::MonotonicNow() - begin).count(), accuracy);
}
