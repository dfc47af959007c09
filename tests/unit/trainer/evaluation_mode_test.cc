#include <torch/nn/modules/dropout.h>

#include <catch2/catch.hpp>
#include <stdexcept>

#include "worker/trainer/models/tensor_state.h"

namespace espalier::trainer {
namespace {

struct Nested : torch::nn::Module {
  Nested() : inner(register_module("inner", torch::nn::Dropout())) {}
  torch::nn::Dropout inner;
};

}  // namespace

TEST_CASE("after an evaluation every module is in the mode it was in, also when it failed", "[torch]") {
  Nested outer;
  outer.train();
  outer.inner->eval();  // frozen, say
  try {
    const EvaluationMode mode(outer);
    CHECK_FALSE(outer.is_training());
    throw std::runtime_error("failed");
  } catch (const std::runtime_error&) {
  }
  CHECK(outer.is_training());
  CHECK_FALSE(outer.inner->is_training());
}

}  // namespace espalier::trainer
