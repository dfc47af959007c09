#include "worker/trainer/models/mlp.h"

#include <torch/nn/functional/activation.h>
#include <torch/nn/functional/dropout.h>
#include <torch/nn/modules/linear.h>

#include <functional>
#include <numeric>

#include "worker/trainer/data/batches.h"
#include "worker/trainer/models/network.h"
#include "worker/trainer/models/values.h"

namespace espalier::trainer {
namespace {

class MlpNetwork : public ModuleNetwork {
 public:
  MlpNetwork(std::int64_t feature_count, std::int64_t hidden, std::int64_t class_count)
      : first_(register_module("first", torch::nn::Linear(feature_count, hidden))),
        second_(register_module("second", torch::nn::Linear(hidden, hidden))),
        last_(register_module("last", torch::nn::Linear(hidden, class_count))) {}

  at::Tensor Forward(const at::Tensor& inputs) override {
    return last_->forward(Hidden(second_, Hidden(first_, inputs.flatten(1))));
  }

  void Setup(const HyperParameterValues& changed_values) override {
    TakeOver(changed_values, "dropout", dropout_);
    BelowOne("dropout", dropout_);
  }

 private:
  at::Tensor Hidden(torch::nn::Linear& layer, const at::Tensor& input) {
    const at::Tensor output = torch::relu(layer->forward(input));
    // Without dropout nothing is drawn from the random generator.
    return dropout_ > 0 && is_training() ? torch::dropout(output, dropout_, true) : output;
  }

  torch::nn::Linear first_;
  torch::nn::Linear second_;
  torch::nn::Linear last_;
  double dropout_ = 0;
};

std::unique_ptr<Network> MakeMlp(const HyperParameterValues& values, const Form& form) {
  const std::int64_t feature_count =
      std::accumulate(form.input_shape.begin(), form.input_shape.end(), std::int64_t{1}, std::multiplies());
  const std::int64_t hidden = AtLeast(1, "hidden", ValueOf<std::int64_t>(values, "hidden"));
  return std::make_unique<MlpNetwork>(feature_count, hidden, form.class_count);
}

}  // namespace

NetworkKind Mlp() {
  return {.name = "mlp",
          .version = "mlp-2",
          .takes = {DataKind::kTable, DataKind::kImages},
          .hyper_parameters = {{.name = "dropout", .default_value = 0.0},
                               {.name = "hidden", .default_value = std::int64_t{128}, .initial = true}},
          .batch_size = 32,
          .optimizer = {.learning_rate = 0.1},
          .make = MakeMlp};
}

}  // namespace espalier::trainer
