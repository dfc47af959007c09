#include "worker/trainer/models/mlp.h"

#include <torch/nn/functional/activation.h>
#include <torch/nn/functional/dropout.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/linear.h>
#include <torch/utils.h>

#include <optional>
#include <stdexcept>

#include "worker/trainer/data/digits.h"
#include "worker/trainer/data/sample_order.h"
#include "worker/trainer/models/optimizer.h"
#include "worker/trainer/models/tensor_state.h"

namespace espalier::trainer {
namespace {

namespace functional = torch::nn::functional;

class MlpModule : public torch::nn::Module {
 public:
  MlpModule(std::int64_t feature_count, std::int64_t hidden, std::int64_t class_count)
      : first_(register_module("first", torch::nn::Linear(feature_count, hidden))),
        second_(register_module("second", torch::nn::Linear(hidden, hidden))),
        last_(register_module("last", torch::nn::Linear(hidden, class_count))) {}

  at::Tensor Forward(const at::Tensor& features, double dropout) {
    return last_->forward(Hidden(second_, Hidden(first_, features, dropout), dropout));
  }

 private:
  at::Tensor Hidden(torch::nn::Linear& layer, const at::Tensor& input, double dropout) {
    const at::Tensor output = torch::relu(layer->forward(input));
    // Without dropout nothing is drawn from the random generator.
    return dropout > 0 && is_training() ? torch::dropout(output, dropout, true) : output;
  }

  torch::nn::Linear first_;
  torch::nn::Linear second_;
  torch::nn::Linear last_;
};

[[noreturn]] void Refuse(const std::string& name, const std::string& expected, const std::string& got) {
  throw std::invalid_argument(name + ": expected " + expected + ", got " + got);
}

template <class T>
void TakeOver(const HyperParameterValues& values, const std::string& name, T& target) {
  if (const auto it = values.find(name); it != values.end()) target = std::get<T>(it->second);
}

std::int64_t AtLeastOne(const std::string& name, std::int64_t value) {
  if (value < 1) Refuse(name, "a whole number of at least 1", std::to_string(value));
  return value;
}

void CheckNotNegative(const std::string& name, double value) {
  if (!(value >= 0)) Refuse(name, "a number of at least 0", std::to_string(value));
}

class Mlp : public Trainer {
 public:
  Mlp(std::shared_ptr<const Classification> data, StepMeaning step) : data_(std::move(data)), step_(step) {}

  void Init(const HyperParameterValues& values) override {
    const std::int64_t hidden = AtLeastOne("hidden", std::get<std::int64_t>(values.at("hidden")));
    const auto seed = static_cast<std::uint64_t>(std::get<std::int64_t>(values.at("seed")));
    torch::manual_seed(seed);
    module_.emplace(data_->training.features.size(1), hidden, data_->class_count);
    order_.emplace(data_->training.features.size(0), seed);
  }

  void Setup(const HyperParameterValues& changed_values) override {
    TakeOver(changed_values, "bs", batch_size_);
    TakeOver(changed_values, "dropout", dropout_);
    TakeOver(changed_values, "lr", settings_.learning_rate);
    TakeOver(changed_values, "momentum", settings_.momentum);
    TakeOver(changed_values, "optimizer", settings_.kind);
    TakeOver(changed_values, "weight_decay", settings_.weight_decay);
    AtLeastOne("bs", batch_size_);
    if (!(dropout_ >= 0 && dropout_ < 1)) Refuse("dropout", "at least 0 and below 1", std::to_string(dropout_));
    CheckNotNegative("lr", settings_.learning_rate);
    CheckNotNegative("momentum", settings_.momentum);
    CheckNotNegative("weight_decay", settings_.weight_decay);
    if (settings_.kind != "sgd" && settings_.kind != "adam") Refuse("optimizer", "sgd or adam", settings_.kind);
    if (optimizer_.has_value()) {
      optimizer_->Change(settings_);
    } else {
      optimizer_.emplace(*module_, settings_);
    }
  }

  Metrics Train() override {
    module_->train();
    double loss_sum = 0;
    std::int64_t sample_count = 0;
    const std::int64_t epoch = order_->epoch();
    for (std::int64_t i = 0; step_.updates > 0 ? i < step_.updates : order_->epoch() == epoch; ++i) {
      const auto batch = order_->Next(batch_size_);
      const auto size = static_cast<std::int64_t>(batch.size());
      loss_sum += TrainBatch(batch) * static_cast<double>(size);
      sample_count += size;
    }
    return {{"loss", loss_sum / static_cast<double>(sample_count)}, {"samples", static_cast<double>(sample_count)}};
  }

  Metrics Evaluate() override {
    const EvaluationMode mode(*module_);
    const torch::NoGradGuard no_gradients;
    const at::Tensor output = module_->Forward(data_->validation.features, dropout_);
    const at::Tensor& labels = data_->validation.labels;
    const auto right_count = output.argmax(1).eq(labels).sum().item<std::int64_t>();
    return {{"test_acc", static_cast<double>(right_count) / static_cast<double>(labels.size(0))},
            {"test_loss", functional::cross_entropy(output, labels).item<double>()}};
  }

  State Save() override {
    State state;
    SaveModule(*module_, "model.", state);
    optimizer_->Save("optimizer.", state);
    SaveRandom("random.cpu", state);
    state["data.epoch"] = WholeNumber(order_->epoch());
    state["data.position"] = WholeNumber(order_->position());
    return state;
  }

  void Load(const State& state) override {
    LoadModule(state, "model.", *module_);
    optimizer_->Load(state, "optimizer.");
    LoadRandom(state, "random.cpu");
    if (!order_->GoTo(ReadWholeNumber(state, "data.epoch"), ReadWholeNumber(state, "data.position"))) {
      throw std::runtime_error("'data.position' in the state is no place in this data");
    }
  }

 private:
  // One update; returns the mean loss.
  double TrainBatch(std::span<const std::int64_t> batch) {
    const at::Tensor indices = at::from_blob(const_cast<std::int64_t*>(batch.data()),
                                             {static_cast<std::int64_t>(batch.size())}, at::TensorOptions(at::kLong));
    const at::Tensor features = data_->training.features.index_select(0, indices);
    const at::Tensor labels = data_->training.labels.index_select(0, indices);
    optimizer_->ZeroGradients();
    const at::Tensor loss = functional::cross_entropy(module_->Forward(features, dropout_), labels);
    loss.backward();
    optimizer_->Update();
    return loss.item<double>();
  }

  const std::shared_ptr<const Classification> data_;
  const StepMeaning step_;
  std::optional<MlpModule> module_;
  std::optional<Optimizer> optimizer_;
  std::optional<SampleOrder> order_;
  std::int64_t batch_size_ = 0;
  double dropout_ = 0;
  OptimizerSettings settings_;
};

}  // namespace

TrainerKind MlpOnDigits() {
  const std::shared_ptr<const Classification> data = Digits();
  return {.name = "mlp",
          .code_digest = "mlp-1",
          .data = data->name,
          .data_digest = data->training_digest,
          .evaluation_digest = data->validation_digest,
          .hyper_parameters = {{.name = "bs", .default_value = std::int64_t{32}},
                               {.name = "dropout", .default_value = 0.0},
                               {.name = "hidden", .default_value = std::int64_t{128}, .initial = true},
                               {.name = "lr", .default_value = 0.1},
                               {.name = "momentum", .default_value = 0.0},
                               {.name = "optimizer", .default_value = std::string("sgd")},
                               {.name = "seed", .default_value = std::int64_t{1}, .initial = true},
                               {.name = "weight_decay", .default_value = 0.0}},
          .metrics = {"test_acc", "test_loss"},
          .make = [data](StepMeaning step) { return std::make_unique<Mlp>(data, step); }};
}

}  // namespace espalier::trainer
