// Hyperband: the shapes of its brackets, and that each decides for itself.
#include "client/tuners/hyperband.h"

#include <catch2/catch.hpp>

#include "client/tuners/registry.h"
#include "tests/unit/tuners/play.h"

namespace espalier::tuners {
namespace {

using Shape = std::pair<std::size_t, std::vector<std::int64_t>>;

std::vector<Shape> Shapes(std::int64_t most, std::int64_t reduction) {
  std::vector<Shape> shapes;
  for (const BracketShape& bracket : HyperbandBrackets(Step{most}, reduction)) {
    Shape& shape = shapes.emplace_back(bracket.trial_count, std::vector<std::int64_t>());
    for (const Step rung : bracket.rungs) shape.second.push_back(rung.value);
  }
  return shapes;
}

}  // namespace

TEST_CASE("brackets of hyperband are the paper's, in integers") {
  CHECK(Shapes(81, 3) ==
        std::vector<Shape>{{81, {1, 3, 9, 27, 81}}, {34, {3, 9, 27, 81}}, {15, {9, 27, 81}}, {8, {27, 81}}, {5, {81}}});
  CHECK(Shapes(16, 4) == std::vector<Shape>{{16, {1, 4, 16}}, {6, {4, 16}}, {3, {16}}});
  CHECK(Shapes(243, 3).size() == 6);
  CHECK(Shapes(1, 2) == std::vector<Shape>{{1, {1}}});
  CHECK(Shapes(10, 3) == std::vector<Shape>{{9, {1, 3, 10}}, {5, {3, 10}}, {3, {10}}});
  const auto widest = HyperbandBrackets(kStepMax, 2);
  CHECK(widest.size() == 54);
  CHECK(widest.front().rungs.front() == Step{1});
}

TEST_CASE("a rung of hyperband keeps floor(n / reduction), each bracket by itself") {
  const auto tuner =
      MakeTuner("hyperband", {{"max", std::int64_t{16}}, {"reduction", std::int64_t{4}}}, {Candidates(25)});
  REQUIRE(tuner.has_value());
  const Played played = Play(**tuner, [](std::size_t trial, Step) { return Measured{static_cast<double>(trial)}; });
  CHECK(played.started == 25);
  CHECK(played.reached.at(Step{1}) == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  CHECK(played.reached.at(Step{4}) == std::vector<std::size_t>{0, 1, 2, 3, 16, 17, 18, 19, 20, 21});
  CHECK(played.reached.at(Step{16}) == std::vector<std::size_t>{0, 16, 22, 23, 24});
  CHECK(played.finished);
}

TEST_CASE("a bracket whose trials are decided closes them while others go on") {
  const auto tuner =
      MakeTuner("hyperband", {{"max", std::int64_t{2}}, {"reduction", std::int64_t{2}}}, {Candidates(4)});
  REQUIRE(tuner.has_value());
  REQUIRE((*tuner)->Start().size() == 4);  // two from step 1 on, two to step 2
  CHECK((*tuner)->OnEvent(ClaimOutcome{2, Step{2}, Measured{.1}}).empty());
  CHECK((*tuner)->OnEvent(ClaimOutcome{3, Step{2}, Failed{}}) == std::vector<Action>{CloseTrial{2}, CloseTrial{3}});
  CHECK((*tuner)->OnEvent(ClaimOutcome{0, Step{1}, Measured{.2}}).empty());
  CHECK((*tuner)->OnEvent(ClaimOutcome{1, Step{1}, Measured{.1}}) ==
        std::vector<Action>{CloseTrial{0}, ContinueTrial{1, Step{2}}});
  CHECK((*tuner)->OnEvent(ClaimOutcome{1, Step{2}, Measured{.1}}) == std::vector<Action>{FinishStudy{}});
}

TEST_CASE("candidates beyond the brackets of hyperband fill them again, the last as far as they go") {
  const auto tuner =
      MakeTuner("hyperband", {{"max", std::int64_t{16}}, {"reduction", std::int64_t{4}}}, {Candidates(30)});
  REQUIRE(tuner.has_value());
  const std::vector<Action> started = (*tuner)->Start();
  REQUIRE(started.size() == 30);
  CHECK(std::get<StartTrial>(started[24]).steps == Step{16});
  CHECK(std::get<StartTrial>(started[25]).steps == Step{1});
}

}  // namespace espalier::tuners
