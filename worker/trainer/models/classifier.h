// Trains a network to tell classes: what all built-in trainers of networks have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "worker/trainer/data/data_source.h"
#include "worker/trainer/models/label_metric.h"
#include "worker/trainer/models/optimizer_settings.h"
#include "worker/trainer/trainer.h"

namespace espalier::trainer {

class Network;
struct Form;

struct NetworkKind {
  // The trainer's name, and the version of its code: raised when bits of its trainings change.
  std::string name;
  std::string version;
  std::vector<DataKind> takes;
  // Its own, besides those of every classifier.
  std::vector<DeclaredHyperParameter> hyper_parameters;
  // Defaults of every classifier's hyper-parameters.
  std::int64_t batch_size = 128;
  OptimizerSettings optimizer;
  // With initial weights from LibTorch's random generator, for data of this form. `values`: of all hyper-parameters at
  // step 0. Throws std::invalid_argument, naming the hyper-parameter, for what cannot be.
  std::function<std::unique_ptr<Network>(const HyperParameterValues& values, const Form& form)> make;
  // Of an evaluation, besides those of every classifier.
  std::vector<LabelMetric> metrics = {};
};

bool Takes(const NetworkKind& network, const DataSource& data);

// A trainer whose hyper-parameters are the network's, the data's, the optimizer's (models/optimizer_settings.h), `bs`
// (samples an update), `seed` and `precision` (initial). Metrics: test_acc, the share of labels that are told right,
// test_loss, their mean loss, and the network's own. REQUIRES: the network takes the data.
TrainerKind Classifier(const NetworkKind& network, const DataSource& data);

}  // namespace espalier::trainer
