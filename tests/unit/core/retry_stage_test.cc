// `stage retry`: what failed, pauses or is held is tried again, for whom it failed.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/toy_cluster.h"

namespace espalier::master {
namespace {

const espalier::Claim& LastClaim(const MasterState& state, TrialId trial) {
  const Trial& its = state.trials.at(trial);
  return state.plans.at(its.plan).claims.at(its.claims.back());
}

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

void Turns(ToyCluster& cluster, int count) {
  for (int turn = 0; turn < count; ++turn) cluster.Turn();
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
struct FailedTrial {
  FailedTrial() {
    trial = cluster.Submit(study, {{"lr", "0.1"}}, 20);
    Turns(cluster, 7);
    cluster.FailARun(RunFailed::Kind::kTrainer, "bad data");
    Turns(cluster, 2);
    failed = OnlyFailure(cluster.state);
  }

  ToyCluster cluster{1};
  StudyId study = cluster.CreateStudy("retried");
  TrialId trial;
  Point failed;
};

Error RefusalOf(ToyCluster& cluster, Point point, const Caller& caller = kAnn) {
  const MasterState before = cluster.state;
  cluster.Handle(ClientCall{CallId{1}, caller, "refused", RetryStage{point}});
  CHECK(cluster.state == before);
  REQUIRE(std::holds_alternative<Error>(cluster.last_reply.answer));
  return std::get<Error>(cluster.last_reply.answer);
}

std::vector<TrialId> Retried(ToyCluster& cluster, Point point, const std::string& request = "retry",
                             const Caller& caller = kAnn) {
  cluster.Handle(ClientCall{CallId{1}, caller, request, RetryStage{point}});
  REQUIRE(std::holds_alternative<StageRetried>(cluster.last_reply.answer));
  return std::get<StageRetried>(cluster.last_reply.answer).trials;
}

}  // namespace

TEST_CASE("a failed trial whose stage is retried has a new claim, trains again and is done") {
  FailedTrial of;
  MasterState& state = of.cluster.state;
  REQUIRE(LastClaim(state, of.trial).state == ClaimState::kFailed);
  REQUIRE(StandingOf(state, of.trial) == TrialStanding::kFailed);
  const ClaimId failed = LastClaim(state, of.trial).id;

  CHECK(Retried(of.cluster, of.failed) == std::vector{of.trial});
  CHECK(LastClaim(state, of.trial).state == ClaimState::kWaiting);
  CHECK(LastClaim(state, of.trial).id != failed);
  const StudyEvent made = ClaimMade{LastClaim(state, of.trial).id, of.trial, Step{20}};
  const std::vector<StudyEvent>& events = state.events.at(of.study);
  CHECK(std::find(events.begin(), events.end(), made) != events.end());
  CHECK(StandingOf(state, of.trial) == TrialStanding::kWaiting);

  of.cluster.RunToRest();
  CHECK(LastClaim(state, of.trial).state == ClaimState::kDone);
  CHECK(StandingOf(state, of.trial) == TrialStanding::kIdle);
  CHECK(state.plans.begin()->second.claims.at(failed).state == ClaimState::kFailed);
}

TEST_CASE("the same retry again gets the first answer and changes nothing") {
  FailedTrial of;
  const std::vector<TrialId> first = Retried(of.cluster, of.failed);
  of.cluster.RunToRest();
  const MasterState before = of.cluster.state;
  CHECK(Retried(of.cluster, of.failed) == first);
  CHECK(of.cluster.state == before);
}

TEST_CASE("a stage that fails again after a retry is retried again, each trial with one new claim") {
  FailedTrial of;
  Retried(of.cluster, of.failed, "first");
  Turns(of.cluster, 7);
  of.cluster.FailARun(RunFailed::Kind::kTrainer, "bad data");
  Turns(of.cluster, 2);
  CHECK(StandingOf(of.cluster.state, of.trial) == TrialStanding::kFailed);
  Retried(of.cluster, OnlyFailure(of.cluster.state), "second");
  CHECK(of.cluster.state.trials.at(of.trial).claims.size() == 3);
  of.cluster.RunToRest();
  CHECK(LastClaim(of.cluster.state, of.trial).state == ClaimState::kDone);
}

TEST_CASE("a stage that crashed three times is given three attempts more") {
  ToyCluster cluster(1);
  const TrialId trial = cluster.Submit(cluster.CreateStudy("crashes"), {{"lr", "0.1"}}, 20);
  const auto crash = [&] {
    for (int turn = 0; cluster.nodes[0].runs.empty(); ++turn) {  // it pauses after a crash
      REQUIRE(turn < 10'000);
      cluster.Turn();
    }
    Turns(cluster, 5);
    cluster.CrashARun();
    cluster.Turn();
  };
  for (int i = 0; i < 3; ++i) crash();
  REQUIRE(LastClaim(cluster.state, trial).state == ClaimState::kFailed);
  Retried(cluster, OnlyFailure(cluster.state));
  CHECK(cluster.state.pauses.empty());
  crash();
  crash();
  CHECK(LastClaim(cluster.state, trial).state == ClaimState::kWaiting);
  cluster.RunToRest();
  CHECK(LastClaim(cluster.state, trial).state == ClaimState::kDone);
}

TEST_CASE("a retry makes new claims for every failed trial of running studies, closed or not, and for no others") {
  FailedTrial of;
  ToyCluster& cluster = of.cluster;
  const StudyId finished = cluster.CreateStudy("finished");
  const TrialId over = cluster.Submit(finished, {{"lr", "0.1"}}, 30);  // fails at once
  cluster.Finish(finished);
  const TrialId closed = cluster.Submit(of.study, {{"lr", "Piecewise([0.1, 0.01], [10])"}}, 15);
  cluster.Call(SubmitBatch{.study = of.study, .close = {closed}});
  const TrialId cancelled = cluster.Submit(of.study, {{"lr", "0.1"}}, 25);
  cluster.Cancel(cancelled);
  const TrialId elsewhere = cluster.Submit(of.study, {{"lr", "0.2"}}, 20);
  cluster.RunToRest();
  REQUIRE(LastClaim(cluster.state, closed).state == ClaimState::kFailed);

  CHECK(Retried(cluster, of.failed) == std::vector{of.trial, closed});
  cluster.RunToRest();
  CHECK(LastClaim(cluster.state, closed).state == ClaimState::kDone);
  CHECK(StandingOf(cluster.state, closed) == TrialStanding::kDone);
  CHECK(LastClaim(cluster.state, over).state == ClaimState::kFailed);
  CHECK(cluster.state.trials.at(elsewhere).claims.size() == 1);
}

TEST_CASE("a stage that is held after three lost servers goes on once it is retried") {
  ToyCluster cluster(1, 1, 1);
  const TrialId trial = cluster.Submit(cluster.CreateStudy("held"), {{"lr", "0.1"}}, 20);
  for (int i = 0; i < 3; ++i) {
    Turns(cluster, 3);
    cluster.nodes[0].name = "node-" + std::to_string(i + 1);
    cluster.RestartNode(0);  // as another server: the one before is gone
    Turns(cluster, 1);
    cluster.Handle(Tick{Moment(Seconds(100 * (i + 1)))});
  }
  Turns(cluster, 100);
  REQUIRE(LastClaim(cluster.state, trial).state == ClaimState::kWaiting);
  REQUIRE(cluster.state.active_runs.empty());
  REQUIRE(cluster.state.pauses.size() == 1);

  CHECK(Retried(cluster, {LastClaim(cluster.state, trial).point.node, Step{20}}).empty());
  CHECK(cluster.state.pauses.empty());
  cluster.RestartNode(0);
  cluster.RunToRest();
  CHECK(LastClaim(cluster.state, trial).state == ClaimState::kDone);
}

TEST_CASE("a path that is held since servers were lost deep in it goes on by a retry of its first stage") {
  ToyCluster cluster(1, 1, 1);
  cluster.upload_turns_max = 1000;  // nothing is stored on the way
  const TrialId trial = cluster.Submit(cluster.CreateStudy("deep"), {{"lr", "Piecewise([0.1, 0.01], [5])"}}, 20);
  for (int i = 0; i < 3; ++i) {
    Turns(cluster, 10);
    cluster.nodes[0].name = "node-" + std::to_string(i + 1);
    cluster.RestartNode(0);
    Turns(cluster, 1);
    cluster.Handle(Tick{Moment(Seconds(100 * (i + 1)))});
    cluster.RestartNode(0);
  }
  REQUIRE(cluster.state.active_runs.empty());
  REQUIRE(cluster.state.pauses.size() == 1);
  const PlanNodeId leaf = cluster.state.trials.at(trial).leaf;
  REQUIRE(cluster.state.pauses.begin()->second.node == leaf);
  const PlanNodeId root = cluster.state.plans.begin()->second.Node(leaf).parent.value();
  Retried(cluster, {root, Step{3}});
  CHECK(cluster.state.pauses.empty());
  CHECK(cluster.state.active_runs.size() == 1);
}

TEST_CASE("a retry is refused to strangers, to team mates whom it does not concern, and where nothing failed") {
  FailedTrial of;
  const Error stranger = RefusalOf(of.cluster, of.failed, {"eve", "others"});
  CHECK(stranger.code == ErrorCode::kNotFound);
  CHECK(stranger.message == RefusalOf(of.cluster, of.failed, {"eve", "nobodies"}).message);
  const Error mate = RefusalOf(of.cluster, of.failed, {"bob", "team"});
  CHECK(mate.code == ErrorCode::kFailedPrecondition);
  CHECK(mate.field == "stage");

  const Point beyond{of.failed.node, Step{20}};
  CHECK(RefusalOf(of.cluster, beyond).message ==
        "nothing failed at 1@20; what fails it is 1@" + std::to_string(of.failed.step.value) + ": retry that");
  CHECK(RefusalOf(of.cluster, {of.failed.node, Step{1}}).message.starts_with("nothing failed at 1@1; `espalier stage"));
  CHECK(RefusalOf(of.cluster, {PlanNodeId{99}, Step{1}}).code == ErrorCode::kNotFound);
  CHECK(RefusalOf(of.cluster, {of.failed.node, Step{0}}).code == ErrorCode::kNotFound);
}

TEST_CASE("any user with a trial that the failure fails may retry it") {
  FailedTrial of;
  const Caller bob{"bob", "team"};
  const StudySpecification specification{.name = "bobs", .trainer = "toy", .metric = "score"};
  of.cluster.Handle(ClientCall{CallId{1}, bob, "create", CreateStudy{specification}});
  const StudyId study = std::get<StudyCreated>(of.cluster.last_reply.answer).study;
  const SubmitBatch batch{.study = study, .new_trials = {{{{"lr", "0.1"}}, Step{40}, Step{0}}}};
  of.cluster.Handle(ClientCall{CallId{1}, bob, "submit", batch});
  const TrialId bobs = std::get<Submitted>(of.cluster.last_reply.answer).trials.at(0);
  CHECK(Retried(of.cluster, of.failed, "retry", bob) == std::vector{of.trial, bobs});
}

TEST_CASE("training that diverged is not retried: that is its result") {
  ToyCluster cluster(1);
  const TrialId trial = cluster.Submit(cluster.CreateStudy("diverged"), {{"lr", "0.1"}}, 20);
  cluster.RunToRest();
  const Point point{cluster.state.trials.at(trial).leaf, Step{12}};
  const Failure diverged{Failure::Kind::kDiverged, "loss is nan"};
  Apply(cluster.state, ChangePlan{cluster.state.trials.at(trial).plan, SetFailure{point, diverged}});
  const Error refused = RefusalOf(cluster, point);
  CHECK(refused.code == ErrorCode::kFailedPrecondition);
  CHECK(refused.message.starts_with("training diverged at 1@12"));
}

TEST_CASE("an evaluation that failed is tried again where it failed, and the trial's later claims stay as they are") {
  ToyCluster cluster(1);
  const TrialId trial = cluster.Submit(cluster.CreateStudy("evaluations"), {{"lr", "0.1"}}, 5, 20);
  Turns(cluster, 2);
  const RunId run = *cluster.state.active_runs.begin();
  const Point point = LastClaim(cluster.state, trial).point;
  NodeMessage message{.session = cluster.nodes[0].session};
  const EvaluationFailed failed{
      .kind = EvaluationFailed::Kind::kTrainer, .point = point, .evaluation = "toy-evaluation", .message = "no data"};
  message.reports = {{1000, {cluster.state.leadership, run}, failed}};
  cluster.Handle(message);
  REQUIRE(LastClaim(cluster.state, trial).state == ClaimState::kFailed);
  cluster.Claim(trial, 10);
  cluster.Call(RetryStage{point});
  CHECK(std::get<StageRetried>(cluster.last_reply.answer).trials == std::vector{trial});
  const std::vector<ClaimId>& claims = cluster.state.trials.at(trial).claims;
  REQUIRE(claims.size() == 3);
  const auto step_of = [&](std::size_t i) {
    return cluster.state.plans.begin()->second.claims.at(claims[i]).point.step;
  };
  CHECK(step_of(0) == Step{5});
  CHECK(step_of(1) == Step{5});
  CHECK(step_of(2) == Step{10});
}

}  // namespace espalier::master
