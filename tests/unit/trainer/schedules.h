// Hyper-parameters that change on the way, for trainings of the built-in mlp in tests.
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

inline const HyperParameterValues kInitialValues{{"hidden", std::int64_t{24}}, {"seed", std::int64_t{7}}};

// lr, bs, momentum and dropout change; the optimizer is the one given, or, if that is empty, changes too.
inline Schedule ChangingSchedule(const std::string& optimizer) {
  return [optimizer](std::int64_t step) {
    const bool adam = optimizer.empty() ? step >= 4 && step < 8 : optimizer == "adam";
    const double lr = (adam ? 0.002 : 0.1) / static_cast<double>(1 + step / 2);
    return HyperParameterValues{{"lr", lr},
                                {"bs", std::int64_t{step < 3   ? 32
                                                    : step < 7 ? 50
                                                               : 100}},
                                {"momentum", step < 5 ? 0.9 : 0.5},
                                {"weight_decay", step < 6 ? 0.0 : 0.001},
                                {"dropout", step < 6   ? 0.2
                                            : step < 8 ? 0.0
                                                       : 0.4},
                                {"optimizer", std::string(adam ? "adam" : "sgd")}};
  };
}

// Momentum begins only after the first cut, dropout ends.
inline Schedule LateMomentum() {
  return [](std::int64_t step) {
    HyperParameterValues values = ChangingSchedule("sgd")(step);
    values["momentum"] = step < 4 ? 0.0 : 0.9;
    return values;
  };
}

inline std::vector<Scenario> Scenarios() {
  return {{"SGD by epochs", {}, ChangingSchedule("sgd"), 10},
          {"Adam by epochs", {}, ChangingSchedule("adam"), 10},
          {"a changing optimizer by epochs", {}, ChangingSchedule(""), 10},
          {"SGD by updates", {7}, ChangingSchedule("sgd"), 12},
          {"SGD with late momentum by updates", {7}, LateMomentum(), 12},
          {"Adam by updates", {7}, ChangingSchedule("adam"), 12},
          {"a changing optimizer by updates", {13}, ChangingSchedule(""), 12}};
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
