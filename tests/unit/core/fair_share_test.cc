// Whom runs make room for, and when (master/core/nodes/fair_share.h).
#include <catch2/catch.hpp>

#include "tests/support/simulated_service.h"

namespace espalier::master {
namespace {

const Caller kOtherTeam{.user = "bob", .team = "other"};

struct TwoTeams : SimulatedService {
  explicit TwoTeams(int slots) : SimulatedService({.slots = slots}) {}

  // Bob's, so many trials that share nothing with what others train.
  StudyId BobSubmits(int trials, std::int64_t steps) {
    Ask({.caller = kOtherTeam,
         .request_id = "bob's study",
         .what = master::CreateStudy{{.name = "bob's", .trainer = "simulated", .metric = "score"}}});
    const StudyId study = std::get<StudyCreated>(last_reply.answer).study;
    SubmitBatch batch{.study = study};
    for (int i = 1; i <= trials; ++i) {
      batch.new_trials.push_back({{{"lr", "0.0" + std::to_string(i)}}, Step{steps}, Step{0}});
    }
    Ask({.caller = kOtherTeam, .request_id = "bob's trials", .what = batch});
    return study;
  }
  void AnnSubmits(StudyId study, int trials, std::int64_t steps) {
    for (int i = 1; i <= trials; ++i) Submit(study, {{"lr", "0." + std::to_string(i)}}, steps);
  }
  int TrainingFor(StudyId study) const {
    int count = 0;
    for (const RunId id : state().active_runs) {
      const Run& run = state().runs.at(id);
      count += run.training() && !run.preempt && run.serves == std::vector{study} ? 1 : 0;
    }
    return count;
  }
  int PreemptedRuns() const {
    int count = 0;
    for (const auto& [id, run] : state().runs) count += run.preempt ? 1 : 0;
    return count;
  }
  bool NothingWasTrainedTwice() const {
    return std::ranges::all_of(trained, [](const auto& entry) { return entry.second == 1; });
  }
};

}  // namespace

TEST_CASE("where slots are full half of them are made room in for another team, and nothing is trained twice") {
  TwoTeams of(4);
  const StudyId ann = of.CreateStudy("ann's");
  of.AnnSubmits(ann, 6, 600);
  of.RunFor(Seconds(20));
  REQUIRE(of.TrainingFor(ann) == 4);
  const StudyId bob = of.BobSubmits(4, 100);
  of.RunFor(Seconds(2));
  CHECK(of.TrainingFor(ann) == 2);
  CHECK(of.TrainingFor(bob) == 2);
  CHECK(of.PreemptedRuns() == 2);
  of.RunToRest();
  CHECK(of.NothingWasTrainedTwice());
}

TEST_CASE("as many runs make room as there is to start, however little another team has") {
  TwoTeams of(4);
  const StudyId ann = of.CreateStudy("ann's");
  of.AnnSubmits(ann, 4, 600);
  of.RunFor(Seconds(20));
  const StudyId bob = of.BobSubmits(1, 100);
  of.RunFor(Seconds(2));
  CHECK(of.TrainingFor(ann) == 3);
  CHECK(of.TrainingFor(bob) == 1);
  CHECK(of.PreemptedRuns() == 1);
}

TEST_CASE("a run has its slot for ten seconds before it makes room") {
  TwoTeams of(2);
  const StudyId ann = of.CreateStudy("ann's");
  of.AnnSubmits(ann, 2, 600);
  of.BobSubmits(2, 100);
  of.RunFor(Seconds(8));
  CHECK(of.PreemptedRuns() == 0);
  of.RunFor(Seconds(5));
  CHECK(of.PreemptedRuns() == 1);
}

TEST_CASE("of runs that could make room those that serve the waiting team as well are left alone") {
  TwoTeams of(4);
  const auto everyones = [](const std::string& name) {
    return StudySpecification{.name = name, .trainer = "simulated", .metric = "score", .scope = Scope::kEveryone};
  };
  const StudyId ann = of.AddStudy(everyones("ann's"));
  of.AnnSubmits(ann, 3, 600);
  of.Submit(ann, {{"lr", "0.4"}}, 600);  // the newest run
  of.RunFor(Seconds(20));
  of.Ask({.caller = kOtherTeam, .request_id = "1", .what = master::CreateStudy{everyones("bob's")}});
  const StudyId bob = std::get<StudyCreated>(of.last_reply.answer).study;
  const SubmitBatch batch{.study = bob,
                          .new_trials = {{{{"lr", "0.4"}}, Step{600}, Step{0}}, {{{"lr", "0.01"}}, Step{5}, Step{0}}}};
  of.Ask({.caller = kOtherTeam, .request_id = "2", .what = batch});
  of.RunFor(Seconds(2));
  CHECK(of.PreemptedRuns() == 1);
  for (const auto& [id, run] : of.state().runs) {
    if (run.preempt) CHECK(run.serves == std::vector{ann});
  }
}

TEST_CASE("teams take turns of one slot, and each turn is long") {
  TwoTeams of(1);
  const StudyId ann = of.CreateStudy("ann's");
  of.AnnSubmits(ann, 1, 20'000);
  const StudyId bob = of.BobSubmits(1, 20'000);
  of.RunFor(Seconds(1800));
  CHECK(of.PreemptedRuns() >= 2);
  CHECK(of.PreemptedRuns() <= 6);
  CHECK(of.TrainingFor(ann) + of.TrainingFor(bob) == 1);
  CHECK(of.NothingWasTrainedTwice());
}

TEST_CASE("who had most is forgotten with the master, and slots are shared as before") {
  TwoTeams of(4);
  const StudyId ann = of.CreateStudy("ann's");
  of.AnnSubmits(ann, 6, 600);
  of.RunFor(Seconds(20));
  of.RestartMaster();
  of.RunFor(Seconds(3));  // until the server has registered again
  const StudyId bob = of.BobSubmits(4, 100);
  of.RunFor(Seconds(4));
  CHECK(of.TrainingFor(ann) == 2);
  CHECK(of.TrainingFor(bob) == 2);
}

}  // namespace espalier::master
