// What `stage explain` answers: how a stage stands, and why.
#include "master/core/views/explain_stage.h"

#include <catch2/catch.hpp>

#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

using Catch::Contains;
using Catch::StartsWith;

constexpr Time kMoment{std::chrono::seconds(1'000'000)};  // when masters by hand begin

// The point at `step` on the trial's lineage.
Point PointAt(const ServerByHand& of, TrialId trial, std::int64_t step) {
  const Trial& its = of.state().trials.at(trial);
  return PointOn(of.state().plans.at(its.plan), its.leaf, Step{step});
}

ExplainedStage Explained(const ServerByHand& of, Point point, const Caller& caller = kAnn,
                         Time now = kMoment + std::chrono::seconds(1)) {
  const auto explained = ExplainStage(of.state(), point, caller, now);
  INFO((explained.has_value() ? "" : explained.error().message));
  REQUIRE(explained.has_value());
  INFO(explained->why);
  CHECK_FALSE(explained->why.empty());
  return *explained;
}

// The only server registers anew, with its offer changed.
void OfferOtherwise(ServerByHand& of, const std::function<void(Registration&)>& change) {
  Registration registration{.server = "server-0",
                            .incarnation = "other",
                            .devices = {{.name = "cores-0", .slots = 1}},
                            .offers = {{kSimulated, "simulated"}}};
  change(registration);
  of.Handle(NodeMessage{.session = of.servers[0].session, .registration = registration});
}

}  // namespace

TEST_CASE("a stage that is trained is done, and where its checkpoint is") {
  ServerByHand of;
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 20, 40);
  of.Train(of.Last(), Step{20});
  of.Complete(of.Last());
  const ExplainedStage end = Explained(of, PointAt(of, trial, 20));
  CHECK(end.standing == StageStanding::kDone);
  REQUIRE(end.checkpoint.has_value());
  CHECK(end.why == "its state is stored: " + end.checkpoint->file);
  CHECK(end.waits_for == WaitsFor::kNothing);
  CHECK_FALSE(end.placed_on.has_value());
  const ExplainedStage inside = Explained(of, PointAt(of, trial, 7));
  CHECK(inside.standing == StageStanding::kDone);
  CHECK_FALSE(inside.checkpoint.has_value());
  const ExplainedStage beyond = Explained(of, PointAt(of, trial, 21));
  CHECK(beyond.standing == StageStanding::kPlanned);
  CHECK(beyond.why == "no claim waits for it");
}

TEST_CASE("a claim wants what is trained from the last checkpoint before it on, and nothing before that") {
  ServerByHand of;
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 20, 40);
  of.Train(of.Last(), Step{20});
  of.Complete(of.Last());
  CHECK(Explained(of, PointAt(of, trial, 20)).serves.empty());
  of.Claim(trial, 40);
  CHECK(Explained(of, PointAt(of, trial, 7)).serves.empty());
  CHECK(Explained(of, PointAt(of, trial, 20)).serves == std::vector{trial});
  CHECK(Explained(of, PointAt(of, trial, 21)).serves == std::vector{trial});
}

TEST_CASE("a stage that is trained now is running: by which run, on which slot, at which step, and for whom") {
  ServerByHand of;
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 20);
  const TrialId branch = of.Submit(of.study, {{"lr", "Piecewise([0.1, 0.01], [15])"}}, 30);
  const TrialId other = of.Submit(of.study, {{"lr", "0.2"}}, 20);
  of.Train(of.RunOf(RunId{1}), Step{6});
  const ExplainedStage stage = Explained(of, PointAt(of, trial, 15));
  CHECK(stage.standing == StageStanding::kRunning);
  REQUIRE(stage.placed_on.has_value());
  const Run& run = of.state().runs.at(stage.placed_on->run.value());
  CHECK(stage.placed_on->server == run.slot.server);
  CHECK(stage.placed_on->slot == run.slot.index);
  CHECK(stage.placed_on->at == run.at());
  CHECK(stage.serves == std::vector{trial, branch});
  const ExplainedStage of_other = Explained(of, PointAt(of, other, 20));
  CHECK(of_other.placed_on->run != stage.placed_on->run);
  CHECK(of_other.serves == std::vector{other});
  const ExplainedStage behind = Explained(of, PointAt(of, trial, 2));
  CHECK(behind.standing == StageStanding::kDone);
}

TEST_CASE("of what runs is said why it was placed there: the ranking, an evaluation, a server that is avoided") {
  ServerByHand of(1);
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 20, 40);
  const auto why = [&](std::int64_t step) { return Explained(of, PointAt(of, trial, step)).why; };
  CHECK_THAT(why(20), Contains("; placed there, since of what an idle slot could take it had the longest way down"));
  SECTION("it crashed elsewhere") {
    of.Connect("server-1", 1);
    of.Crash(of.Last(), PointAt(of, trial, 1));
    REQUIRE(of.AwaitOrder());
    REQUIRE(of.Last().slot.server == "server-1");
    CHECK_THAT(why(20), Contains("; it crashed on server-0 before"));
  }
  SECTION("it crashed there") {
    of.Crash(of.Last(), PointAt(of, trial, 1));
    REQUIRE(of.AwaitOrder());
    CHECK_THAT(why(20), Contains("; it crashed there before, and no other server that takes runs offered it"));
  }
  SECTION("it was refused elsewhere") {
    of.Connect("server-1", 1);
    of.Report(of.Last(), RunEnded{.step = Step{0}, .saves_under_way = {}, .refused = "no such device"});
    REQUIRE(of.Last().slot.server == "server-1");
    CHECK_THAT(why(20), Contains("; server-0 did not take it: no such device"));
  }
  SECTION("a state that stands is measured") {
    const Run run = of.Last();
    of.Store(run, PointAt(of, trial, 20));
    of.End(run, Step{20});
    REQUIRE(of.Last().path.empty());
    CHECK_THAT(why(20), Contains("; placed there, since evaluations of states that stand go before training"));
  }
  SECTION("another leadership ordered it") {
    of.state().leadership = LeadershipId{78};
    CHECK_THAT(why(20), !Contains("placed there"));
  }
}

TEST_CASE("a stage whose state is on its way to the store is running, and holds no slot") {
  ServerByHand of;
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 5);
  of.Measure(of.Last(), PointAt(of, trial, 5));
  of.End(of.Last(), Step{5}, {Step{5}});
  const ExplainedStage stage = Explained(of, PointAt(of, trial, 5));
  REQUIRE(stage.standing == StageStanding::kRunning);
  CHECK_FALSE(stage.placed_on->training);
  CHECK_THAT(stage.why, Contains("its state is on its way to the store"));
  CHECK(stage.warnings.empty());
  of.Say("the store is away");
  CHECK(Explained(of, PointAt(of, trial, 5)).warnings ==
        std::vector<std::string>{"server server-0: the store is away"});
  of.Say("");
  CHECK(Explained(of, PointAt(of, trial, 5)).warnings.empty());
}

TEST_CASE("a stage that only drained servers could train says so") {
  ServerByHand of;
  of.Call(DrainServer{.server = "server-0"});
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 20);
  const ExplainedStage stage = Explained(of, PointAt(of, trial, 20));
  CHECK(stage.waits_for == WaitsFor::kSlot);
  CHECK_THAT(stage.why, Contains("all servers that offer it are draining (server-0); `espalier server list` says why"));
  of.Connect("server-1", 1);
  CHECK(Explained(of, PointAt(of, trial, 20)).standing == StageStanding::kRunning);
}

TEST_CASE("a stage that is ready waits for a slot, behind the paths that are longer") {
  ServerByHand of(1);
  of.Submit(of.study, {{"lr", "0.1"}}, 50);  // has the slot
  const TrialId shortest = of.Submit(of.study, {{"lr", "0.2"}}, 20);
  of.Submit(of.study, {{"lr", "0.3"}}, 30);
  of.Submit(of.study, {{"lr", "0.4"}}, 40);
  const ExplainedStage stage = Explained(of, PointAt(of, shortest, 20));
  CHECK(stage.standing == StageStanding::kWaiting);
  CHECK(stage.waits_for == WaitsFor::kSlot);
  CHECK(stage.paths_ahead == 2);
  CHECK(stage.why == "it waits for a slot: 2 paths of its trainer are ahead of it");
  CHECK(stage.serves == std::vector{shortest});
}

TEST_CASE("of branches at one checkpoint, those that are longer are ahead") {
  ServerByHand of(1);
  of.Submit(of.study, {{"lr", "0.5"}}, 10);
  of.Train(of.Last(), Step{10});
  of.Complete(of.Last());
  of.Submit(of.study, {{"lr", "0.1"}}, 50);  // has the slot
  const TrialId trial = of.Submit(of.study, {{"lr", "0.2"}}, 20);
  of.Submit(of.study, {{"lr", "Piecewise([0.5, 0.05], [10])"}}, 60);
  of.Submit(of.study, {{"lr", "Piecewise([0.5, 0.03], [10])"}}, 50);
  of.Submit(of.study, {{"lr", "Piecewise([0.5, 0.02], [10])"}}, 15);
  CHECK(Explained(of, PointAt(of, trial, 20)).paths_ahead == 2);
}

TEST_CASE("a stage that follows another waits for it, and says what that one waits for") {
  ServerByHand of(1);
  of.Submit(of.study, {{"lr", "0.1"}}, 50);  // has the slot
  const TrialId trial = of.Submit(of.study, {{"lr", "Piecewise([0.2, 0.02], [10])"}}, 20);
  const ExplainedStage second = Explained(of, PointAt(of, trial, 20));
  CHECK(second.standing == StageStanding::kWaiting);
  CHECK(second.waits_for == WaitsFor::kStage);
  CHECK(second.waits_for_stage == PointAt(of, trial, 10));
  CHECK_THAT(second.why, StartsWith("it follows ") && Contains("on a path that waits for a slot: 0 paths"));

  const TrialId branch = of.Submit(of.study, {{"lr", "Piecewise([0.1, 0.01], [40])"}}, 60);
  const ExplainedStage parted = Explained(of, PointAt(of, branch, 60));
  CHECK(parted.waits_for == WaitsFor::kStage);
  CHECK(parted.waits_for_stage == PointAt(of, branch, 40));
  CHECK_THAT(parted.why, Contains("waits for the state at") && Contains("which run 1 promises"));
}

TEST_CASE("a stage that crashed is paused for a while, with the last line of its log") {
  ServerByHand of;
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 20);
  of.Crash(of.Last(), PointAt(of, trial, 5), "loading\nSegmentation fault\n");
  REQUIRE(of.state().pauses.size() == 1);
  const Time until = of.state().pauses.begin()->second.begin()->until;
  const auto before = until - std::chrono::milliseconds(400);
  const ExplainedStage stage = Explained(of, PointAt(of, trial, 20), kAnn, before);
  CHECK(stage.standing == StageStanding::kWaiting);
  CHECK(stage.waits_for == WaitsFor::kPause);
  CHECK(stage.paused_until == until);
  CHECK(stage.why == "it is paused for 1 s more, after 1 failure; the last: Segmentation fault");
  CHECK(Explained(of, PointAt(of, trial, 20), kAnn, until).waits_for == WaitsFor::kSlot);
}

TEST_CASE("a stage under which three servers were lost is held until it is retried") {
  ServerByHand of(1);
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 20);
  of.LoseServer("server-1");
  of.LoseServer("server-2");
  of.LoseServers();
  const Point point = PointAt(of, trial, 20);
  const ExplainedStage stage = Explained(of, point);
  CHECK(stage.standing == StageStanding::kWaiting);
  CHECK(stage.waits_for == WaitsFor::kRetry);
  CHECK_THAT(stage.why,
             Contains("(server-0, server-1, server-2)") && Contains("`espalier stage retry 1@20` releases it"));
  of.Call(RetryStage{point});
  CHECK(Explained(of, point).waits_for == WaitsFor::kOffer);  // all servers are gone
}

TEST_CASE("a stage that nobody offers waits, and says what differs on which server") {
  ServerByHand of(1);
  of.Submit(of.study, {{"lr", "0.1"}}, 50);
  const TrialId trial = of.Submit(of.study, {{"lr", "0.2"}}, 20);
  const auto differs = [&](const std::function<void(Registration&)>& change) {
    OfferOtherwise(of, change);
    const ExplainedStage stage = Explained(of, PointAt(of, trial, 20));
    CHECK(stage.standing == StageStanding::kWaiting);
    CHECK(stage.waits_for == WaitsFor::kOffer);
    CHECK(stage.serves == std::vector{trial});
    REQUIRE(stage.other_offers.size() == 1);
    CHECK(stage.other_offers[0].server == "server-0");
    REQUIRE(stage.other_offers[0].differences.size() == 1);
    CHECK_THAT(stage.why, StartsWith("it is offered by no connected server: server-0 offers simulated with other " +
                                     stage.other_offers[0].differences[0].what));
    return stage.other_offers[0].differences[0];
  };
  using Difference = OtherOffer::Difference;
  CHECK(differs([](auto& made) { made.offers[0].offer.code_digest = "code-2"; }) ==
        Difference{"code", "code-1", "code-2"});
  CHECK(differs([](auto& made) { made.offers[0].offer.data_digest = "some"; }) == Difference{"data", "none", "some"});
  CHECK(differs([](auto& made) { made.offers[0].offer.schema.hyper_parameters.pop_back(); }).what == "schema");
  CHECK(differs([](auto& made) { made.offers[0].device_kind = "gpu"; }) ==
        Difference{"device kind", "simulated", "gpu"});
  differs([](auto& made) { made.offers[0].device_kind = "simulated elsewhere, with 4 threads"; });
  CHECK_THAT(Explained(of, PointAt(of, trial, 20)).why,
             Contains("device kind (simulated elsewhere, with 4 threads, not simulated)"));
  OfferOtherwise(of, [](auto& made) { made.offers[0].offer.trainer = "other"; });
  CHECK_THAT(Explained(of, PointAt(of, trial, 20)).why, Contains("none offers a trainer simulated"));
}

TEST_CASE("a state whose evaluation nobody offers waits for it, and says that the evaluation differs") {
  ServerByHand of(1);
  of.Submit(of.study, {{"lr", "0.1"}}, 10);
  of.Train(of.Last(), Step{20});
  of.Complete(of.Last());
  OfferOtherwise(of, [](auto& made) { made.offers[0].offer.evaluation_digest = "harder"; });
  const StudyId study = of.CreateStudy("second");
  OfferOtherwise(of, [](auto& made) { made.incarnation = "third"; });
  const TrialId trial = of.Submit(study, {{"lr", "0.1"}}, 10);
  const ExplainedStage stage = Explained(of, PointAt(of, trial, 10));
  CHECK(stage.standing == StageStanding::kWaiting);
  CHECK(stage.waits_for == WaitsFor::kOffer);
  CHECK(stage.checkpoint.has_value());
  CHECK_THAT(stage.why, Contains("server-0 offers simulated with other evaluation (evaluation-0, not harder)"));
}

TEST_CASE("a stage that failed says where, with its traceback, and which trials it fails") {
  ServerByHand of;
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 20);
  of.Fail(of.Last(), PointAt(of, trial, 6), "Traceback:\n  no such file");
  const TrialId later = of.Submit(of.study, {{"lr", "0.1"}}, 30);
  const ExplainedStage stage = Explained(of, PointAt(of, trial, 20));
  CHECK(stage.standing == StageStanding::kFailed);
  CHECK(stage.waits_for == WaitsFor::kRetry);
  CHECK_THAT(stage.why, StartsWith("training failed at 1@") && Contains("`espalier stage retry 1@") &&
                            Catch::EndsWith("Traceback:\n  no such file"));
  CHECK(stage.serves == std::vector{trial, later});
}

TEST_CASE("trials of other teams are counted, and a stage without any of the caller's is not found") {
  ServerByHand of(1);
  const StudyId study = of.CreateStudy("anns", Scope::kEveryone);
  const TrialId trial = of.Submit(study, {{"lr", "0.1"}}, 20);
  const Caller eve{"eve", "others"};
  const Point point = PointAt(of, trial, 20);
  CHECK(ExplainStage(of.state(), point, eve, kMoment).error().code == ErrorCode::kNotFound);
  const StudySpecification specification{
      .name = "eves", .trainer = "simulated", .metric = "score", .scope = Scope::kEveryone};
  of.Handle(ClientCall{CallId{1}, eve, "1", CreateStudy{specification}});
  const StudyId eves = std::get<StudyCreated>(of.last_reply.answer).study;
  const SubmitBatch batch{.study = eves, .new_trials = {{{{"lr", "0.1"}}, Step{20}, Step{0}}}};
  of.Handle(ClientCall{CallId{1}, eve, "2", batch});
  const TrialId own = std::get<Submitted>(of.last_reply.answer).trials.at(0);
  const ExplainedStage stage = Explained(of, point, eve);
  CHECK(stage.serves == std::vector{own});
  CHECK(stage.serves_others == 1);
  CHECK(ExplainStage(of.state(), {point.node, Step{21}}, eve, kMoment).error().message ==
        ExplainStage(of.state(), {point.node, Step{21}}, {"bob", "nobodies"}, kMoment).error().message);
  const StudyId alone = of.CreateStudy("alone");
  const Point anns = PointAt(of, of.Submit(alone, {{"lr", "0.1"}}, 20), 20);
  CHECK(ExplainStage(of.state(), anns, eve, kMoment).error().field == "stage");
}

TEST_CASE("a run is explained by what it trains now, and after its end by what it left") {
  ServerByHand of(1);
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 20);
  of.Train(of.Last(), Step{5});
  const RunId run = *of.state().active_runs.begin();
  const auto explained = [&] { return ExplainRun(of.state(), run, kAnn, kMoment).value(); };
  CHECK(explained().standing == StageStanding::kRunning);
  CHECK(explained().point == PointAt(of, trial, 20));
  CHECK(explained().placed_on->run == run);
  CHECK(explained().serves == std::vector{trial});
  CHECK(ExplainRun(of.state(), run, {"eve", "others"}, kMoment).error().field == "run");
  CHECK(ExplainRun(of.state(), RunId{99}, kAnn, kMoment).error().code == ErrorCode::kNotFound);
  of.Train(of.Last(), Step{20});
  of.Complete(of.Last());
  CHECK(explained().standing == StageStanding::kDone);
  CHECK_THAT(explained().why, StartsWith("run 1 has ended; its state is stored: "));
}

TEST_CASE("a run that stays at a step for 30 minutes, where none was ever measured, is warned of") {
  ServerByHand of(1);
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 20);
  const Point point = PointAt(of, trial, 20);
  const RunId run = *of.state().active_runs.begin();
  const auto warnings = [&](std::chrono::seconds after) {
    return Explained(of, point, kAnn, of.state().runs.at(run).ordered_at + after).warnings;
  };
  CHECK(warnings(std::chrono::minutes(29)).empty());
  REQUIRE(warnings(std::chrono::minutes(42)).size() == 1);
  CHECK_THAT(warnings(std::chrono::minutes(42))[0], StartsWith("run 1 has been at step 0 for 42 min"));
  Apply(of.state(), SetPosition{run, Step{1}, of.state().runs.at(run).ordered_at + std::chrono::minutes(40)});
  CHECK(warnings(std::chrono::minutes(42)).empty());
  CHECK(warnings(std::chrono::minutes(71)).size() == 1);
  of.Train(of.Last(), Step{3});  // steps are measured
  CHECK(warnings(std::chrono::minutes(90)).empty());
}

}  // namespace espalier::master
