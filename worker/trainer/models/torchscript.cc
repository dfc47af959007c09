#include "worker/trainer/models/torchscript.h"

#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/nn/functional/embedding.h>
#include <torch/nn/functional/loss.h>
#include <torch/script.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "worker/trainer/models/network.h"
#include "worker/trainer/models/values.h"

namespace espalier::trainer {
namespace {

namespace functional = torch::nn::functional;

using LossFunction = at::Tensor (*)(const at::Tensor& outputs, const at::Tensor& labels);

at::Tensor CrossEntropy(const at::Tensor& outputs, const at::Tensor& labels) {
  return functional::cross_entropy(outputs, labels);
}
at::Tensor NegativeLogLikelihood(const at::Tensor& outputs, const at::Tensor& labels) {
  return functional::nll_loss(outputs, labels);
}
at::Tensor MultiMargin(const at::Tensor& outputs, const at::Tensor& labels) {
  return functional::multi_margin_loss(outputs, labels);
}
at::Tensor OneHotMse(const at::Tensor& outputs, const at::Tensor& labels) {
  return functional::mse_loss(outputs, functional::one_hot(labels, outputs.size(1)).to(outputs.scalar_type()));
}

constexpr std::array<std::pair<std::string_view, LossFunction>, 4> kLosses{{{"cross_entropy", CrossEntropy},
                                                                            {"multi_margin", MultiMargin},
                                                                            {"nll", NegativeLogLikelihood},
                                                                            {"one_hot_mse", OneHotMse}}};

LossFunction LossOf(const std::string& name) {
  for (const auto& [known, loss] : kLosses) {
    if (known == name) return loss;
  }
  Refuse("loss", "cross_entropy, multi_margin, nll or one_hot_mse", name);
}

double AmongFirstFive(const at::Tensor& logits, const at::Tensor& labels) {
  const std::int64_t count = std::min<std::int64_t>(5, logits.size(1));
  const at::Tensor likeliest = std::get<1>(logits.topk(count, 1));
  return likeliest.eq(labels.unsqueeze(1)).any(1).sum().item<double>();
}

// LibTorch compiles what it has run a few times anew, which may change bits: here it interprets, the same every time.
using Interpreted = torch::jit::GraphOptimizerEnabledGuard;

class ScriptNetwork : public Network {
 public:
  explicit ScriptNetwork(const std::filesystem::path& file) : module_(torch::jit::load(file.string())) {
    module_.train();
  }

  at::Tensor Forward(const at::Tensor& inputs) override {
    const Interpreted interpreted(false);
    const torch::IValue output = module_.forward({inputs});
    if (!output.isTensor() || output.toTensor().dim() < 2) {
      throw std::runtime_error("the module's forward does not return a tensor with the classes as last dimension");
    }
    return output.toTensor();
  }

  at::Tensor Loss(const at::Tensor& logits, const at::Tensor& labels) override { return loss_(logits, labels); }

  void Setup(const HyperParameterValues& changed_values) override {
    if (changed_values.contains("loss")) loss_ = LossOf(ValueOf<std::string>(changed_values, "loss"));
  }

  NamedTensors Parameters() const override { return Listed(module_.named_parameters()); }
  NamedTensors Buffers() const override { return Listed(module_.named_buffers()); }

  void Evaluating(const std::function<void()>& body) override {
    const Modes modes(module_);
    body();
  }

 private:
  template <class NamedValues>
  static NamedTensors Listed(const NamedValues& values) {
    NamedTensors tensors;
    for (const auto& value : values) tensors.emplace_back(value.name, value.value);
    return tensors;
  }

  // Each module's mode, put back when it goes.
  class Modes {
   public:
    explicit Modes(torch::jit::Module& module) {
      for (const torch::jit::Module& each : module.modules()) modes_.emplace_back(each, each.is_training());
      module.eval();
    }
    ~Modes() {
      // train() goes down; what is within comes later, and has the last word.
      for (auto& [module, was_training] : modes_) module.train(was_training);
    }
    Modes(const Modes&) = delete;
    Modes& operator=(const Modes&) = delete;

   private:
    std::vector<std::pair<torch::jit::Module, bool>> modes_;
  };

  torch::jit::Module module_;
  LossFunction loss_ = CrossEntropy;
};

}  // namespace

NetworkKind TorchScript(const std::string& name, const std::filesystem::path& file, const std::string& digest) {
  return {.name = name,
          .version = "torchscript-1 " + digest,
          .takes = {DataKind::kTable, DataKind::kImages, DataKind::kText, DataKind::kLabeledLines},
          .hyper_parameters = {{.name = "loss", .default_value = std::string("cross_entropy")}},
          .batch_size = 32,
          .optimizer = {.learning_rate = 0.1},
          .make = [file](const HyperParameterValues&, const Form&) { return std::make_unique<ScriptNetwork>(file); },
          .metrics = {{"test_top5", AmongFirstFive}}};
}

}  // namespace espalier::trainer
