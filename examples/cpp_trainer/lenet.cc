// A trainer in a library of one's own: a small convolutional network (after Y. LeCun et al., "Gradient-Based Learning
// Applied to Document Recognition", 1998) for images. What all classifiers have - optimizers, data, saving, evaluation
// - comes from Classifier.
#include <torch/nn/functional/pooling.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "worker/trainer/data/batches.h"
#include "worker/trainer/models/classifier.h"
#include "worker/trainer/models/network.h"
#include "worker/trainer/models/values.h"
#include "worker/trainer/torch_library.h"

namespace {

using namespace espalier::trainer;

class LeNetNetwork : public ModuleNetwork {
 public:
  LeNetNetwork(std::int64_t channels, const Form& form)
      : conv1_(register_module("conv1", torch::nn::Conv2d(Options(form.input_shape[0], channels)))),
        conv2_(register_module("conv2", torch::nn::Conv2d(Options(channels, 2 * channels)))),
        last_(register_module("last", torch::nn::Linear(2 * channels, form.class_count))) {}

  at::Tensor Forward(const at::Tensor& inputs) override {
    const at::Tensor features = Pooled(conv2_->forward(Pooled(conv1_->forward(inputs))));
    const at::Tensor means = features.mean({2, 3});
    return last_->forward(dropout_ > 0 && is_training() ? torch::dropout(means, dropout_, true) : means);
  }

  // Its own sequences: what changes is said before the next step.
  void Setup(const HyperParameterValues& changed_values) override {
    TakeOver(changed_values, "dropout", dropout_);
    BelowOne("dropout", dropout_);
  }

 private:
  static torch::nn::Conv2dOptions Options(std::int64_t from, std::int64_t to) {
    return torch::nn::Conv2dOptions(from, to, 5).padding(2);
  }
  static at::Tensor Pooled(const at::Tensor& image) {
    return torch::nn::functional::max_pool2d(torch::relu(image), torch::nn::functional::MaxPool2dFuncOptions(2));
  }

  torch::nn::Conv2d conv1_;
  torch::nn::Conv2d conv2_;
  torch::nn::Linear last_;
  double dropout_ = 0;
};

NetworkKind LeNet() {
  return {.name = "lenet",
          .version = "lenet-1",
          .takes = {DataKind::kImages},
          .hyper_parameters = {{.name = "channels", .default_value = std::int64_t{8}, .initial = true},
                               {.name = "dropout", .default_value = 0.0}},
          .optimizer = {.learning_rate = 0.1, .momentum = 0.9},
          .make = [](const HyperParameterValues& values, const Form& form) -> std::unique_ptr<Network> {
            const auto channels = AtLeast(1, "channels", ValueOf<std::int64_t>(values, "channels"));
            return std::make_unique<LeNetNetwork>(channels, form);
          }};
}

std::vector<TrainerKind> Trainers(const std::vector<DataSource>& data) {
  std::vector<TrainerKind> trainers;
  for (const DataSource& source : data) {
    if (Takes(LeNet(), source)) trainers.push_back(Classifier(LeNet(), source));
  }
  return trainers;
}

}  // namespace

ESPALIER_TRAINERS(Trainers)
