// Law 1 for one trainer: trainings straight through, and in pieces.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/trainer/schedules.h"
#include "worker/trainer/trainer.h"

namespace espalier::trainer::test {

struct Trained {
  std::vector<Metrics> metrics;  // of each step
  Metrics evaluation;            // at the end
  std::string state_sha256;
  friend bool operator==(const Trained&, const Trained&) = default;
};

// A trainer, and its values at step 0 that are initial; those that are not given are at their defaults.
struct Subject {
  TrainerKind kind;
  HyperParameterValues initial;
};

// After Init.
std::unique_ptr<Trainer> MakeTrainer(const Subject& subject, const Scenario& scenario);

Trained TrainStraight(const Subject& subject, const Scenario& scenario);

// What a test does to a loaded state: `fresh` is that of a training that just began.
using Tamper = std::function<void(State& state, const State& fresh)>;

// Puts the fresh values in the place of all whose names begin so.
Tamper WithoutPart(const std::string& prefix);

// The same with a new object after every second step, evaluations before saves, and another training in between, which
// every second piece goes on in, if the kind reloads.
Trained TrainInPieces(const Subject& subject, const Scenario& scenario, const Tamper& tamper = {});

}  // namespace espalier::trainer::test
