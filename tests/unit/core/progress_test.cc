// What is said of how a study goes on: it tells of what is done, not of how time passes.
#include <catch2/catch.hpp>

#include "master/core/views/study_progress.h"
#include "master/core/views/trial_state.h"
#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

// A trial of 100 steps on the only slot, of which the first ten took a second each.
struct Measured : ServerByHand {
  Measured() : ServerByHand(1) {
    Report(Last(), StepsTrained{Last().path.front().node, Step{0}, Step{10}, Seconds(10)});
    Stand(Last(), Step{10});
    Pass();
  }

  void Pass() {
    for (int i = 0; i < 500; ++i) Handle(Tick{});
  }
  double Left() const { return ProgressOf(state(), study, Time{}).left.count(); }
  std::string Standing() const { return TrialState(state(), state().trials.at(trial)); }
  std::map<std::string, std::int64_t> Counts() const { return ProgressOf(state(), study, Time{}).trials_by_state; }

  TrialId trial = Submit(study, {{"lr", "0.1"}}, 100);
};

}  // namespace

TEST_CASE("the time left falls as steps are trained, and not while none is") {
  Measured of;
  CHECK(of.Left() == Approx(90));
  of.Pass();
  CHECK(of.Left() == Approx(90));
  of.Stand(of.Last(), Step{60});
  CHECK(of.Left() == Approx(40));
  of.Crash(of.Last(), {of.Last().path.front().node, Step{61}});
  CHECK(of.Left() == Approx(100));  // no state was stored
  of.Pass();
  CHECK(of.state().active_runs.empty());  // it pauses
  CHECK(of.Left() == Approx(100));
}

TEST_CASE("a trial runs while something is trained or measured for it, and waits while it pauses or is only stored") {
  Measured of;
  CHECK(of.Standing() == "running");
  SECTION("its run crashed") {
    of.Crash(of.Last(), {of.Last().path.front().node, Step{61}});
    CHECK(of.Standing() == "waiting");
    REQUIRE(of.AwaitOrder());
    CHECK(of.Standing() == "running");
  }
  SECTION("its state is on its way to the store, to be measured then") {
    const Run trained = of.Last();
    of.End(trained, Step{100}, {Step{100}});
    CHECK(of.Standing() == "waiting");
    CHECK(of.Counts() == std::map<std::string, std::int64_t>{{"waiting", 1}});
    of.Store(trained, {trained.path.front().node, Step{100}});
    REQUIRE(of.Last().path.empty());
    CHECK(of.Standing() == "running");
  }
  SECTION("the slot trains for another trial first") {
    const TrialId second = of.Submit(of.study, {{"lr", "0.2"}}, 100);
    CHECK(TrialState(of.state(), of.state().trials.at(second)) == "waiting");
    CHECK(of.Counts() == std::map<std::string, std::int64_t>{{"running", 1}, {"waiting", 1}});
  }
  SECTION("its server is lost") {
    of.LoseServers();
    CHECK(of.Standing() == "waiting");
    CHECK(of.Left() < 0);  // nobody can tell
  }
}

TEST_CASE("trials of 2^53 steps that take years each are counted, ordered and told of as others are") {
  Measured of;
  of.Report(of.Last(), StepsTrained{of.Last().path.front().node, Step{10}, Step{20}, Seconds(1e8)});
  std::vector<NewTrial> trials;
  for (int i = 1; i <= 511; ++i) {
    trials.push_back({.sequences = {{"lr", "0." + std::to_string(1000 + i)}}, .steps = kStepMax});
  }
  of.Call(SubmitBatch{.study = of.study, .new_trials = trials});
  const double all = 511.0 * static_cast<double>(kStepMax.value);
  const StudyProgress progress = ProgressOf(of.state(), of.study, Time{});
  CHECK(static_cast<double>(progress.claimed_steps) == Approx(all + 100));
  CHECK(static_cast<double>(progress.unique_steps) == Approx(all + 100));
  CHECK(progress.left.count() > all);  // a step takes more than a second
  // Of what waits for the only slot the longest goes first.
  const TrialId least = of.Submit(of.study, {{"lr", "0.5"}}, 1);
  of.Complete(of.Last());
  CHECK(of.Last().path.back().to == kStepMax);
  CHECK(TrialState(of.state(), of.state().trials.at(least)) == "waiting");
  SECTION("more than 2^62 steps together a study may not ask for") {
    of.Call(SubmitBatch{.study = of.study, .new_trials = {{.sequences = {{"lr", "0.6"}}, .steps = kStepMax}}});
    const auto* refused = std::get_if<Error>(&of.last_reply.answer);
    REQUIRE(refused != nullptr);
    CHECK(refused->code == ErrorCode::kResourceExhausted);
    CHECK(refused->field == "trials[0].horizon_steps");
    const StudyId other = of.AddStudy({.name = "other"});
    CHECK(of.Submit(other, {{"lr", "0.6"}}, kStepMax.value) > least);
  }
}

}  // namespace espalier::master
