// After what time a node manager is told to take a request for a hang (design section 7): never, where nobody measured.
#include <catch2/catch.hpp>

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

}  // namespace espalier::master
