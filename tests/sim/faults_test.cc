// The service's own cores in virtual time, with faults, watched from outside (sim/simulation.h).
#include <catch2/catch.hpp>
#include <sstream>

#include "sim/seeds.h"
#include "tests/support/rounds.h"

namespace espalier::sim {
namespace {

constexpr int kSeeds = Rounds(60);

std::string Text(const Outcome& outcome) {
  std::ostringstream text;
  text << "seed " << outcome.seed << ": broken: " << outcome.broken_law << "\n";
  for (const std::string& line : outcome.trace) text << line << "\n";
  text << "replay: espalier simulate --seeds 1 --from " << outcome.seed << " --last-lines 2000";
  return text.str();
}

}  // namespace

TEST_CASE("whatever fails for a while, every law holds, and everything is settled in the end", "[property]") {
  std::string broken;
  const SeedTotals totals =
      RunSeeds({.first = 1, .count = kSeeds}, [&](const Outcome& outcome) { broken += Text(outcome) + "\n"; });
  INFO(broken);
  CHECK(totals.broken == 0);
  CHECK(totals.seeds == kSeeds);
  // Each seed, not the average one.
  CHECK(totals.least.trials >= 30);
  CHECK(totals.least.plans >= 2);
  CHECK(totals.least.faults >= 20);
  CHECK(totals.least.fault_kinds >= 8);
}

TEST_CASE("where nothing goes wrong, what is asked for in time is trained once, and nothing is wasted", "[property]") {
  std::string broken;
  const SeedTotals totals = RunSeeds({.first = 1, .count = Rounds(40), .simulation = WithoutFaults()},
                                     [&](const Outcome& outcome) { broken += Text(outcome) + "\n"; });
  INFO(broken);
  CHECK(totals.broken == 0);
  CHECK(totals.trained_steps < totals.unique_steps * 5 / 4);
}

TEST_CASE("a simulation is decided by its seed") {
  const Outcome once = Simulate(7, {.trace_line_count_max = 2000});
  const Outcome again = Simulate(7, {.trace_line_count_max = 2000});
  CHECK(once.trace == again.trace);
  CHECK(once.run_count == again.run_count);
  CHECK(Simulate(8, {.trace_line_count_max = 2000}).trace != once.trace);
}

}  // namespace espalier::sim
