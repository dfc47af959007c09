// Teams and studies beside each other on one service in virtual time: what the small ones wait, and what all pay.
#include <catch2/catch.hpp>

#include "client/tuners/registry.h"
#include "sim/simulated_studies.h"

namespace espalier::sim {
namespace {

// A grid of so many trials that share nothing.
StudyToSimulate GridOf(const std::string& name, const std::string& team, int trials, std::int64_t steps) {
  const auto make_tuner = [=] {
    std::vector<tuners::Candidate> candidates;
    for (int i = 1; i <= trials; ++i) candidates.push_back({{{"lr", std::to_string(i) + ".5"}}, std::nullopt});
    return tuners::MakeTuner("grid", {{"steps", Value{steps}}}, {candidates}).value();
  };
  return {.specification = {.name = name,
                            .trainer = "any",
                            .metric = "score",
                            .undeclared = {{"lr", ValueType::kFloating}}},
          .make_tuner = make_tuner,
          .team = team};
}

ServiceToSimulate SlotsOf(int slots) { return {.servers = {{.slots = slots}}}; }

// A large study on eight slots, and a small one that comes when it has them all.
struct SmallBesideLarge {
  SmallBesideLarge(const StudyToSimulate& large, StudyToSimulate small)
      : alone_on_half(SimulateStudy(SlotsOf(4), small).value().end_to_end) {
    small.arrives_at = Seconds(500);
    const SimulatedStudies both = SimulateStudies(SlotsOf(8), {large, small}).value();
    of_small = both.studies[1].end_to_end;
    steps_of_large = both.studies[0].summary.steps;
  }

  Seconds alone_on_half;
  Seconds of_small{0};
  master::StepCounts steps_of_large;
};

}  // namespace

TEST_CASE(
    "a team that comes with 10 trials while another's 1,000 have all slots waits little longer than on half of them",
    "[large]") {
  const SmallBesideLarge both(GridOf("large", "large", 1000, 60), GridOf("small", "small", 10, 40));
  CHECK(both.of_small <= 1.3 * both.alone_on_half);
  CHECK(both.steps_of_large.wasted == 0);
  CHECK(both.steps_of_large.re_derived == 0);
}

TEST_CASE("nor does it wait for the long runs of a few trials that have all slots", "[large]") {
  const SmallBesideLarge both(GridOf("large", "large", 16, 3000), GridOf("small", "small", 10, 40));
  CHECK(both.of_small <= 1.3 * both.alone_on_half);
  CHECK(both.steps_of_large.re_derived == 0);
}

TEST_CASE("a small study of the same team does not wait for a large one either") {
  const SmallBesideLarge both(GridOf("large", "team", 16, 3000), GridOf("small", "team", 10, 40));
  CHECK(both.of_small <= 1.3 * both.alone_on_half);
}

}  // namespace espalier::sim
