// After what time a node manager is told to take a request for a hang (design section 7): where nobody measured, never,
// or as the studies say.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

// A trial of 10 steps on its only slot.
struct OneTrial : ServerByHand {
  OneTrial() : ServerByHand(1) { Submit(study, {{"lr", "0.1"}}, 10); }

  // Its run takes so long for each step, and ends; another trial of the trainer is begun.
  const Run& Next(Seconds step) {
    Report(Last(), StepsTrained{Last().path.front().node, Step{0}, Step{10}, 10 * step});
    Complete(Last());
    Submit(study, {{"lr", "0.2"}}, 20);
    return Last();
  }
};

}  // namespace

TEST_CASE("what was never measured is no hang, however long it takes") {
  OneTrial of;
  CHECK(of.TermsOf(of.Last().id).limits == TimeLimits{});
  for (int i = 0; i < 10; ++i) {
    const Moment later{std::chrono::hours(i)};
    of.Handle(NodeMessage{.session = of.servers[0].session, .arrived = later});
    of.Handle(Tick{.arrived = later, .heard_until = later});
  }
  CHECK(of.state().runs.size() == 1);
  CHECK(of.Last().training());
  CHECK(of.TermsOf(of.Last().id).limits == TimeLimits{});
}

TEST_CASE(
    "a measured kind of request is a hang after ten times what it takes, and ten minutes; the others have no limit") {
  OneTrial of;
  SECTION("short steps") {
    const TimeLimits limits = of.TermsOf(of.Next(Seconds(1)).id).limits;
    CHECK(limits.train == Seconds(600));
    CHECK_FALSE(limits.set_up.has_value());
    CHECK_FALSE(limits.load.has_value());
  }
  SECTION("long steps") {
    const TimeLimits limits = of.TermsOf(of.Next(Seconds(900)).id).limits;
    REQUIRE(limits.train.has_value());
    CHECK(limits.train->count() == Approx(9000));
  }
}

TEST_CASE("while no step was measured, one that takes longer than the study's hang_after is a hang") {
  ServerByHand of(1, {.name = "study", .hang_after = Seconds(7200)});
  of.Submit(of.study, {{"lr", "0.1"}}, 10);
  const TimeLimits limits = of.TermsOf(of.Last().id).limits;
  CHECK(limits.train == Seconds(7200));
  CHECK_FALSE(limits.set_up.has_value());
  CHECK_FALSE(limits.evaluate.has_value());
  SECTION("and what was measured says better") {
    of.Train(of.Last(), Step{10});
    of.Complete(of.Last());
    of.Submit(of.study, {{"lr", "0.2"}}, 20);
    CHECK(of.TermsOf(of.Last().id).limits.train == Seconds(600));
  }
}

TEST_CASE("of several studies on one run the most patient says what is a hang, and none if one of them never does") {
  ServerByHand of(1, {.name = "study", .hang_after = Seconds(60)});
  of.Submit(of.study, {{"lr", "0.1"}}, 10);
  const RunId run = of.Last().id;
  const StudyId patient = of.AddStudy({.name = "patient", .hang_after = Seconds(7200)});
  const TrialId first = of.Submit(patient, {{"lr", "0.1"}}, 10);
  CHECK(of.TermsOf(run).limits.train == Seconds(7200));
  const StudyId silent = of.AddStudy({.name = "silent"});
  const TrialId second = of.Submit(silent, {{"lr", "0.1"}}, 10);
  CHECK(of.TermsOf(run).limits.train == std::nullopt);
  of.Cancel(second);
  CHECK(of.TermsOf(run).limits.train == Seconds(7200));
  of.Cancel(first);
  CHECK(of.TermsOf(run).limits.train == Seconds(60));
}

TEST_CASE("a hang_after of no time, or of years, is refused by its name") {
  ServerByHand of(1);
  for (const double seconds : {0.0, -1.0, 1e9, std::nan("")}) {
    of.Call(CreateStudy{{.name = "other", .trainer = "simulated", .hang_after = Seconds(seconds), .metric = "score"}});
    REQUIRE(std::holds_alternative<Error>(of.last_reply.answer));
    CHECK(std::get<Error>(of.last_reply.answer).field == "hang_after_seconds");
  }
}

}  // namespace espalier::master
