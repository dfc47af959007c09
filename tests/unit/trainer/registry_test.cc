#include "worker/trainer/registry.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace espalier::trainer {

TEST_CASE("the built-in trainers declare what they are, the same in every release", "[torch]") {
  for (const TrainerKind& kind : BuiltInTrainers()) {
    INFO(kind.name);
    CHECK(std::ranges::is_sorted(kind.hyper_parameters, {}, &DeclaredHyperParameter::name));
    CHECK(std::ranges::is_sorted(kind.metrics));
    CHECK_FALSE(kind.code_digest.empty());
  }
  const TrainerKind mlp = BuiltInTrainers().front();
  CHECK(mlp.name == "mlp");
  CHECK(mlp.data == "digits");
  CHECK(mlp.data_digest == "95f6d6b27e4ef3001ce6a1df6dd53a9e55927fd318ee793de0e0c80465501ba9");
  CHECK(mlp.evaluation_digest == "26b6dd06afe9876885d3fff80fe6e7985648ea73b402ca53df9524987672facd");
}

}  // namespace espalier::trainer
