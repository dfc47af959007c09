// How a network's parameters follow their gradients: which optimizer, and its settings. All are hyper-parameters whose
// values may change at any step, under the names that PyTorch gives them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/trainer/trainer.h"

namespace espalier::trainer {

struct OptimizerSettings {
  std::string kind = "sgd";  // "sgd", "adam", "adamw" or "rmsprop"
  double learning_rate = 0.1;
  double weight_decay = 0;  // of adamw apart from the gradient, of the others added to it
  double momentum = 0;      // of sgd and rmsprop
  bool nesterov = false;    // of sgd with a momentum
  double beta1 = 0.9;       // of adam and adamw
  double beta2 = 0.999;     // of adam and adamw
  double alpha = 0.99;      // of rmsprop: how much of the mean of squares stays
  double epsilon = 1e-8;    // of all but sgd
};

// As hyper-parameters, with these defaults: alpha, beta1, beta2, eps, lr, momentum, nesterov, optimizer, weight_decay.
std::vector<DeclaredHyperParameter> DeclareOptimizer(const OptimizerSettings& defaults);

// Takes over those that are given. Throws std::invalid_argument, naming the hyper-parameter, for what cannot be: an
// unknown optimizer, a negative number, one of 1 or more for beta1, beta2 and alpha.
void TakeOver(const HyperParameterValues& values, OptimizerSettings& settings);

}  // namespace espalier::trainer
