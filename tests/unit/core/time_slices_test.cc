// Policies that let trainings take turns (scheduler/time_slices.h), in a whole master.
#include <catch2/catch.hpp>
#include <random>

#include "tests/support/random_seed.h"
#include "tests/support/without_memory.h"

namespace espalier::master {
namespace {

// Slices are a hundred steps long.
constexpr std::int64_t kHorizon = 450;

}  // namespace

TEST_CASE("trainings take turns, and what is remembered of them stands on them") {
  const std::uint64_t seed = RandomSeed("time_slices_test");
  INFO("seed " << seed);
  int interrupted = 0;
  for (std::uint64_t each = seed; each < seed + 6; ++each) {
    std::mt19937_64 random(each);
    const auto below = [&](std::uint64_t count) { return static_cast<std::int64_t>(random() % count); };
    const std::string policy = each % 3 == 0 ? "hermes" : each % 3 == 1 ? "slaq" : "round_robin";
    CAPTURE(policy, each);
    std::vector<std::string> trials;
    for (int i = 0; i < 12; ++i) {
      const auto rate = [&] { return "0." + std::to_string(1 + below(3)); };
      trials.push_back("Piecewise([" + rate() + ", " + rate() + "], [" + std::to_string(50 + 100 * below(3)) + "])");
    }
    const auto all =
        CheckSameWithoutMemory({.slots = 3, .policy = policy, .seed = each}, [&](SimulatedService& service) {
          const StudyId study = service.AddStudy({.name = "study"});
          for (const std::string& lr : trials) {
            service.Submit(study, {{"lr", lr}}, kHorizon);
            service.RunFor(Seconds(5));
          }
        });
    for (const auto& [id, trial] : all->state().trials) CHECK((!trial.label || trial.label->policy == policy));
    for (const auto& [id, ordered] : all->state().runs) interrupted += ordered.preempt ? 1 : 0;
  }
  CHECK(interrupted > 15);
}

}  // namespace espalier::master
