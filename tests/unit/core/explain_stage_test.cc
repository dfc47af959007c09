// What `stage explain` answers: how a stage stands, and why.
#include "master/core/views/explain_stage.h"

#include <catch2/catch.hpp>

#include "tests/support/toy_cluster.h"

namespace espalier::master {
namespace {

using Catch::Contains;
using Catch::StartsWith;

constexpr Time kMoment{std::chrono::seconds(1'000'000)};  // when toy clusters begin

void Turns(ToyCluster& cluster, int count) {
  for (int turn = 0; turn < count; ++turn) cluster.Turn();
}

// The point at `step` on the trial's lineage.
Point PointAt(const ToyCluster& cluster, TrialId trial, std::int64_t step) {
  const Trial& its = cluster.state.trials.at(trial);
  return PointOn(cluster.state.plans.at(its.plan), its.leaf, Step{step});
}

ExplainedStage Explained(const ToyCluster& cluster, Point point, const Caller& caller = kAnn,
                         Time now = kMoment + std::chrono::seconds(1)) {
  const auto explained = ExplainStage(cluster.state, point, caller, now);
  INFO((explained.has_value() ? "" : explained.error().message));
  REQUIRE(explained.has_value());
  INFO(explained->why);
  CHECK_FALSE(explained->why.empty());
  return *explained;
}

// The only server registers anew, with its offer changed.
void OfferOtherwise(ToyCluster& cluster, const std::function<void(Registration&)>& change) {
  Registration registration{.server = "node-0", .incarnation = "other", .slot_count = 1, .device_kind = "toy"};
  registration.offers = {cluster.state.offers.begin()->second.offer};
  change(registration);
  cluster.Handle(NodeMessage{.session = cluster.nodes[0].session, .registration = registration});
}

}  // namespace

TEST_CASE("a stage that is trained is done, and where its checkpoint is") {
  ToyCluster cluster(1);
  const TrialId trial = cluster.Submit(cluster.CreateStudy("done"), {{"lr", "0.1"}}, 20, 40);
  cluster.RunToRest();
  Turns(cluster, 3);
  const ExplainedStage end = Explained(cluster, PointAt(cluster, trial, 20));
  CHECK(end.standing == StageStanding::kDone);
  REQUIRE(end.checkpoint.has_value());
  CHECK(end.why == "its state is stored: " + end.checkpoint->file);
  CHECK(end.waits_for == WaitsFor::kNothing);
  CHECK_FALSE(end.placed_on.has_value());
  const ExplainedStage inside = Explained(cluster, PointAt(cluster, trial, 7));
  CHECK(inside.standing == StageStanding::kDone);
  CHECK_FALSE(inside.checkpoint.has_value());
  const ExplainedStage beyond = Explained(cluster, PointAt(cluster, trial, 21));
  CHECK(beyond.standing == StageStanding::kPlanned);
  CHECK(beyond.why == "no claim waits for it");
}

TEST_CASE("a claim wants what is trained from the last checkpoint before it on, and nothing before that") {
  ToyCluster cluster(1);
  const TrialId trial = cluster.Submit(cluster.CreateStudy("wants"), {{"lr", "0.1"}}, 20, 40);
  cluster.RunToRest();
  Turns(cluster, 3);
  CHECK(Explained(cluster, PointAt(cluster, trial, 20)).serves.empty());
  cluster.Claim(trial, 40);
  CHECK(Explained(cluster, PointAt(cluster, trial, 7)).serves.empty());
  CHECK(Explained(cluster, PointAt(cluster, trial, 20)).serves == std::vector{trial});
  CHECK(Explained(cluster, PointAt(cluster, trial, 21)).serves == std::vector{trial});
}

TEST_CASE("a stage that is trained now is running: by which run, on which slot, at which step, and for whom") {
  ToyCluster cluster(1);
  const StudyId study = cluster.CreateStudy("running");
  const TrialId trial = cluster.Submit(study, {{"lr", "0.1"}}, 20);
  const TrialId branch = cluster.Submit(study, {{"lr", "Piecewise([0.1, 0.01], [15])"}}, 30);
  const TrialId other = cluster.Submit(study, {{"lr", "0.2"}}, 20);
  Turns(cluster, 6);
  const ExplainedStage stage = Explained(cluster, PointAt(cluster, trial, 15));
  CHECK(stage.standing == StageStanding::kRunning);
  REQUIRE(stage.placed_on.has_value());
  const Run& run = cluster.state.runs.at(stage.placed_on->run.value());
  CHECK(stage.placed_on->server == run.slot.server);
  CHECK(stage.placed_on->slot == run.slot.index);
  CHECK(stage.placed_on->at == run.at());
  CHECK(stage.serves == std::vector{trial, branch});
  const ExplainedStage of_other = Explained(cluster, PointAt(cluster, other, 20));
  CHECK(of_other.placed_on->run != stage.placed_on->run);
  CHECK(of_other.serves == std::vector{other});
  const ExplainedStage behind = Explained(cluster, PointAt(cluster, trial, 2));
  CHECK(behind.standing == StageStanding::kDone);
}

TEST_CASE("a stage whose state is on its way to the store is running, and holds no slot") {
  ToyCluster cluster(1);
  cluster.upload_turns_max = 100;
  const TrialId trial = cluster.Submit(cluster.CreateStudy("saving"), {{"lr", "0.1"}}, 5);
  while (cluster.state.active_runs.empty() || cluster.state.runs.begin()->second.training()) cluster.Turn();
  const ExplainedStage stage = Explained(cluster, PointAt(cluster, trial, 5));
  REQUIRE(stage.standing == StageStanding::kRunning);
  CHECK_FALSE(stage.placed_on->training);
  CHECK_THAT(stage.why, Contains("its state is on its way to the store"));
}

TEST_CASE("a stage that is ready waits for a slot, behind the paths that are longer") {
  ToyCluster cluster(1, 1, 1);
  const StudyId study = cluster.CreateStudy("slots");
  cluster.Submit(study, {{"lr", "0.1"}}, 50);  // has the slot
  const TrialId shortest = cluster.Submit(study, {{"lr", "0.2"}}, 20);
  cluster.Submit(study, {{"lr", "0.3"}}, 30);
  cluster.Submit(study, {{"lr", "0.4"}}, 40);
  const ExplainedStage stage = Explained(cluster, PointAt(cluster, shortest, 20));
  CHECK(stage.standing == StageStanding::kWaiting);
  CHECK(stage.waits_for == WaitsFor::kSlot);
  CHECK(stage.paths_ahead == 2);
  CHECK(stage.why == "it waits for a slot: 2 paths of its trainer are ahead of it");
  CHECK(stage.serves == std::vector{shortest});
}

TEST_CASE("of branches at one checkpoint, those that are longer are ahead") {
  ToyCluster cluster(1, 1, 1);
  const StudyId study = cluster.CreateStudy("branches");
  cluster.Submit(study, {{"lr", "0.5"}}, 10);
  cluster.RunToRest();
  Turns(cluster, 3);
  cluster.Submit(study, {{"lr", "0.1"}}, 50);  // has the slot
  const TrialId trial = cluster.Submit(study, {{"lr", "0.2"}}, 20);
  cluster.Submit(study, {{"lr", "Piecewise([0.5, 0.05], [10])"}}, 60);
  cluster.Submit(study, {{"lr", "Piecewise([0.5, 0.03], [10])"}}, 50);
  cluster.Submit(study, {{"lr", "Piecewise([0.5, 0.02], [10])"}}, 15);
  CHECK(Explained(cluster, PointAt(cluster, trial, 20)).paths_ahead == 2);
}

TEST_CASE("a stage that follows another waits for it, and says what that one waits for") {
  ToyCluster cluster(1, 1, 1);
  const StudyId study = cluster.CreateStudy("stages");
  cluster.Submit(study, {{"lr", "0.1"}}, 50);  // has the slot
  const TrialId trial = cluster.Submit(study, {{"lr", "Piecewise([0.2, 0.02], [10])"}}, 20);
  const ExplainedStage second = Explained(cluster, PointAt(cluster, trial, 20));
  CHECK(second.standing == StageStanding::kWaiting);
  CHECK(second.waits_for == WaitsFor::kStage);
  CHECK(second.waits_for_stage == PointAt(cluster, trial, 10));
  CHECK_THAT(second.why, StartsWith("it follows ") && Contains("on a path that waits for a slot: 0 paths"));

  const TrialId branch = cluster.Submit(study, {{"lr", "Piecewise([0.1, 0.01], [40])"}}, 60);
  const ExplainedStage parted = Explained(cluster, PointAt(cluster, branch, 60));
  CHECK(parted.waits_for == WaitsFor::kStage);
  CHECK(parted.waits_for_stage == PointAt(cluster, branch, 40));
  CHECK_THAT(parted.why, Contains("waits for the state at") && Contains("which run 1 promises"));
}

TEST_CASE("a stage that crashed is paused for a while, with the last line of its log") {
  ToyCluster cluster(1);
  const TrialId trial = cluster.Submit(cluster.CreateStudy("paused"), {{"lr", "0.1"}}, 20);
  Turns(cluster, 5);
  cluster.FailARun(RunFailed::Kind::kCrash, "loading\nSegmentation fault\n");
  cluster.Turn();
  REQUIRE(cluster.state.pauses.size() == 1);
  const Time until = cluster.state.pauses.begin()->second.until;
  const auto before = until - std::chrono::milliseconds(400);
  const ExplainedStage stage = Explained(cluster, PointAt(cluster, trial, 20), kAnn, before);
  CHECK(stage.standing == StageStanding::kWaiting);
  CHECK(stage.waits_for == WaitsFor::kPause);
  CHECK(stage.paused_until == until);
  CHECK(stage.why == "it is paused for 1 s more, after 1 failure; the last: Segmentation fault");
  CHECK(Explained(cluster, PointAt(cluster, trial, 20), kAnn, until).waits_for == WaitsFor::kSlot);
}

TEST_CASE("a stage under which three servers were lost is held until it is retried") {
  ToyCluster cluster(1, 1, 1);
  const TrialId trial = cluster.Submit(cluster.CreateStudy("held"), {{"lr", "0.1"}}, 20);
  for (int i = 0; i < 3; ++i) {
    Turns(cluster, 3);
    cluster.nodes[0].name = "node-" + std::to_string(i + 1);
    cluster.RestartNode(0);
    Turns(cluster, 1);
    cluster.Handle(Tick{Moment(Seconds(100 * (i + 1)))});
  }
  const Point point = PointAt(cluster, trial, 20);
  const ExplainedStage stage = Explained(cluster, point);
  CHECK(stage.standing == StageStanding::kWaiting);
  CHECK(stage.waits_for == WaitsFor::kRetry);
  CHECK_THAT(stage.why, Contains("(node-0, node-2, node-3)") && Contains("`espalier stage retry 1@20` releases it"));
  cluster.Call(RetryStage{point});
  CHECK(Explained(cluster, point).waits_for == WaitsFor::kOffer);  // all servers are gone
}

TEST_CASE("a stage that nobody offers waits, and says what differs on which server") {
  ToyCluster cluster(1, 1, 1);
  const StudyId study = cluster.CreateStudy("offers");
  cluster.Submit(study, {{"lr", "0.1"}}, 50);
  const TrialId trial = cluster.Submit(study, {{"lr", "0.2"}}, 20);
  const auto differs = [&](const std::function<void(Registration&)>& change) {
    OfferOtherwise(cluster, change);
    Turns(cluster, 3);
    const ExplainedStage stage = Explained(cluster, PointAt(cluster, trial, 20));
    CHECK(stage.standing == StageStanding::kWaiting);
    CHECK(stage.waits_for == WaitsFor::kOffer);
    CHECK(stage.serves == std::vector{trial});
    REQUIRE(stage.other_offers.size() == 1);
    CHECK(stage.other_offers[0].server == "node-0");
    REQUIRE(stage.other_offers[0].differences.size() == 1);
    CHECK_THAT(stage.why, StartsWith("it is offered by no connected server: node-0 offers toy with other " +
                                     stage.other_offers[0].differences[0].what));
    return stage.other_offers[0].differences[0];
  };
  using Difference = OtherOffer::Difference;
  CHECK(differs([](auto& made) { made.offers[0].code_digest = "toy-2"; }) == Difference{"code", "toy-1", "toy-2"});
  CHECK(differs([](auto& made) { made.offers[0].data_digest = "some"; }) == Difference{"data", "none", "some"});
  CHECK(differs([](auto& made) { made.offers[0].schema.hyper_parameters.pop_back(); }).what == "schema");
  CHECK(differs([](auto& made) { made.device_kind = "gpu"; }) == Difference{"device kind", "toy", "gpu"});
  OfferOtherwise(cluster, [](auto& made) { made.offers[0].trainer = "other"; });
  CHECK_THAT(Explained(cluster, PointAt(cluster, trial, 20)).why, Contains("none offers a trainer toy"));
}

TEST_CASE("a state whose evaluation nobody offers waits for it, and says that the evaluation differs") {
  ToyCluster cluster(1, 1, 1);
  cluster.Submit(cluster.CreateStudy("first"), {{"lr", "0.1"}}, 10);
  cluster.RunToRest();
  Turns(cluster, 3);
  OfferOtherwise(cluster, [](auto& made) { made.offers[0].evaluation_digest = "harder"; });
  const StudyId study = cluster.CreateStudy("second");
  OfferOtherwise(cluster, [](auto& made) { made.incarnation = "third"; });
  const TrialId trial = cluster.Submit(study, {{"lr", "0.1"}}, 10);
  const ExplainedStage stage = Explained(cluster, PointAt(cluster, trial, 10));
  CHECK(stage.standing == StageStanding::kWaiting);
  CHECK(stage.waits_for == WaitsFor::kOffer);
  CHECK(stage.checkpoint.has_value());
  CHECK_THAT(stage.why, Contains("node-0 offers toy with other evaluation (toy-evaluati..., not harder)"));
}

TEST_CASE("a stage that failed says where, with its traceback, and which trials it fails") {
  ToyCluster cluster(1);
  const StudyId study = cluster.CreateStudy("failed");
  const TrialId trial = cluster.Submit(study, {{"lr", "0.1"}}, 20);
  Turns(cluster, 7);
  cluster.FailARun(RunFailed::Kind::kTrainer, "Traceback:\n  no such file");
  Turns(cluster, 2);
  const TrialId later = cluster.Submit(study, {{"lr", "0.1"}}, 30);
  const ExplainedStage stage = Explained(cluster, PointAt(cluster, trial, 20));
  CHECK(stage.standing == StageStanding::kFailed);
  CHECK(stage.waits_for == WaitsFor::kRetry);
  CHECK_THAT(stage.why, StartsWith("training failed at 1@") && Contains("`espalier stage retry 1@") &&
                            Catch::EndsWith("Traceback:\n  no such file"));
  CHECK(stage.serves == std::vector{trial, later});
}

TEST_CASE("trials of other teams are counted, and a stage without any of the caller's is not found") {
  ToyCluster cluster(1, 1, 1);
  const StudyId study = cluster.CreateStudy("anns", Scope::kEveryone);
  const TrialId trial = cluster.Submit(study, {{"lr", "0.1"}}, 20);
  const Caller eve{"eve", "others"};
  const Point point = PointAt(cluster, trial, 20);
  CHECK(ExplainStage(cluster.state, point, eve, kMoment).error().code == ErrorCode::kNotFound);
  const StudySpecification specification{
      .name = "eves", .trainer = "toy", .metric = "score", .scope = Scope::kEveryone};
  cluster.Handle(ClientCall{CallId{1}, eve, "1", CreateStudy{specification}});
  const StudyId eves = std::get<StudyCreated>(cluster.last_reply.answer).study;
  const SubmitBatch batch{.study = eves, .new_trials = {{{{"lr", "0.1"}}, Step{20}, Step{0}}}};
  cluster.Handle(ClientCall{CallId{1}, eve, "2", batch});
  const TrialId own = std::get<Submitted>(cluster.last_reply.answer).trials.at(0);
  const ExplainedStage stage = Explained(cluster, point, eve);
  CHECK(stage.serves == std::vector{own});
  CHECK(stage.serves_others == 1);
  CHECK(ExplainStage(cluster.state, {point.node, Step{21}}, eve, kMoment).error().message ==
        ExplainStage(cluster.state, {point.node, Step{21}}, {"bob", "nobodies"}, kMoment).error().message);
  const StudyId alone = cluster.CreateStudy("alone");
  const Point anns = PointAt(cluster, cluster.Submit(alone, {{"lr", "0.1"}}, 20), 20);
  CHECK(ExplainStage(cluster.state, anns, eve, kMoment).error().field == "stage");
}

TEST_CASE("a run is explained by what it trains now, and after its end by what it left") {
  ToyCluster cluster(1, 1, 1);
  const TrialId trial = cluster.Submit(cluster.CreateStudy("runs"), {{"lr", "0.1"}}, 20);
  Turns(cluster, 5);
  const RunId run = *cluster.state.active_runs.begin();
  const auto explained = [&] { return ExplainRun(cluster.state, run, kAnn, kMoment).value(); };
  CHECK(explained().standing == StageStanding::kRunning);
  CHECK(explained().point == PointAt(cluster, trial, 20));
  CHECK(explained().placed_on->run == run);
  CHECK(explained().serves == std::vector{trial});
  CHECK(ExplainRun(cluster.state, run, {"eve", "others"}, kMoment).error().field == "run");
  CHECK(ExplainRun(cluster.state, RunId{99}, kAnn, kMoment).error().code == ErrorCode::kNotFound);
  cluster.RunToRest();
  Turns(cluster, 3);
  CHECK(explained().standing == StageStanding::kDone);
  CHECK_THAT(explained().why, StartsWith("run 1 has ended; its state is stored: "));
}

TEST_CASE("a run that stays at a step for 30 minutes, where none was ever measured, is warned of") {
  ToyCluster cluster(1, 1, 1);
  const TrialId trial = cluster.Submit(cluster.CreateStudy("long"), {{"lr", "0.1"}}, 20);
  const Point point = PointAt(cluster, trial, 20);
  const RunId run = *cluster.state.active_runs.begin();
  const auto warnings = [&](std::chrono::seconds after) {
    return Explained(cluster, point, kAnn, cluster.state.runs.at(run).ordered_at + after).warnings;
  };
  CHECK(warnings(std::chrono::minutes(29)).empty());
  REQUIRE(warnings(std::chrono::minutes(42)).size() == 1);
  CHECK_THAT(warnings(std::chrono::minutes(42))[0], StartsWith("run 1 has been at step 0 for 42 min"));
  Apply(cluster.state, SetPosition{run, Step{1}, cluster.state.runs.at(run).ordered_at + std::chrono::minutes(40)});
  CHECK(warnings(std::chrono::minutes(42)).empty());
  CHECK(warnings(std::chrono::minutes(71)).size() == 1);
  Turns(cluster, 3);  // steps are measured
  CHECK(warnings(std::chrono::minutes(90)).empty());
}

}  // namespace espalier::master
