#include "tests/unit/trainer/faulty_trainer.h"

#include <ATen/Functions.h>
#include <torch/utils.h>

#include <new>
#include <stdexcept>

#include "worker/trainer/models/tensor_state.h"

namespace espalier::trainer::test {
namespace {

class Faulty : public Trainer {
 public:
  void Init(const HyperParameterValues&) override {
    torch::manual_seed(1);
    drawn_ = at::zeros({3});
  }
  void Setup(const HyperParameterValues& changed_values) override {
    fault_ = std::get<std::string>(changed_values.at("fault"));
  }
  Metrics Train() override {
    drawn_ += at::rand({3});
    return {{"loss", drawn_.sum().item<double>()}, {"samples", 1}};
  }
  Metrics Evaluate() override {
    const double score = at::rand({1}).item<double>();
    if (fault_ == "own") throw std::runtime_error("failing as told");
    if (fault_ == "memory") throw std::bad_alloc();
    TORCH_INTERNAL_ASSERT(fault_ != "library");
    TORCH_CHECK(fault_ != "device", "CUDA error: an illegal memory access was encountered");
    return {{"score", score}};
  }
  State Save() override {
    State state;
    state["drawn"] = ToArray(drawn_);
    SaveRandom("random.", state);
    return state;
  }
  void Load(const State&) override {}

 private:
  std::string fault_;
  at::Tensor drawn_;
};

}  // namespace

TrainerKind FaultyTrainer() {
  return {.name = "faulty",
          .code_digest = "faulty-1",
          .data = "",
          .data_digest = "none",
          .evaluation_digest = "faulty-1",
          .hyper_parameters = {{.name = "fault", .default_value = std::string("none")}},
          .metrics = {"score"},
          .make = [](StepMeaning) { return std::make_unique<Faulty>(); }};
}

}  // namespace espalier::trainer::test
