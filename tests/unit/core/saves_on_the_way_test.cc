// Where runs save as they pass, for open trials that may go on from there: a choice of costs (design section 5).
#include "master/core/nodes/saves_on_the_way.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "master/core/state/prices.h"
#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

constexpr int kTrials = 300;

// Open trials part from the constant sequence every third step; one trial then trains it over 1,000 steps.
struct ManyWays : ServerByHand {
  ManyWays() : ServerByHand(1) { PartFrom("0.1"); }

  void PartFrom(const std::string& constant) {
    for (int i = 0; i < kTrials; ++i) {
      const std::string value = "Piecewise([" + constant + ", 0.2], [" + std::to_string(3 + 3 * i) + "])";
      ways.push_back(Submit(study, {{"lr", value}}, 1, 1000));
    }
    Complete(Last());  // the first step, which all share
  }

  // What a step and a save took, in microseconds, on the nodes where something was trained.
  void TimesAre(std::int64_t step, std::int64_t save) {
    for (const auto& [kind, time] : {std::pair(CostKind::kStep, step), std::pair(CostKind::kSave, save)}) {
      Apply(state(), ChangePlan{Plan().id, SetMeasurement{Plan().roots.front(), kind, {1000, 1000 * time}}});
    }
  }

  // States that the run of all 1,000 steps promises, its end included.
  std::int64_t SavesOfTheLongRun(const std::string& constant = "0.1") {
    Submit(study, {{"lr", constant}}, 1000);
    const Run& run = Last();
    REQUIRE(run.path.back().to == Step{1000});
    return std::count_if(run.open.begin(), run.open.end(),
                         [](const auto& entry) { return entry.first.second == Owed::kState; });
  }

  std::vector<TrialId> ways;
};

}  // namespace

TEST_CASE("a save that takes longer than training there again is not made, however many open trials may want it") {
  ManyWays ways;
  SECTION("a save costs 100 steps") {
    ways.TimesAre(1'000, 100'000);
    const std::int64_t saves = ways.SavesOfTheLongRun();
    CHECK(saves >= 9);
    CHECK(saves <= 10);
  }
  SECTION("a save costs less than two steps: one at each way") {
    ways.TimesAre(1'000, 1'500);
    CHECK(ways.SavesOfTheLongRun() == kTrials + 1);
  }
}

TEST_CASE("by a fixed period each of its multiples is saved, whether it pays or not") {
  ManyWays ways;
  ways.TimesAre(1'000, 100'000);
  ways.reactor_settings.save_every_steps = 7;
  CHECK(ways.SavesOfTheLongRun() == 142 + 1);  // 7, 14, ... 994, and the end
}

TEST_CASE("where only the run's own path goes on nobody parts, and nothing is saved") {
  ServerByHand of(1);
  std::string values = "0.1";
  std::string milestones;
  for (int i = 1; i < 100; ++i) {
    values += i % 2 == 0 ? ", 0.1" : ", 0.2";
    milestones += (i == 1 ? "" : ", ") + std::to_string(10 * i);
  }
  const auto states_of = [](const Run& run) {
    return std::count_if(run.promises.begin(), run.promises.end(),
                         [](const auto& entry) { return entry.second.owed == Owed::kState; });
  };
  of.Submit(of.study, {{"lr", "Piecewise([" + values + "], [" + milestones + "])"}}, 1000);
  REQUIRE(of.Last().path.size() == 100);
  CHECK(states_of(of.Last()) == 1);  // at its end
}

TEST_CASE("the fewer trials of a study went on, the more a state must be worth before it is kept") {
  ManyWays ways;
  ways.TimesAre(1'000, 20'000);
  const auto close = [&](int from, int to) {
    SubmitBatch batch{.study = ways.study};
    for (int i = from; i < to; ++i) batch.close.push_back(ways.ways[static_cast<std::size_t>(i)]);
    ways.Call(batch);
  };
  SECTION("all may") { CHECK(ways.SavesOfTheLongRun() > 40); }
  SECTION("nine did not, none did: one in ten may") {
    close(0, 9);
    const std::int64_t saves = ways.SavesOfTheLongRun();
    CHECK(saves >= 4);
    CHECK(saves <= 6);
  }
}

TEST_CASE("what was saved on the way and served nobody makes later saves fewer, until trials do go on from there") {
  ManyWays ways;
  ways.TimesAre(1'000, 20'000);
  REQUIRE(ways.SavesOfTheLongRun() > 40);
  const Run run = ways.Last();
  for (const auto& [owed, promise] : run.open) {
    const auto& [step, what] = owed;
    if (what == Owed::kState && step < Step{1000}) ways.Store(run, PointOf(run, step), std::to_string(step.value));
  }
  ways.Complete(run);
  ways.PartFrom("0.3");
  SECTION("nobody went on") { CHECK(ways.SavesOfTheLongRun("0.3") <= 2); }
  SECTION("many did") {
    for (std::size_t i = 100; i < 140; ++i) {
      ways.Call(SubmitBatch{.study = ways.study, .claims = {{ways.ways[i], Step{1000}}}});
      ways.Complete(ways.Last());
    }
    CHECK(ways.SavesOfTheLongRun("0.3") > 35);
  }
}

TEST_CASE("a save that the budget for checkpoints would drop at once is not made") {
  ManyWays ways;  // its first state, of 100 bytes, is needed by the ways
  ways.TimesAre(1'000, 1'500);
  SECTION("room for nothing but what is owed") {
    ways.reactor_settings.checkpoint_bytes = 200;
    CHECK(ways.SavesOfTheLongRun() == 1);
  }
  SECTION("room for two more") {
    ways.reactor_settings.checkpoint_bytes = 400;
    CHECK(ways.SavesOfTheLongRun() == 3);
  }
  SECTION("room for all") {
    ways.reactor_settings.checkpoint_bytes = std::int64_t{100} * (kTrials + 2);
    CHECK(ways.SavesOfTheLongRun() == kTrials + 1);
  }
}

TEST_CASE("a run saves after a time, too: the longer, the longer a save takes and the more rarely something fails") {
  constexpr Seconds kDay{86'400};
  ManyWays ways;
  const MasterState& state = ways.state();
  const auto period = [&](Seconds between_failures) {
    std::vector<NodePrices> prices = PricesAlong(state, ways.Last());
    return SavePeriod(prices, between_failures).count();
  };
  ways.SavesOfTheLongRun();
  CHECK(period(kDay) == Approx(std::sqrt(2 * 1.0 * 86'400)));  // no save was measured
  ways.TimesAre(1'000, 2'000'000);
  CHECK(period(kDay) == Approx(std::sqrt(2 * 2.0 * 86'400)));
  CHECK(period(kDay / 24) == Approx(std::sqrt(2 * 2.0 * 3'600)));
  CHECK(period(Seconds(10)) == Approx(20));  // not all the time
}

}  // namespace espalier::master
