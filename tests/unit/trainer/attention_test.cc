// What places of a text see of each other.
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <torch/utils.h>

#include <catch2/catch.hpp>

#include "worker/trainer/data/batches.h"
#include "worker/trainer/data/tokens.h"
#include "worker/trainer/models/network.h"
#include "worker/trainer/models/transformer.h"

namespace espalier::trainer {
namespace {

// LibTorch's headers take CHECK away: here is REQUIRE alone.

std::unique_ptr<Network> Made(const Form& form) {
  torch::manual_seed(1);
  return Transformer().make({{"heads", std::int64_t{2}}, {"layers", std::int64_t{2}}, {"width", std::int64_t{16}}},
                            form);
}

}  // namespace

TEST_CASE("of a text no place sees those behind it", "[torch]") {
  const auto network = Made({.class_count = kByteTokens, .token_count = kByteTokens, .labels_places = true});
  const at::Tensor text = at::arange(60, 80).unsqueeze(0);
  at::Tensor other = text.clone();
  other[0][12] = 7;
  const at::Tensor told = network->Forward(text);
  const at::Tensor told_of_other = network->Forward(other);
  REQUIRE(told.sizes() == std::vector<std::int64_t>{1, 20, kByteTokens});
  for (std::int64_t place = 0; place < 20; ++place) {
    INFO(place);
    REQUIRE(at::allclose(told[0][place], told_of_other[0][place], 1e-4, 1e-5) == (place < 12));
  }
}

TEST_CASE("of a line all is seen but what it is padded with", "[torch]") {
  const auto network = Made({.class_count = 3, .token_count = kLineTokens});
  const at::Tensor line = at::arange(60, 70).unsqueeze(0);
  const at::Tensor padded = at::cat({line, at::full({1, 5}, kPaddingToken, at::TensorOptions(at::kLong))}, 1);
  at::Tensor other = line.clone();
  other[0][9] = 7;
  const at::Tensor told = network->Forward(line);
  REQUIRE(at::allclose(told, network->Forward(padded), 1e-4, 1e-5));
  REQUIRE_FALSE(at::allclose(told, network->Forward(other), 1e-4, 1e-5));
}

}  // namespace espalier::trainer
