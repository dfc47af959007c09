// Figure 5.1: a trainer of one's own, whose learning rate and batch size may change on the way: a linear layer that
// tells images, or rows of a table. ../README.md says how the worker takes its library in. For a network less is to be
// written: examples/cpp_trainer.
#include <ATen/core/ivalue.h>  // clang wants it whole before what follows
#include <torch/optim/sgd.h>

#include "worker/trainer/data/batches.h"
#include "worker/trainer/models/tensor_state.h"
#include "worker/trainer/models/values.h"
#include "worker/trainer/torch_library.h"

namespace {

using namespace espalier;
using namespace espalier::trainer;

class MyTrainer : public Trainer {
 public:
  MyTrainer(DataSource data, StepMeaning step) : data_(std::move(data)), step_(step) {}

  void Init(const HyperParameterValues& hp) override {
    batches_ = data_.open(static_cast<std::uint64_t>(ValueOf<std::int64_t>(hp, "seed")));
    const Form form = batches_->form();
    std::int64_t input_count = 1;
    for (const std::int64_t length : form.input_shape) input_count *= length;
    weight_ = torch::zeros({form.class_count, input_count}, torch::requires_grad());
    bias_ = torch::zeros({form.class_count}, torch::requires_grad());
    optimizer_.emplace(std::vector{weight_, bias_}, torch::optim::SGDOptions(ValueOf<double>(hp, "lr")));
  }

  void Setup(const HyperParameterValues& hp) override {
    // hp holds the updated values
    if (hp.contains("lr")) {
      for (auto& group : optimizer_->param_groups()) group.options().set_lr(ValueOf<double>(hp, "lr"));
    }
    if (hp.contains("bs")) batch_size_ = AtLeast(1, "bs", ValueOf<std::int64_t>(hp, "bs"));
  }

  Metrics Train() override {
    double loss_sum = 0;
    double samples = 0;
    const std::int64_t epoch = batches_->epoch();
    for (std::int64_t i = 0; step_.updates > 0 ? i < step_.updates : batches_->epoch() == epoch; ++i) {
      const Batch batch = batches_->Next(batch_size_);
      const at::Tensor loss = torch::cross_entropy_loss(Tell(batch), batch.labels);
      optimizer_->zero_grad();
      loss.backward();
      optimizer_->step();
      const auto count = static_cast<double>(batch.labels.size(0));
      loss_sum += loss.item<double>() * count;
      samples += count;
    }
    return {{"loss", loss_sum / samples}, {"samples", samples}};
  }

  Metrics Evaluate() override {
    const torch::NoGradGuard no_gradients;
    double right = 0;
    double samples = 0;
    batches_->Validate([&](const Batch& batch) {
      right += static_cast<double>(Tell(batch).argmax(1).eq(batch.labels).sum().item<std::int64_t>());
      samples += static_cast<double>(batch.labels.size(0));
    });
    return {{"test_acc", right / samples}};
  }

  // Without a momentum the optimizer remembers nothing.
  State Save() override {
    State state;
    SaveTensors(Parameters(), "model.", state);
    batches_->Save("data.", state);
    return state;
  }

  void Load(const State& state) override {
    LoadTensors(state, "model.", Parameters());
    batches_->Load(state, "data.");
  }

 private:
  at::Tensor Tell(const Batch& batch) const { return torch::linear(batch.inputs.flatten(1), weight_, bias_); }
  NamedTensors Parameters() const { return {{"weight", weight_}, {"bias", bias_}}; }

  const DataSource data_;
  const StepMeaning step_;
  std::unique_ptr<Batches> batches_;
  at::Tensor weight_;
  at::Tensor bias_;
  std::optional<torch::optim::SGD> optimizer_;
  std::int64_t batch_size_ = 0;
};

TrainerKind Over(const DataSource& data) {
  return {.name = "my_trainer",
          .data = data.name,
          .data_digest = data.training_digest,
          .evaluation_digest = data.validation_digest,
          .hyper_parameters = {{.name = "bs", .default_value = std::int64_t{128}},
                               {.name = "lr", .default_value = 0.1},
                               {.name = "seed", .default_value = std::int64_t{1}, .initial = true}},
          .metrics = {"test_acc"},
          .reloads = true,
          .make = [data](StepMeaning step) { return std::make_unique<MyTrainer>(data, step); }};
}

std::vector<TrainerKind> Trainers(const std::vector<DataSource>& data) {
  std::vector<TrainerKind> trainers;
  for (const DataSource& source : data) {
    if (source.kind == DataKind::kImages || source.kind == DataKind::kTable) trainers.push_back(Over(source));
  }
  return trainers;
}

}  // namespace

ESPALIER_TRAINERS(Trainers)
