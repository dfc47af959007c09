#include "master/core/views/study_summary.h"

#include <catch2/catch.hpp>
#include <limits>

#include "master/core/views/makespan_bound.h"
#include "tests/unit/summary/state_builder.h"

namespace espalier::master {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const std::string kDecayedAt40 = "MultiStep(0.1, [40], gamma=0.1)";

// Two trials of 80 steps that share the first 40.
struct TwoTrials : StateBuilder {
  explicit TwoTrials(int slot_count = 2) : StateBuilder(slot_count) {}

  StudySummary Summary(std::int64_t now = 0) const { return Summarize(state, study, At(now)); }

  // Of the study as it is now, finished.
  Seconds Bound() {
    Apply(state, FinishStudy{study, At(0)});
    return MakespanBound(state, state.studies.at(study));
  }

  const StudyId study = AddStudy();
  const TrialId constant = AddTrial(study, "0.1", 80);
  const TrialId multi = AddTrial(study, kDecayedAt40, 80);
};

// `constant` is trained by run 1, ordered at 0. Run 2 goes the whole way to the end of `multi`, ordered at 20, from
// Init: once the test says so.
struct SecondRunFromInit : TwoTrials {
  SecondRunFromInit() {
    Claimed(constant, 80);
    Claimed(multi, 80);
    Trained({study}, constant, 0, 80, 0);
  }
  void OrderSecond() { Trained({study}, multi, 0, 80, 20); }
  const RunId first{1};
};

}  // namespace

TEST_CASE("shared steps are claimed twice, unique once") {
  TwoTrials s;
  s.Claimed(s.constant, 80);
  s.Claimed(s.multi, 80);
  s.Trained({s.study}, s.constant, 0, 80, 0, 1);
  s.Trained({s.study}, s.multi, 40, 80, 0, 3);
  const StudySummary summary = s.Summary();
  CHECK(summary.steps.claimed == 160);
  CHECK(summary.steps.unique == 120);
  CHECK(summary.steps.trained == 120);
  CHECK(summary.steps.re_derived == 0);
  CHECK(summary.steps.wasted == 0);
  CHECK(summary.steps.reused == 0);
  CHECK(summary.merge_rate == Approx(4.0 / 3));
  CHECK(summary.time_weighted_merge_rate == Approx(240.0 / 200));  // (80 + 40 + 40 * 3) / (80 + 40 * 3)
}

TEST_CASE("only claims that are done count as claimed") {
  TwoTrials s;
  CHECK(s.Summary().merge_rate == 0);
  CHECK(s.Summary().time_weighted_merge_rate == 0);
  s.Claimed(s.constant, 30);
  s.AddClaim(s.constant, 80);
  s.Settle(s.AddClaim(s.multi, 80), ClaimState::kFailed);
  CHECK(s.Summary().steps.claimed == 30);
  CHECK(s.Summary().steps.unique == 30);
}

TEST_CASE("scope nobody shares nothing") {
  StateBuilder s;
  const StudyId study = s.AddStudy(Scope::kNobody);
  for (int i = 0; i < 2; ++i) s.Claimed(s.AddTrial(study, "0.1", 80), 80);
  CHECK(Summarize(s.state, study, At(0)).steps.unique == 160);
}

TEST_CASE("steps that an earlier run trained are re-derived, and not wasted without a state to start from") {
  SecondRunFromInit s;
  s.OrderSecond();
  CHECK(s.Summary().steps.trained == 160);
  CHECK(s.Summary().steps.re_derived == 40);
  CHECK(s.Summary().steps.wasted == 0);
}

TEST_CASE("steps before a checkpoint that stood when the run was ordered are wasted") {
  SecondRunFromInit s;
  s.StoreCheckpoint(s.multi, 25, 10);
  SECTION("the last before it counts") {
    s.OrderSecond();
    s.StoreCheckpoint(s.multi, 40, 21);  // too late for run 2
    CHECK(s.Summary().steps.wasted == 25);
  }
  SECTION("of several, the deepest") {
    s.StoreCheckpoint(s.multi, 50, 20);
    s.OrderSecond();
    CHECK(s.Summary().steps.wasted == 50);
  }
}

TEST_CASE("a checkpoint at a run's start makes nothing wasted") {
  TwoTrials s;
  s.StoreCheckpoint(s.multi, 40, 0);
  s.Trained({s.study}, s.multi, 40, 80, 10);
  CHECK(s.Summary().steps.wasted == 0);
}

TEST_CASE("steps before another run's promise are wasted, whatever becomes of the promise later") {
  SecondRunFromInit s;
  s.Promise(s.first, 40, Owed::kState, 5);
  s.OrderSecond();
  CHECK(s.Summary().steps.wasted == 40);
  SECTION("kept") { s.SettlePromise(s.first, 40, PromiseState::kKept, 30); }
  SECTION("lost") { s.SettlePromise(s.first, 40, PromiseState::kLost, 30); }
  SECTION("withdrawn") { s.SettlePromise(s.first, 40, PromiseState::kWithdrawn, 30); }
  CHECK(s.Summary().steps.wasted == 40);
}

TEST_CASE("a promise that was settled before a run was ordered serves it no more") {
  SecondRunFromInit s;
  s.Promise(s.first, 40, Owed::kState, 5);
  SECTION("lost") { s.SettlePromise(s.first, 40, PromiseState::kLost, 10); }
  SECTION("withdrawn") { s.SettlePromise(s.first, 40, PromiseState::kWithdrawn, 10); }
  s.OrderSecond();
  CHECK(s.Summary().steps.wasted == 0);
  s.Promise(s.first, 40, Owed::kState, 30);  // after it
  CHECK(s.Summary().steps.wasted == 0);
}

TEST_CASE("a promise serves no run that was ordered before it was made, and no run before its own") {
  SecondRunFromInit s;
  s.OrderSecond();
  s.Promise(s.first, 40, Owed::kState, 21);
  s.Promise(RunId{2}, 40, Owed::kState, 0);
  CHECK(s.Summary().steps.wasted == 0);
}

TEST_CASE("a promise of metrics alone is no state") {
  SecondRunFromInit s;
  s.Promise(s.first, 40, Owed::kMetrics, 5);
  s.OrderSecond();
  CHECK(s.Summary().steps.wasted == 0);
}

TEST_CASE("what another study trained before is reused, and takes no time") {
  StateBuilder s(1);
  const StudyId before = s.AddStudy(Scope::kTeam);
  const TrialId earlier = s.AddTrial(before, "0.1", 80);
  s.AddClaim(earlier, 50);
  s.Trained({before}, earlier, 0, 50, 10);
  const StudyId study = s.AddStudy(Scope::kTeam, 100);
  const TrialId constant = s.AddTrial(study, "0.1", 80);
  const TrialId multi = s.AddTrial(study, kDecayedAt40, 80);
  s.Claimed(constant, 80);
  s.Claimed(multi, 80);
  s.Trained({study}, constant, 45, 80, 101);  // 45 to 50 again
  s.Trained({study}, multi, 40, 80, 101);
  Apply(s.state, FinishStudy{study, At(200)});
  const StudySummary summary = Summarize(s.state, study, At(200));
  CHECK(summary.steps.unique == 120);
  CHECK(summary.steps.trained == 75);
  CHECK(summary.steps.re_derived == 5);
  CHECK(summary.steps.reused == 45);
  CHECK(MakespanBound(s.state, s.state.studies.at(study)).count() == Approx(75));
  CHECK(Summarize(s.state, before, At(200)).steps.trained == 50);
  CHECK(Summarize(s.state, before, At(200)).steps.re_derived == 0);
  CHECK(Summarize(s.state, before, At(200)).steps.reused == 0);
}

TEST_CASE("runs for several studies are charged in equal parts, training ones up to now") {
  StateBuilder s;
  const StudyId study = s.AddStudy(Scope::kTeam, 10);
  const StudyId other = s.AddStudy(Scope::kTeam, 10);
  const TrialId trial = s.AddTrial(study, "0.1", 80);
  s.EndRun(s.AddRun({study, other}, trial, 0, 80, 10), 30);
  s.AddRun({study}, trial, 0, 80, 50);
  const StudySummary summary = Summarize(s.state, study, At(60));
  CHECK(summary.use.device.count() == Approx(15 + 10));
  CHECK(summary.elapsed.count() == Approx(50));
  Apply(s.state, FinishStudy{study, At(55)});
  CHECK(Summarize(s.state, study, At(60)).elapsed.count() == Approx(45));
  CHECK(Summarize(s.state, other, At(60)).use.device.count() == Approx(15));
}

TEST_CASE("the makespan bound is of the shared work on the slots there are") {
  const auto bound_on = [](int slots) {
    TwoTrials s(slots);
    s.ClaimedTogether({{s.constant, 80}, {s.multi, 80}});
    s.Trained({s.study}, s.constant, 0, 80, 0, 2);
    s.Trained({s.study}, s.multi, 40, 80, 0, 2);
    return s.Bound().count();
  };
  CHECK(bound_on(1) == Approx(240));
  CHECK(bound_on(2) == Approx(160));
  CHECK(bound_on(0) == Approx(240));  // nobody connected
}

TEST_CASE("the makespan bound is summed over rungs") {
  TwoTrials s(2);
  s.ClaimedTogether({{s.constant, 20}, {s.multi, 50}});
  s.Claimed(s.constant, 80);
  s.Trained({s.study}, s.constant, 0, 80);
  s.Trained({s.study}, s.multi, 40, 80);
  // First rung: one lineage to 20 and on to 50. Second: of the other's 60 steps, 20 to 40 are trained by then.
  CHECK(s.Bound().count() == Approx(50 + 40));
}

TEST_CASE("of a tuner that goes on with one trial while another trains, the makespan bound is of all at once") {
  StateBuilder s(2);
  const StudyId study = s.AddStudy();
  const TrialId promoted = s.AddTrial(study, "0.1", 10);
  const TrialId slow = s.AddTrial(study, "0.2", 10);
  const ClaimId first = s.AddClaim(promoted, 1);
  const ClaimId beside = s.AddClaim(slow, 10);
  s.Finish(first, 0.5);
  s.Finish(s.AddClaim(promoted, 10), 0.5);
  s.Finish(beside, 0.5);
  s.Trained({study}, promoted, 0, 10);
  s.Trained({study}, slow, 0, 10);
  CHECK(MakespanBound(s.state, s.state.studies.at(study)).count() == Approx(10));
}

TEST_CASE("steps past a divergence are not in the makespan bound") {
  TwoTrials s(1);
  s.Change(s.constant, SetFailure{s.On(s.constant, 10), Failure{Failure::Kind::kDiverged, "loss is nan"}});
  s.Settle(s.AddClaim(s.constant, 80), ClaimState::kDone);
  s.Settle(s.AddClaim(s.multi, 80), ClaimState::kDone);
  s.Trained({s.study}, s.constant, 0, 10);
  CHECK(s.Bound().count() == Approx(10));
}

TEST_CASE("a divergence behind a branch leaves the branch's steps in the makespan bound") {
  TwoTrials s(1);
  s.Change(s.constant, SetFailure{s.On(s.constant, 60), Failure{Failure::Kind::kDiverged, "loss is nan"}});
  s.Settle(s.AddClaim(s.constant, 80), ClaimState::kDone);
  s.Settle(s.AddClaim(s.multi, 70), ClaimState::kDone);
  s.Trained({s.study}, s.constant, 0, 60);
  CHECK(s.Bound().count() == Approx(60 + 30));
}

TEST_CASE("the best trial is the first of the best value at its latest step, and never NaN") {
  const auto best_of = [](Goal goal, const std::vector<std::pair<double, double>>& values) {
    StateBuilder s;
    const StudyId study = s.AddStudy(Scope::kNobody, 0, goal);
    for (const auto& [at_20, at_80] : values) {
      const TrialId trial = s.AddTrial(study, "0.1", 80);
      s.Claimed(trial, 20, at_20);
      s.Claimed(trial, 80, at_80);
    }
    return Summarize(s.state, study, At(0)).best;
  };
  CHECK_FALSE(best_of(Goal::kMaximize, {}).has_value());
  CHECK_FALSE(best_of(Goal::kMaximize, {{kNan, kNan}}).has_value());
  const auto highest = best_of(Goal::kMaximize, {{kNan, kNan}, {0.5, 0.7}, {0.7, 0.7}, {0.7, 0.1}});
  REQUIRE(highest.has_value());
  CHECK(highest->trial == TrialId{2});
  CHECK(highest->value == 0.7);
  CHECK(highest->step == Step{80});
  const auto latest = best_of(Goal::kMaximize, {{0.7, 0.7}});
  CHECK(latest->step == Step{80});
  const auto lowest = best_of(Goal::kMinimize, {{0.5, 0.7}, {kNan, 0.1}, {0.1, kNan}});
  REQUIRE(lowest.has_value());
  CHECK(lowest->trial == TrialId{2});
}

}  // namespace espalier::master
