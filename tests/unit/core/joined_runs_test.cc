// Claims that come while a run is under way that can serve them: what it owes them then, for whom it goes on, and who
// pays.
#include <catch2/catch.hpp>

#include "master/core/views/list_runs.h"
#include "master/core/views/study_summary.h"
#include "tests/support/rounds.h"
#include "tests/support/server_by_hand.h"
#include "tests/support/simulated_service.h"

namespace espalier::master {
namespace {

// A run of 80 steps that owes the state at step 40, for a branch there.
struct PassedMark : ServerByHand {
  PassedMark() {
    Submit(study, {{"lr", "0.1"}}, 80);
    Submit(study, {{"lr", "Piecewise([0.1, 0.01], [40])"}}, 60);
    run = Last().id;
    mark = {Last().path.front().node, Step{40}};
  }
  bool OwesState() const { return RunOf(run).FindOpen(mark.step, Owed::kState) != nullptr; }
  const Promise* Metrics() const { return RunOf(run).FindOpen(mark.step, Owed::kMetrics); }

  RunId run;
  Point mark;
};

// A run of 80 steps for one study; another joins, which evaluates every fifth step and was created after it began.
struct JoinedRun : ServerByHand {
  JoinedRun() {
    Submit(study, {{"lr", "0.1"}}, 80);
    run = Last().id;
    Stand(RunOf(run), Step{10});
    for (int i = 0; i < 100; ++i) Handle(Tick{});
    generation = RunOf(run).generation;
    joining = AddStudy({.name = "joining", .evaluate_every = 5});
    trial = Submit(joining, {{"lr", "0.1"}}, 80);
  }

  RunId run;
  std::int64_t generation = 0;
  StudyId joining;
  TrialId trial;
};

}  // namespace

TEST_CASE(
    "a claim at a mark that the runner has passed waits for the state that is on its way, and is evaluated then") {
  PassedMark of;
  REQUIRE(of.OwesState());
  SECTION("known to be passed") {
    of.Stand(of.RunOf(of.run), Step{41});
    of.Submit(of.study, {{"lr", "0.1"}}, 40);
    CHECK(of.Metrics() == nullptr);
  }
  SECTION("not known yet") {
    of.Stand(of.RunOf(of.run), Step{38});
    of.Submit(of.study, {{"lr", "0.1"}}, 40);
    REQUIRE(of.Metrics() != nullptr);
    of.Stand(of.RunOf(of.run), Step{41});
    of.Report(of.RunOf(of.run), PromiseLost{.promise = of.Metrics()->id, .step = of.mark.step, .why = "past it"});
  }
  SECTION("promised in time, and withdrawn when the runner has passed") {
    of.Stand(of.RunOf(of.run), Step{38});
    const TrialId hasty = of.Submit(of.study, {{"lr", "0.1"}}, 40);
    of.Stand(of.RunOf(of.run), Step{41});
    of.Cancel(hasty);
    CHECK(of.Metrics() == nullptr);
    of.Submit(of.study, {{"lr", "0.1"}}, 40);
  }
  CHECK(of.OwesState());
  CHECK(of.RunOf(of.run).training());
  CHECK(of.state().runs.size() == 1);  // a slot is idle: nothing is trained again
  of.Store(of.RunOf(of.run), of.mark);
  bool is_evaluated = false;
  for (const auto& [id, run] : of.state().runs) is_evaluated |= run.path.empty() && run.start == of.mark;
  CHECK(is_evaluated);
}

TEST_CASE(
    "whenever a claim comes to a mark that its runner passes, and however late messages are, no step is trained twice",
    "[property]") {
  for (std::uint64_t seed = 1; seed <= Rounds(60); ++seed) {
    INFO("seed " << seed);
    SimulatedService service({.seed = seed, .durations = std::nullopt});
    const StudyId study = service.CreateStudy("mark");
    service.Submit(study, {{"lr", "0.1"}}, 80);
    service.Submit(study, {{"lr", "Piecewise([0.1, 0.01], [40])"}}, 60);
    service.RunUntil([&] { return service.steps_trained >= 36 + static_cast<std::int64_t>(seed % 9); });
    service.Submit(study, {{"lr", "0.1"}}, 40);
    service.RunToRest();
    CHECK(service.steps_trained == 80 + 20);
  }
}

TEST_CASE("a study that joins a run under way is evaluated at its own period from then on") {
  JoinedRun of;
  CHECK(of.state().runs.size() == 1);
  CHECK(of.RunOf(of.run).generation > of.generation);
  CHECK(of.TermsOf(of.run).evaluate_every == std::vector<std::int64_t>{5});
  of.Cancel(of.trial);
  CHECK(of.TermsOf(of.run).evaluate_every.empty());
}

TEST_CASE("a study that joins a run under way pays its part from then on, and nothing of what was before") {
  JoinedRun of;
  CHECK(of.RunOf(of.run).serves == std::vector{of.study, of.joining});
  const Run joined = of.RunOf(of.run);
  const std::int64_t before = (joined.charged_to - joined.ordered_at).count();
  REQUIRE(before > 0);
  CHECK(joined.charges == std::map<StudyId, std::int64_t>{{of.study, before}, {of.joining, 0}});
  const Seconds held = std::chrono::microseconds(before + 2'000'000);
  of.Report(joined, RunEnded{.step = Step{80}, .slot_time = held, .saves_under_way = {Step{80}}, .refused = {}});
  CHECK(of.RunOf(of.run).charges ==
        std::map<StudyId, std::int64_t>{{of.study, before + 1'000'000}, {of.joining, 1'000'000}});
  const Time now = of.RunOf(of.run).charged_to;
  CHECK(Summarize(of.state(), of.joining, now).use.device.count() == Approx(1));
}

TEST_CASE("steps of a run that a study joined were trained for it, and not found ready-made") {
  JoinedRun of;
  const PlanNodeId node = of.RunOf(of.run).path.front().node;
  of.Report(of.RunOf(of.run), StepsTrained{node, Step{0}, Step{80}, Seconds(80)});
  of.Complete(of.RunOf(of.run));
  REQUIRE(of.LastClaim(of.trial).state == ClaimState::kDone);
  for (const StudyId study : {of.study, of.joining}) {
    const StepCounts steps = Summarize(of.state(), study, of.RunOf(of.run).charged_to).steps;
    CHECK(steps.trained == 80);
    CHECK(steps.reused == 0);
  }
  const StudyId late = of.AddStudy({.name = "late"});
  of.Submit(late, {{"lr", "0.1"}}, 80);
  const StepCounts steps = Summarize(of.state(), late, of.RunOf(of.run).charged_to).steps;
  CHECK(steps.trained == 0);
  CHECK(steps.reused == 80);
}

TEST_CASE("a run is listed for each study that it has served, also after a restart") {
  JoinedRun of;
  for (const bool restarted : {false, true}) {
    if (restarted) of.Restart();
    for (const StudyId study : {of.study, of.joining}) {
      CHECK(ListRuns(of.state(), study, 10, "")->runs == std::vector{of.run});
    }
  }
  CHECK(ListRuns(of.state(), of.AddStudy({.name = "idle"}), 10, "")->runs.empty());
}

TEST_CASE("runs are listed in the order of their orders, page after page") {
  ServerByHand of(3);
  for (const char* lr : {"0.1", "0.2", "0.3"}) of.Submit(of.study, {{"lr", lr}}, 80);
  const RunPage whole = ListRuns(of.state(), of.study, 3, "").value();
  REQUIRE(whole.runs.size() == 3);
  CHECK(std::ranges::is_sorted(whole.runs));
  CHECK(whole.next_token.empty());
  const RunPage first = ListRuns(of.state(), of.study, 2, "").value();
  CHECK(first.runs == std::vector{whole.runs[0], whole.runs[1]});
  const RunPage second = ListRuns(of.state(), of.study, 2, first.next_token).value();
  CHECK(second.runs == std::vector{whole.runs[2]});
  CHECK(second.next_token.empty());
  CHECK(ListRuns(of.state(), of.study, 2, "c 1 0").error().field == "page_token");
}

TEST_CASE(
    "where a run turns out to have passed what it was to keep, the next best run that passes keeps a state instead") {
  ServerByHand server(2);
  const auto piecewise = [](const std::string& rates, const std::string& at) {
    return "Piecewise([" + rates + "], [" + at + "])";
  };
  server.Submit(server.study, {{"lr", piecewise("0.1, 0.2", "150")}}, 450);
  const RunId ahead = server.Last().id;
  server.Stand(server.Last(), Step{100});
  server.Submit(server.study, {{"lr", piecewise("0.1, 0.3", "50")}}, 450);
  const RunId behind = server.Last().id;
  REQUIRE(behind != ahead);
  server.Submit(server.study, {{"lr", "0.1"}}, 450);
  const Promise* too_late = server.RunOf(ahead).FindOpen(Step{150}, Owed::kState);
  REQUIRE(too_late != nullptr);
  REQUIRE(server.RunOf(behind).FindOpen(Step{50}, Owed::kState) == nullptr);
  server.Stand(server.RunOf(ahead), Step{153});
  server.Report(server.RunOf(ahead), PromiseLost{.promise = too_late->id, .step = Step{150}, .why = "past it"});
  CHECK(server.RunOf(ahead).FindOpen(Step{150}, Owed::kState) == nullptr);
  CHECK(server.RunOf(behind).FindOpen(Step{50}, Owed::kState) != nullptr);
}

}  // namespace espalier::master
