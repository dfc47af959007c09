// Hyper-parameters that change on the way, for trainings of the built-in classifiers in tests.
#pragma once

#include <functional>
#include <string>

#include "worker/trainer/trainer.h"

namespace espalier::trainer::test {

// The values of all sequences at a step.
using Schedule = std::function<HyperParameterValues(std::int64_t step)>;

struct Scenario {
  std::string name;
  StepMeaning step;
  Schedule schedule;
  std::int64_t step_count = 0;
};

inline const HyperParameterValues kInitialValues{
    {"hidden", std::int64_t{24}}, {"precision", std::string("float32")}, {"seed", std::int64_t{7}}};

// Settings of optimizers that change on the way; the optimizer is the one given, or, if that is empty, changes too.
inline HyperParameterValues ChangingOptimizer(const std::string& given, std::int64_t step) {
  const std::string in_turn[] = {"sgd", "adamw", "rmsprop", "adam"};
  const std::string& optimizer = given.empty() ? in_turn[step / 3 % 4] : given;
  return {{"alpha", step < 7 ? 0.99 : 0.9},
          {"beta1", step < 6 ? 0.9 : 0.8},
          {"beta2", step < 4 ? 0.999 : 0.99},
          {"eps", step < 3 ? 1e-8 : 1e-6},
          {"lr", (optimizer == "sgd" ? 0.1 : 0.002) / static_cast<double>(1 + step / 2)},
          {"momentum", step < 5 ? 0.9 : 0.5},
          {"nesterov", step >= 3},
          {"optimizer", optimizer},
          {"weight_decay", step < 6 ? 0.0 : 0.001}};
}

// Of the mlp: the optimizer's settings as above, and the batch size, dropout and how images are changed.
inline Schedule ChangingSchedule(const std::string& optimizer) {
  return [optimizer](std::int64_t step) {
    HyperParameterValues values = ChangingOptimizer(optimizer, step);
    values["bs"] = std::int64_t{step < 3 ? 32 : step < 7 ? 50 : 100};
    values["crop"] = std::int64_t{step < 4 ? 0 : 1};
    values["cutout"] = std::int64_t{step < 2 ? 0 : 2 + step % 2};
    values["dropout"] = step < 6 ? 0.2 : step < 8 ? 0.0 : 0.4;
    values["flip"] = step >= 3 && step < 9;
    return values;
  };
}

// Momentum begins only after the first cut, dropout ends.
inline Schedule LateMomentum(const std::string& optimizer) {
  return [optimizer](std::int64_t step) {
    HyperParameterValues values = ChangingSchedule(optimizer)(step);
    values["momentum"] = step < 4 || step == 9 ? 0.0 : 0.9;
    return values;
  };
}

inline std::vector<Scenario> Scenarios() {
  std::vector<Scenario> scenarios{{"SGD by epochs", {}, ChangingSchedule("sgd"), 10},
                                  {"a changing optimizer by epochs", {}, ChangingSchedule(""), 12},
                                  {"a changing optimizer by updates", {13}, ChangingSchedule(""), 13},
                                  {"SGD with late momentum by updates", {7}, LateMomentum("sgd"), 12},
                                  {"RMSProp with late momentum by updates", {7}, LateMomentum("rmsprop"), 12}};
  for (const char* optimizer : {"sgd", "adam", "adamw", "rmsprop"}) {
    scenarios.push_back({std::string(optimizer) + " by updates", {7}, ChangingSchedule(optimizer), 12});
  }
  return scenarios;
}

// What Setup is given at a step: what differs from the step before, or all at step 0.
inline HyperParameterValues ChangesAt(const Schedule& schedule, std::int64_t step) {
  HyperParameterValues values = schedule(step);
  if (step == 0) return values;
  const HyperParameterValues before = schedule(step - 1);
  std::erase_if(values, [&](const auto& item) { return before.at(item.first) == item.second; });
  return values;
}

}  // namespace espalier::trainer::test
