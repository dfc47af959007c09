#include "master/core/views/study_part.h"

#include <catch2/catch.hpp>

#include "master/core/views/makespan_bound.h"
#include "master/core/views/plan_view.h"
#include "tests/unit/summary/state_builder.h"

namespace espalier::master {
namespace {

StateReader ReaderOf(const MasterState& state) {
  return [&](const auto& look) {
    look(state);
    return Result<void>();
  };
}

// The study's plan and bound must be told of its part as they are of the whole.
void CheckPart(const MasterState& state, StudyId study) {
  const MasterState part = CopyStudy(ReaderOf(state), study).value();
  CHECK(ViewPlan(part, study) == ViewPlan(state, study));
  CHECK(MakespanBound(part, part.studies.at(study)).count() ==
        Approx(MakespanBound(state, state.studies.at(study)).count()));
}

// Studies of two teams that share a plan, and one that stands alone, with work done, under way and to do.
struct SharedPlan : StateBuilder {
  SharedPlan() : StateBuilder(4) {
    const TrialId first = AddTrial(ours, "0.1", 80);
    const TrialId second = AddTrial(ours, "MultiStep(0.1, [40], gamma=0.5)", 80, "64");
    AddTrial(alone, "0.1", 80);
    team = "others";
    theirs = AddStudy(Scope::kEveryone, 10);
    const TrialId other = AddTrial(theirs, "MultiStep(0.1, [20, 50], gamma=0.5)", 80);
    const TrialId same = AddTrial(theirs, "0.1", 90);
    Trained({ours}, first, 0, 50, 0, 2);
    StoreCheckpoint(first, 50);
    Claimed(first, 50);
    AddClaim(first, 80);
    Claimed(second, 10);
    AddClaim(second, 70);
    AddClaim(same, 90);
    Claimed(other, 30);
    Trained({theirs}, other, 20, 30, 20, 3);
    Promise(AddRun({ours, theirs}, first, 50, 80, 30), 80);
    Promise(AddRun({theirs}, same, 0, 90, 30), 90);
    Promise(AddRun({theirs}, other, 30, 60, 30), 60);
  }

  const StudyId ours = AddStudy(Scope::kEveryone);
  const StudyId alone = AddStudy(Scope::kStudy);
  StudyId theirs;
};

}  // namespace

TEST_CASE("a study's part says of its plan and of its bound what the whole state says") {
  const SharedPlan s;
  for (const StudyId study : {s.ours, s.alone, s.theirs}) CheckPart(s.state, study);
}

TEST_CASE("a study's part holds nothing of other teams' trials, claims and studies") {
  const SharedPlan s;
  const MasterState part = CopyStudy(ReaderOf(s.state), s.ours).value();
  CHECK(part.trials.size() == 2);
  CHECK(part.studies.size() == 1);
  REQUIRE(part.plans.size() == 1);
  CHECK(part.plans.begin()->second.claims.size() == 4);
  for (const auto& [id, run] : part.runs) {
    for (const auto& [study, charge] : run.charges) CHECK(study == s.ours);
    for (const StudyId study : run.serves) CHECK(study == s.ours);
  }
}

TEST_CASE("a large study is copied in many turns, and what happens between them is in the part or not") {
  StateBuilder s;
  const StudyId study = s.AddStudy(Scope::kTeam);
  for (int i = 1; i <= 1200; ++i)
    s.AddClaim(s.AddTrial(study, "Piecewise([0.1, " + std::to_string(i) + "], [10])", 20), 20);
  const TrialId last = s.state.trials_by_study.at(study).back();
  int turns = 0;
  const StateReader read = [&](const auto& look) {
    look(s.state);
    ++turns;
    s.Claimed(last, turns);
    s.AddTrial(study, "0." + std::to_string(turns), 20);
    if (turns == 2) s.Trained({study}, last, 0, 20);
    return Result<void>();
  };
  const MasterState part = CopyStudy(read, study).value();
  CHECK(part.trials.size() == 1200);
  CHECK(turns == 1 + 3 + 5 + 3 + 1);  // trials, events, nodes
  CHECK(ViewPlan(part, study).size() == 1201);
}

TEST_CASE("when the state cannot be read, neither can the study") {
  StateBuilder s;
  const StudyId study = s.AddStudy(Scope::kTeam);
  s.AddTrial(study, "0.1", 20);
  for (int readable = 0; readable < 4; ++readable) {
    int turns = 0;
    const auto part = CopyStudy(
        [&](const auto& look) -> Result<void> {
          if (turns++ == readable) return MakeError(ErrorCode::kUnavailable, "away");
          look(s.state);
          return {};
        },
        study);
    REQUIRE_FALSE(part.has_value());
    CHECK(part.error().code == ErrorCode::kUnavailable);
  }
}

}  // namespace espalier::master
