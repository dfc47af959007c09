// Sequences that differ by rounding only.
#include "searchplan/sequence/near_miss.h"

#include "tests/unit/sequence/sequence_testing.h"

namespace espalier {
namespace {

std::optional<NearMiss> Found(std::string_view a, std::string_view b, std::int64_t horizon = 100) {
  const auto found = FindNearMiss(Compiled(a, horizon), Compiled(b, horizon));
  CHECK(FindNearMiss(Compiled(b, horizon), Compiled(a, horizon)) == found);
  return found;
}

std::string Hint(std::string_view a, std::string_view b, std::int64_t horizon = 100) {
  const auto found = Found(a, b, horizon);
  return found.has_value() ? Describe(*found, Step{horizon}) : "";
}

}  // namespace

TEST_CASE("a difference of rounding is found, with its first step and its size") {
  const auto found = Found("MultiStep(0.1, [40], 0.1)", "Piecewise([0.1, 0.01], [40])");
  REQUIRE(found.has_value());
  CHECK(found->from == Step{40});
  CHECK(found->difference == 0.010000000000000002 - 0.01);
  CHECK(found->to == Step{100});
  CHECK(Hint("MultiStep(0.1, [40], 0.1)", "Piecewise([0.1, 0.01], [40])") ==
        "these two differ by 1.7e-18 from step 40 on");
}

TEST_CASE("also between functions that change at each step") {
  CHECK(Hint("Scale(15, Exponential(0.1, 0.95))", "Scale(3, Scale(5, Exponential(0.1, 0.95)))") != "");
  CHECK(Hint("Linear(0, 0.1)", "Linear(0, 0.10000000000000002)", kStepMax.value) ==
        "these two differ by 1.4e-17 from step 1 on");
  CHECK(Hint("Scale(0.1, Cosine(1, 0, 70))", "Cosine(0.1, 0, 70)").starts_with("these two differ by "));
}

TEST_CASE("a real difference later ends the near miss") {
  CHECK(Hint("MultiStep(0.1, [40, 80], 0.1)", "Piecewise([0.1, 0.01, 0.5], [40, 80])") ==
        "these two differ by 1.7e-18 from step 40 up to step 80");
}

TEST_CASE("equal and really different sequences are no near misses") {
  CHECK_FALSE(Found("Cosine(0.1, 0, 20)", "Cosine(0.1, 0, 20)").has_value());
  CHECK_FALSE(Found("MultiStep(0.1, [40], 0.1)", "MultiStep(0.1, [40], 0.2)").has_value());
  CHECK_FALSE(Found("Linear(0, 1)", "Linear(1e-300, 2)").has_value());
  CHECK_FALSE(Found("Warmup(0.01, 9, 0.1)", "Warmup(0.010000000000000002, 9, 0.2)").has_value());
  CHECK_FALSE(Found("Piecewise([1, 2, 3], [10, 20])", "Piecewise([1, 3, 3.0000000000000004], [10, 20])").has_value());
  CHECK_FALSE(FindNearMiss(Compiled("1", 10, ValueType::kInteger), Compiled("2", 10, ValueType::kInteger)).has_value());
}

TEST_CASE("looking for a near miss takes few steps of functions that are long") {
  CHECK_FALSE(Found("Exponential(1, 0.5)", "Exponential(1, 0.5000000001)", kStepMax.value).has_value());
  CHECK_FALSE(Found("Linear(1, 1e-300)", "Linear(1, 2e-300)", kStepMax.value).has_value());
  CHECK(Found("Linear(1, 1e-30)", "Linear(1.0000000000000002, 1e-30)", kStepMax.value)->to == kStepMax);
}

}  // namespace espalier
