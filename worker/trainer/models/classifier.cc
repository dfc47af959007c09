#include "worker/trainer/models/classifier.h"

#include <ATen/ops/stack.h>
#include <torch/utils.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "base/digest.h"
#include "worker/trainer/data/batches.h"
#include "worker/trainer/heartbeat.h"
#include "worker/trainer/models/network.h"
#include "worker/trainer/models/optimizer.h"
#include "worker/trainer/models/placement.h"
#include "worker/trainer/models/tensor_state.h"
#include "worker/trainer/models/values.h"

namespace espalier::trainer {
namespace {

// Of what all classifiers do, and of how they evaluate: raised when bits of any training, or of any evaluation, change.
const std::string kClassifierVersion = "classifier-2";
const std::string kEvaluationVersion = "evaluation-1";

// One row for each label.
struct Told {
  at::Tensor logits;
  at::Tensor labels;
};

Told Tell(Network& network, const Batch& batch, Precision precision) {
  const MixedPrecision mixed(precision);
  const at::Tensor logits = network.Forward(Placed(batch.inputs, precision));
  return {logits.reshape({-1, logits.size(-1)}).to(ParameterType(precision)),
          Placed(batch.labels.reshape({-1}), precision)};
}

// Of all labels. The losses are read from a GPU at once: it stands still wherever it is asked for a number.
double Mean(const std::vector<at::Tensor>& losses, const std::vector<std::int64_t>& label_counts) {
  const at::Tensor values = at::stack(losses).to(at::kDouble).cpu();
  double sum = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    sum += values.data_ptr<double>()[i] * static_cast<double>(label_counts[i]);
  }
  return sum / static_cast<double>(std::accumulate(label_counts.begin(), label_counts.end(), std::int64_t{0}));
}

class ClassifierTraining : public Trainer {
 public:
  ClassifierTraining(NetworkKind kind, DataSource data, StepMeaning step)
      : kind_(std::move(kind)), data_(std::move(data)), step_(step) {}

  void Init(const HyperParameterValues& values) override {
    const auto seed = static_cast<std::uint64_t>(ValueOf<std::int64_t>(values, "seed"));
    torch::manual_seed(seed);
    batches_ = data_.open(seed);
    network_ = kind_.make(values, batches_->form());
    precision_ = ParsePrecision(ValueOf<std::string>(values, "precision"));
    Place(network_->Parameters(), precision_);
    Place(network_->Buffers(), precision_);
  }

  void Setup(const HyperParameterValues& changed_values) override {
    TakeOver(changed_values, "bs", batch_size_);
    AtLeast(1, "bs", batch_size_);
    TakeOver(changed_values, settings_);
    network_->Setup(changed_values);
    batches_->Setup(changed_values);
    if (optimizer_.has_value()) {
      optimizer_->Change(settings_);
    } else {
      optimizer_.emplace(network_->Parameters(), settings_);
    }
  }

  Metrics Train() override {
    std::vector<at::Tensor> losses;
    std::vector<std::int64_t> label_counts;
    std::int64_t sample_count = 0;
    const std::int64_t epoch = batches_->epoch();
    for (std::int64_t i = 0; step_.updates > 0 ? i < step_.updates : batches_->epoch() == epoch; ++i) {
      Heartbeat();
      const Batch batch = batches_->Next(batch_size_);
      losses.push_back(Update(batch));
      label_counts.push_back(batch.labels.numel());
      sample_count += batch.inputs.size(0);
    }
    return {{"loss", Mean(losses, label_counts)}, {"samples", static_cast<double>(sample_count)}};
  }

  Metrics Evaluate() override {
    // Sums over the labels.
    Metrics metrics{{"test_acc", 0}, {"test_loss", 0}};
    for (const LabelMetric& metric : kind_.metrics) metrics[metric.name] = 0;
    std::int64_t label_count = 0;
    network_->Evaluating([&] {
      const torch::NoGradGuard no_gradients;
      batches_->Validate([&](const Batch& batch) {
        Heartbeat();
        const auto [logits, labels] = Tell(*network_, batch, precision_);
        metrics["test_acc"] += static_cast<double>(logits.argmax(1).eq(labels).sum().item<std::int64_t>());
        metrics["test_loss"] += network_->Loss(logits, labels).item<double>() * static_cast<double>(labels.numel());
        for (const LabelMetric& metric : kind_.metrics) metrics[metric.name] += metric.sum(logits, labels);
        label_count += labels.numel();
      });
    });
    for (auto& [name, sum] : metrics) sum /= static_cast<double>(label_count);
    return metrics;
  }

  State Save() override {
    State state;
    SaveTensors(network_->Parameters(), "model.", state);
    SaveTensors(network_->Buffers(), "model.", state);
    optimizer_->Save("optimizer.", state);
    SaveRandom("random.", state);
    batches_->Save("data.", state);
    return state;
  }

  void Load(const State& state) override {
    LoadTensors(state, "model.", network_->Parameters());
    LoadTensors(state, "model.", network_->Buffers());
    optimizer_->Load(state, "optimizer.");
    LoadRandom(state, "random.");
    batches_->Load(state, "data.");
  }

 private:
  // One update; returns the mean loss, which a GPU may still have to compute.
  at::Tensor Update(const Batch& batch) {
    optimizer_->ZeroGradients();
    const auto [logits, labels] = Tell(*network_, batch, precision_);
    const at::Tensor loss = network_->Loss(logits, labels);
    loss.backward();
    optimizer_->Update();
    return loss.detach();
  }

  const NetworkKind kind_;
  const DataSource data_;
  const StepMeaning step_;
  std::unique_ptr<Batches> batches_;
  std::unique_ptr<Network> network_;
  std::optional<Optimizer> optimizer_;
  Precision precision_ = Precision::kFloat32;
  std::int64_t batch_size_ = 0;
  OptimizerSettings settings_;
};

}  // namespace

bool Takes(const NetworkKind& network, const DataSource& data) {
  return std::ranges::find(network.takes, data.kind) != network.takes.end();
}

TrainerKind Classifier(const NetworkKind& network, const DataSource& data) {
  ESPALIER_CHECK(Takes(network, data)) << network.name;
  std::vector<DeclaredHyperParameter> declared = DeclareOptimizer(network.optimizer);
  declared.push_back({.name = "bs", .default_value = network.batch_size});
  declared.push_back({.name = "precision", .default_value = std::string("float32"), .initial = true});
  declared.push_back({.name = "seed", .default_value = std::int64_t{1}, .initial = true});
  std::ranges::copy(network.hyper_parameters, std::back_inserter(declared));
  std::ranges::copy(data.hyper_parameters, std::back_inserter(declared));
  std::ranges::sort(declared, {}, &DeclaredHyperParameter::name);
  std::vector<std::string> metrics{"test_acc", "test_loss"};
  std::ranges::transform(network.metrics, std::back_inserter(metrics), &LabelMetric::name);
  std::ranges::sort(metrics);
  return {
      .name = network.name,
      .code_digest = network.version + " " + kClassifierVersion,
      .data = data.name,
      .data_digest = data.training_digest,
      .evaluation_digest = Sha256Hex(data.validation_digest + kEvaluationVersion),
      .hyper_parameters = std::move(declared),
      .metrics = std::move(metrics),
      .reloads = true,
      .make = [network, data](StepMeaning step) { return std::make_unique<ClassifierTraining>(network, data, step); }};
}

}  // namespace espalier::trainer
