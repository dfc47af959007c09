// `stage retry`: what failed, pauses or is held is tried again, for whom it failed.
#include <algorithm>
#include <catch2/catch.hpp>

#include "searchplan/plan/record_result.h"
#include "tests/support/server_by_hand.h"
#include "tests/support/simulated_service.h"

namespace espalier::master {
namespace {

TrialStanding StandingOf(const MasterState& state, TrialId trial) {
  const TrialIndex& index = state.trial_index.at(state.trials.at(trial).study);
  for (const TrialStanding standing : {TrialStanding::kWaiting, TrialStanding::kIdle, TrialStanding::kDone,
                                       TrialStanding::kFailed, TrialStanding::kCancelled}) {
    bool found = false;
    index.Each(TrialOrder::kSubmission, {standing}, std::nullopt, [&](const TrialPlace& place) {
      found = place.id == trial;
      return !found;
    });
    if (found) return standing;
  }
  return {};
}

// Where training failed: of the only plan, the only failure.
Point OnlyFailure(const MasterState& state) {
  std::vector<Point> points;
  for (const auto& [id, node] : state.plans.begin()->second.nodes) {
    for (const auto& [step, failure] : node.results->failures) points.push_back({id, step});
  }
  REQUIRE(points.size() == 1);
  return points.front();
}

// Ann's trial that its trainer failed at step 6 of 20, in a study that goes on.
struct FailedTrial : ServerByHand {
  FailedTrial() { FailLast(); }

  void FailLast() { Fail(Last(), failed); }

  TrialId trial = Submit(study, {{"lr", "0.1"}}, 20);
  Point failed{Last().path.front().node, Step{6}};
};

Error RefusalOf(CalledMaster& master, Point point, const Caller& caller = kAnn) {
  const MasterState before = master.state();
  master.Ask({CallId{1}, caller, "refused", RetryStage{point}});
  CHECK(master.state() == before);
  REQUIRE(std::holds_alternative<Error>(master.last_reply.answer));
  return std::get<Error>(master.last_reply.answer);
}

std::vector<TrialId> Retried(CalledMaster& master, Point point, const std::string& request = "retry",
                             const Caller& caller = kAnn) {
  master.Ask({CallId{1}, caller, request, RetryStage{point}});
  REQUIRE(std::holds_alternative<StageRetried>(master.last_reply.answer));
  return std::get<StageRetried>(master.last_reply.answer).trials;
}

}  // namespace

TEST_CASE("a failed trial whose stage is retried has a new claim, trains again and is done") {
  FailedTrial of;
  const MasterState& state = of.state();
  REQUIRE(of.LastClaim(of.trial).state == ClaimState::kFailed);
  REQUIRE(StandingOf(state, of.trial) == TrialStanding::kFailed);
  const ClaimId failed = of.LastClaim(of.trial).id;

  CHECK(Retried(of, of.failed) == std::vector{of.trial});
  CHECK(of.LastClaim(of.trial).state == ClaimState::kWaiting);
  CHECK(of.LastClaim(of.trial).id != failed);
  const StudyEvent made = ClaimMade{of.LastClaim(of.trial).id, of.trial, Step{20}};
  const std::vector<StudyEvent>& events = state.events.at(of.study);
  CHECK(std::find(events.begin(), events.end(), made) != events.end());
  CHECK(StandingOf(state, of.trial) == TrialStanding::kWaiting);

  of.Complete(of.Last());
  CHECK(of.LastClaim(of.trial).state == ClaimState::kDone);
  CHECK(StandingOf(state, of.trial) == TrialStanding::kIdle);
  CHECK(state.plans.begin()->second.claims.at(failed).state == ClaimState::kFailed);
}

TEST_CASE("the same retry again gets the first answer and changes nothing") {
  FailedTrial of;
  const std::vector<TrialId> first = Retried(of, of.failed);
  of.Complete(of.Last());
  const MasterState before = of.state();
  CHECK(Retried(of, of.failed) == first);
  CHECK(of.state() == before);
}

TEST_CASE("a stage that fails again after a retry is retried again, each trial with one new claim") {
  FailedTrial of;
  Retried(of, of.failed, "first");
  of.FailLast();
  CHECK(StandingOf(of.state(), of.trial) == TrialStanding::kFailed);
  Retried(of, OnlyFailure(of.state()), "second");
  CHECK(of.state().trials.at(of.trial).claims.size() == 3);
  of.Complete(of.Last());
  CHECK(of.LastClaim(of.trial).state == ClaimState::kDone);
}

TEST_CASE("a stage that crashed three times is given three attempts more") {
  SimulatedService service;
  const TrialId trial = service.Submit(service.CreateStudy("crashes"), {{"lr", "0.1"}}, 20);
  const auto crash = [&] {
    const std::int64_t trained = service.steps_trained + 5;
    service.RunUntil([&] { return service.steps_trained >= trained && service.CrashAWorker(); });
    service.RunUntil([&] { return service.state().active_runs.empty(); });
  };
  for (int i = 0; i < 3; ++i) crash();
  REQUIRE(service.LastClaim(trial).state == ClaimState::kFailed);
  Retried(service, OnlyFailure(service.state()));
  CHECK(service.state().pauses.empty());
  crash();
  crash();
  CHECK(service.LastClaim(trial).state == ClaimState::kWaiting);
  service.RunToRest();
  CHECK(service.LastClaim(trial).state == ClaimState::kDone);
}

TEST_CASE("a retry makes new claims for every failed trial of running studies, closed or not, and for no others") {
  FailedTrial of;
  const StudyId finished = of.CreateStudy("finished");
  const TrialId over = of.Submit(finished, {{"lr", "0.1"}}, 30);  // fails at once
  of.Finish(finished);
  const TrialId closed = of.Submit(of.study, {{"lr", "Piecewise([0.1, 0.01], [10])"}}, 15);
  of.Call(SubmitBatch{.study = of.study, .close = {closed}});
  const TrialId cancelled = of.Submit(of.study, {{"lr", "0.1"}}, 25);
  of.Cancel(cancelled);
  const TrialId elsewhere = of.Submit(of.study, {{"lr", "0.2"}}, 20);
  of.Complete(of.Last());
  REQUIRE(of.LastClaim(closed).state == ClaimState::kFailed);

  CHECK(Retried(of, of.failed) == std::vector{of.trial, closed});
  const Run trunk = of.Last();
  of.Store(trunk, {trunk.path.front().node, Step{10}});
  REQUIRE(of.Last().id != trunk.id);
  of.Complete(of.Last());
  of.Complete(trunk);
  CHECK(of.LastClaim(closed).state == ClaimState::kDone);
  CHECK(StandingOf(of.state(), closed) == TrialStanding::kDone);
  CHECK(of.LastClaim(over).state == ClaimState::kFailed);
  CHECK(of.state().trials.at(elsewhere).claims.size() == 1);
}

TEST_CASE("a stage that is held after three lost servers goes on once it is retried") {
  ServerByHand of(1);
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 20);
  for (const char* next : {"server-1", "server-2", "server-3"}) {
    REQUIRE(of.Last().training());
    of.LoseServer(next);
  }
  CHECK_FALSE(of.AwaitOrder());
  REQUIRE(of.LastClaim(trial).state == ClaimState::kWaiting);
  REQUIRE(of.state().active_runs.empty());
  REQUIRE(of.state().pauses.size() == 1);

  CHECK(Retried(of, {of.LastClaim(trial).point.node, Step{20}}).empty());
  CHECK(of.state().pauses.empty());
  REQUIRE(of.Last().training());
  of.Complete(of.Last());
  CHECK(of.LastClaim(trial).state == ClaimState::kDone);
}

TEST_CASE("a path that is held since servers were lost deep in it goes on by a retry of its first stage") {
  ServerByHand of(1);
  const TrialId trial = of.Submit(of.study, {{"lr", "Piecewise([0.1, 0.01], [5])"}}, 20);
  for (const char* next : {"server-1", "server-2", "server-3"}) {
    of.Stand(of.Last(), Step{10});  // nothing is stored on the way
    of.LoseServer(next);
  }
  REQUIRE(of.state().active_runs.empty());
  REQUIRE(of.state().pauses.size() == 1);
  const PlanNodeId leaf = of.state().trials.at(trial).leaf;
  REQUIRE(of.state().pauses.begin()->second.begin()->node == leaf);
  const PlanNodeId root = of.Plan().Node(leaf).parent.value();
  Retried(of, {root, Step{3}});
  CHECK(of.state().pauses.empty());
  CHECK(of.state().active_runs.size() == 1);
}

TEST_CASE(
    "what is held since servers were lost deep in it is retried there, though only what comes before is still wanted") {
  ServerByHand of(1);
  const TrialId deep = of.Submit(of.study, {{"lr", "0.1"}}, 20);
  for (const char* next : {"server-1", "server-2", "server-3"}) {
    of.Stand(of.Last(), Step{10});
    of.LoseServer(next);
  }
  const TrialId early = of.Submit(of.study, {{"lr", "0.1"}}, 5);
  of.Ask({CallId{1}, kAnn, "cancel", SubmitBatch{.study = of.study, .cancel = {deep}}});
  REQUIRE(of.LastClaim(deep).state == ClaimState::kCancelled);
  REQUIRE(of.state().active_runs.empty());
  REQUIRE(of.LastClaim(early).state == ClaimState::kWaiting);
  Retried(of, {of.LastClaim(early).point.node, Step{11}});
  CHECK(of.state().pauses.empty());
  CHECK(of.state().active_runs.size() == 1);
}

TEST_CASE("a retry is refused to strangers, to team mates whom it does not concern, and where nothing failed") {
  FailedTrial of;
  const Error stranger = RefusalOf(of, of.failed, {"eve", "others"});
  CHECK(stranger.code == ErrorCode::kNotFound);
  CHECK(stranger.message == RefusalOf(of, of.failed, {"eve", "nobodies"}).message);
  const Error mate = RefusalOf(of, of.failed, {"bob", "team"});
  CHECK(mate.code == ErrorCode::kFailedPrecondition);
  CHECK(mate.field == "stage");

  const Point beyond{of.failed.node, Step{20}};
  CHECK(RefusalOf(of, beyond).message ==
        "nothing failed at 1@20; what fails it is 1@" + std::to_string(of.failed.step.value) + ": retry that");
  CHECK(RefusalOf(of, {of.failed.node, Step{1}}).message.starts_with("nothing failed at 1@1; `espalier stage"));
  CHECK(RefusalOf(of, {PlanNodeId{99}, Step{1}}).code == ErrorCode::kNotFound);
  CHECK(RefusalOf(of, {of.failed.node, Step{0}}).code == ErrorCode::kNotFound);
}

TEST_CASE("any user with a trial that the failure fails may retry it") {
  FailedTrial of;
  const Caller bob{"bob", "team"};
  const StudySpecification specification{.name = "bobs", .trainer = "simulated", .metric = "score"};
  of.Handle(ClientCall{CallId{1}, bob, "create", CreateStudy{specification}});
  const StudyId study = std::get<StudyCreated>(of.last_reply.answer).study;
  const SubmitBatch batch{.study = study, .new_trials = {{{{"lr", "0.1"}}, Step{40}, Step{0}}}};
  of.Handle(ClientCall{CallId{1}, bob, "submit", batch});
  const TrialId bobs = std::get<Submitted>(of.last_reply.answer).trials.at(0);
  CHECK(Retried(of, of.failed, "retry", bob) == std::vector{of.trial, bobs});
}

TEST_CASE("training that diverged is not retried: that is its result") {
  ServerByHand of;
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 20);
  of.Complete(of.Last());
  const Point point{of.state().trials.at(trial).leaf, Step{12}};
  const Failure diverged{Failure::Kind::kDiverged, "loss is nan"};
  Apply(of.state(), ChangePlan{of.state().trials.at(trial).plan, SetFailure{point, diverged}});
  const Error refused = RefusalOf(of, point);
  CHECK(refused.code == ErrorCode::kFailedPrecondition);
  CHECK(refused.message.starts_with("training diverged at 1@12"));
}

TEST_CASE("training that its trainer finished is not retried: what it came to is its result") {
  ServerByHand of;
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 20);
  const Point point{of.state().trials.at(trial).leaf, Step{12}};
  of.Measure(of.Last(), {point.node, Step{11}});
  of.Report(of.Last(), RunFailed{RunFailed::Kind::kFinished, point, "no better"});
  CHECK(of.LastClaim(trial).state == ClaimState::kDone);
  const Error refused = RefusalOf(of, point);
  CHECK(refused.code == ErrorCode::kFailedPrecondition);
  CHECK(refused.message.starts_with("training was finished before 1@12"));
}

TEST_CASE("a training that is said to be finished before its first step has failed") {
  ServerByHand of;
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 20);
  of.Report(of.Last(), RunFailed{RunFailed::Kind::kFinished, {of.state().trials.at(trial).leaf, Step{1}}, "no data"});
  CHECK(of.LastClaim(trial).state == ClaimState::kFailed);
  CHECK(WhyFailed(of.state().plans.begin()->second, of.LastClaim(trial)) ==
        "training was finished before its first step: no data");
}

TEST_CASE(
    "a training that is said to be finished before steps that it has come to has failed, and what was answered stays") {
  ServerByHand of(1, {.name = "study", .keep = Keep::kAll});
  const TrialId done = of.Submit(of.study, {{"lr", "0.1"}}, 20);
  of.Complete(of.Last());
  const Point end = of.LastClaim(done).point;
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 15);
  const Point point{end.node, Step{12}};
  of.Report(of.Last(), RunFailed{RunFailed::Kind::kFinished, point, "no better"});
  CHECK(of.LastClaim(trial).state == ClaimState::kFailed);
  CHECK(WhyFailed(of.Plan(), of.LastClaim(trial)) ==
        "training was finished at step 11, but had come to step 20 before: it is not deterministic: no better");
  CHECK(AnsweredAt(of.Plan(), end) == end);
  CHECK(of.state().index.kept.contains(end));
  of.End(of.Last(), Step{11});
  CHECK(Retried(of, point) == std::vector{trial});
  CHECK(of.LastClaim(trial).state == ClaimState::kWaiting);
}

TEST_CASE("an evaluation that failed is tried again where it failed, and the trial's later claims stay as they are") {
  ServerByHand of;
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 5, 20);
  const Point point = of.LastClaim(trial).point;
  of.Report(of.Last(), EvaluationFailed{EvaluationFailed::Kind::kTrainer, point, of.Last().evaluation, "no data"});
  REQUIRE(of.LastClaim(trial).state == ClaimState::kFailed);
  of.Claim(trial, 10);
  of.Call(RetryStage{point});
  CHECK(std::get<StageRetried>(of.last_reply.answer).trials == std::vector{trial});
  const std::vector<ClaimId>& claims = of.state().trials.at(trial).claims;
  REQUIRE(claims.size() == 3);
  const auto step_of = [&](std::size_t i) { return of.state().plans.begin()->second.claims.at(claims[i]).point.step; };
  CHECK(step_of(0) == Step{5});
  CHECK(step_of(1) == Step{5});
  CHECK(step_of(2) == Step{10});
}

}  // namespace espalier::master
