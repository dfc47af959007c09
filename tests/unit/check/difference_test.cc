#include "worker/check/difference.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

namespace espalier::trainer_check {
namespace {

StateArray Floats(std::vector<std::int64_t> shape, const std::vector<float>& values) {
  StateArray array{.type = "F32", .shape = std::move(shape), .bytes = std::string(4 * values.size(), '\0')};
  std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

}  // namespace

TEST_CASE("states that are equal to the bit do not differ, values that are no numbers included") {
  const TrainingState state{{"w", Floats({2}, {1.0F, std::nanf("")})}, {"note", Text("{\"epoch\": 1}")}};
  CHECK(Differences(state, state).empty());
}

TEST_CASE("the first element that differs is named, with how many do and by how much") {
  const TrainingState before{{"model.weight", Floats({2, 2}, {1, 2, 3, 4})}};
  const TrainingState after{{"model.weight", Floats({2, 2}, {1, 2.5, 3, 3})}};
  const std::vector<Difference> differences = Differences(before, after);
  REQUIRE(differences.size() == 1);
  CHECK(Print(differences[0]) == "model.weight[0, 1] is 2.5, was 2; 2 of 4 elements differ, by 1 at most");
}

TEST_CASE("one bit is a difference") {
  const float next = std::nextafter(1.0F, 2.0F);
  CHECK(Differences({{"w", Floats({1}, {1.0F})}}, {{"w", Floats({1}, {next})}}).size() == 1);
  CHECK(Differences({{"w", Floats({1}, {0.0F})}}, {{"w", Floats({1}, {-0.0F})}}).size() == 1);
  CHECK(Differences(Metrics{{"loss", 1.0}}, Metrics{{"loss", std::nextafter(1.0, 2.0)}}).size() == 1);
}

TEST_CASE("arrays that are missing, new, or of another form differ") {
  const TrainingState before{{"a", Floats({2}, {1, 2})}, {"b", Floats({1}, {1})}};
  const TrainingState after{{"a", Floats({1, 2}, {1, 2})}, {"c", Floats({1}, {1})}};
  const std::vector<Difference> differences = Differences(before, after);
  REQUIRE(differences.size() == 3);
  CHECK(differences[0].name == "a");
  CHECK(differences[1].found == "missing");
  CHECK(differences[2].expected == "missing");
}

TEST_CASE("in text that is JSON the place that differs is named, and tensors come first") {
  const TrainingState before{{"counts", Text(R"({"seen": {"steps": 3}})")}, {"w", Floats({1}, {1})}};
  const TrainingState after{{"counts", Text(R"({"seen": {"steps": 4}})")}, {"w", Floats({1}, {2})}};
  const std::vector<Difference> differences = Differences(before, after);
  REQUIRE(differences.size() == 2);
  CHECK(differences[0].name == "w");
  CHECK(differences[1].place == "seen.steps");
  CHECK(differences[1].by == 1.0);
}

TEST_CASE("metrics that are no numbers are equal to each other") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  CHECK(Differences(Metrics{{"loss", none}}, Metrics{{"loss", none}}).empty());
  CHECK(Differences(Metrics{{"loss", none}}, Metrics{{"loss", 1.0}}).size() == 1);
}

}  // namespace espalier::trainer_check
