#include "worker/trainer/spare_memory.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <torch/utils.h>

#include <catch2/catch.hpp>

#include "worker/trainer/models/tensor_state.h"

namespace espalier::trainer {
namespace {

constexpr std::int64_t kLarge = 1 << 18;  // floats: a mebibyte

const void* MemoryOf(const StateArray& array) { return array.bytes.data(); }

}  // namespace

TEST_CASE("a state is copied into the memory of the one that was written before", "[torch]") {
  State first{{"weights", ToArray(at::zeros({kLarge}))}};
  const void* const memory = MemoryOf(first["weights"]);
  KeepMemoryOf(std::move(first));
  const at::Tensor weights = at::rand({kLarge});
  const StateArray second = ToArray(weights);
  CHECK(MemoryOf(second) == memory);
  CHECK(at::equal(ToTensor(second), weights));
  CHECK(MemoryOf(ToArray(weights)) != memory);  // which is in use
}

TEST_CASE("memory is kept of the last state alone, for arrays of its lengths, until it is forgotten", "[torch]") {
  const auto ones = [] { return State{{"weights", ToArray(at::ones({4 * kLarge}, at::kByte))}}; };
  const auto is_fresh = [](std::size_t count) { return TakeBytes(count) == std::string(count, '\0'); };
  const std::size_t count = 4 * kLarge;
  KeepMemoryOf(ones());
  CHECK(is_fresh(count + 1));
  CHECK_FALSE(is_fresh(count));
  CHECK(is_fresh(count));  // it was taken
  KeepMemoryOf(ones());
  SECTION("another state was written") { KeepMemoryOf({{"weights", ToArray(at::ones({2 * kLarge}))}}); }
  SECTION("another training begins") { ForgetSpareMemory(); }
  CHECK(is_fresh(count));
}

}  // namespace espalier::trainer
