// When studies that are over leave memory, what waits for what, and what is answered afterwards.
#include <catch2/catch.hpp>
#include <chrono>

#include "master/core/history_store.h"
#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

using std::chrono::days;
using std::chrono::hours;

constexpr hours kRetireAfter{5};

// A study of one trial, which is trained, measured and stored at once, and the server that did it.
struct OneStudyIsOver : ServerByHand {
  OneStudyIsOver() {
    reactor_settings.retire_after = Seconds(kRetireAfter);
    trial = Submit(study, {{"lr", "0.1"}}, 20);
    Finish(study);
    run = Last().id;
    Complete(Last());
    REQUIRE(state().studies.at(study).finished_at.has_value());
  }
  bool HasLeft() const { return state().retired.contains(study) && state().trials.empty(); }
  bool RunHasLeft() const { return !state().runs.contains(run); }

  TrialId trial;
  RunId run;
};

}  // namespace

TEST_CASE("a study leaves memory so long after it is finished, and its runs when no quota counts their day") {
  OneStudyIsOver master;
  master.Wait(kRetireAfter - hours(1));
  CHECK_FALSE(master.HasLeft());
  master.Wait(hours(1));
  CHECK(master.HasLeft());
  CHECK(master.state().events.at(master.study).empty());
  CHECK(master.state().plans.begin()->second.claims.empty());
  CHECK_FALSE(master.RunHasLeft());
  master.Wait(days(1));
  CHECK(master.RunHasLeft());
  CHECK(master.state().retired.at(master.study).best->trial == master.trial);
  CHECK(master.state().index.steps.Of(master.state(), master.study).unique == 20);
}

TEST_CASE("a study stays while a run that has served it goes on for another") {
  ServerByHand master(1);
  master.reactor_settings.retire_after = Seconds(kRetireAfter);
  master.Submit(master.study, {{"lr", "0.1"}}, 20);
  master.Finish(master.study);
  const StudyId other = master.CreateStudy("other");
  master.Submit(other, {{"lr", "0.1"}}, 90);
  const Run run = master.Last();
  master.Store(run, PointOf(run, Step{20}));
  master.Measure(run, PointOf(run, Step{20}));
  REQUIRE(master.state().studies.at(master.study).finished_at.has_value());
  REQUIRE_FALSE(master.RunOf(run.id).ended());
  master.Wait(kRetireAfter);
  master.Wait(hours(1));
  CHECK_FALSE(master.state().retired.contains(master.study));
  master.Complete(run, "another file");
  master.Wait(hours(1));
  CHECK(master.state().retired.contains(master.study));
  CHECK_FALSE(master.state().retired.contains(other));
}

TEST_CASE("a run whose server is away stays for seven days, for what the server may still have to say") {
  OneStudyIsOver master;
  master.LoseServers();
  master.Wait(kRetireAfter);
  REQUIRE(master.HasLeft());
  master.Wait(days(5));
  CHECK_FALSE(master.RunHasLeft());
  SECTION("it comes back, and says that") {
    master.Connect("server-0", 1);
    master.Wait(hours(2));
    CHECK(master.RunHasLeft());
  }
  SECTION("it does not come back") {
    master.Wait(days(2));
    CHECK(master.RunHasLeft());
  }
}

TEST_CASE("answers are forgotten after thirty days, and those of a retired study's pins as soon as they are given") {
  OneStudyIsOver master;
  master.Wait(kRetireAfter);
  REQUIRE(master.HasLeft());
  const PinStudy pin{.study = master.study, .keep = Keep::kAll, .recalled = std::vector<KeptState>{}};
  master.Ask({.call = CallId{1}, .caller = kAnn, .request_id = "pin", .what = pin, .recalled = Recalled{}});
  CHECK(master.state().requests.contains({master.study, "pin"}));
  master.Wait(hours(1));
  CHECK_FALSE(master.state().requests.contains({master.study, "pin"}));
  CHECK_FALSE(master.state().requests.empty());  // of CreateStudy, which is no study's
  master.Wait(kRequestsKeptFor - kRetireAfter - hours(2));
  CHECK_FALSE(master.state().requests.empty());
  master.Wait(hours(2));
  CHECK(master.state().requests.empty());
}

TEST_CASE("nothing leaves where nothing is to be retired") {
  OneStudyIsOver master;
  master.reactor_settings.retire_after.reset();
  master.Wait(days(365));
  CHECK_FALSE(master.HasLeft());
  CHECK_FALSE(master.state().requests.empty());
}

}  // namespace espalier::master
