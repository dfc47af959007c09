#include "worker/trainer/models/optimizer_settings.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "worker/trainer/models/values.h"

namespace espalier::trainer {
namespace {

constexpr std::array<std::string_view, 4> kOptimizers{"adam", "adamw", "rmsprop", "sgd"};

}  // namespace

std::vector<DeclaredHyperParameter> DeclareOptimizer(const OptimizerSettings& defaults) {
  return {{.name = "alpha", .default_value = defaults.alpha},
          {.name = "beta1", .default_value = defaults.beta1},
          {.name = "beta2", .default_value = defaults.beta2},
          {.name = "eps", .default_value = defaults.epsilon},
          {.name = "lr", .default_value = defaults.learning_rate},
          {.name = "momentum", .default_value = defaults.momentum},
          {.name = "nesterov", .default_value = defaults.nesterov},
          {.name = "optimizer", .default_value = defaults.kind},
          {.name = "weight_decay", .default_value = defaults.weight_decay}};
}

void TakeOver(const HyperParameterValues& values, OptimizerSettings& settings) {
  TakeOver(values, "alpha", settings.alpha);
  TakeOver(values, "beta1", settings.beta1);
  TakeOver(values, "beta2", settings.beta2);
  TakeOver(values, "eps", settings.epsilon);
  TakeOver(values, "lr", settings.learning_rate);
  TakeOver(values, "momentum", settings.momentum);
  TakeOver(values, "nesterov", settings.nesterov);
  TakeOver(values, "optimizer", settings.kind);
  TakeOver(values, "weight_decay", settings.weight_decay);
  BelowOne("alpha", settings.alpha);
  BelowOne("beta1", settings.beta1);
  BelowOne("beta2", settings.beta2);
  NotNegative("eps", settings.epsilon);
  NotNegative("lr", settings.learning_rate);
  NotNegative("momentum", settings.momentum);
  NotNegative("weight_decay", settings.weight_decay);
  if (std::ranges::find(kOptimizers, settings.kind) == kOptimizers.end()) {
    Refuse("optimizer", "adam, adamw, rmsprop or sgd", settings.kind);
  }
}

}  // namespace espalier::trainer
