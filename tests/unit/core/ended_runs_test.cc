// What the end of a run says of what it still owes, and where a failed evaluation is tried again.
#include <catch2/catch.hpp>

#include "master/core/views/trial_state.h"
#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

struct OneServer : ServerByHand {
  void CrashEvaluation(const Run& run, Point point) {
    Report(run, EvaluationFailed{EvaluationFailed::Kind::kCrash, point, run.evaluation, "crashed"});
    End(run, point.step);
  }
  // Longer than the first pause after a crash.
  void Wait() {
    for (int i = 0; i < 1100; ++i) Handle(Tick{});
  }
};

}  // namespace

TEST_CASE("a state that a stopped run was thought to save is lost once the run's end does not name it") {
  OneServer server;
  const TrialId far = server.Submit(server.study, {{"lr", "0.1"}}, 80);
  const TrialId near = server.Submit(server.study, {{"lr", "0.1"}}, 20);
  const RunId run = server.Last().id;
  server.Stand(server.Last(), Step{30});
  server.Cancel(near);
  server.Cancel(far);
  REQUIRE(std::holds_alternative<Saving>(server.Last().state));
  SECTION("it is named: it may still come") {
    server.Report(server.Last(), RunEnded{.step = Step{31}, .saves_under_way = {Step{20}}, .refused = {}});
    CHECK_FALSE(server.state().runs.at(run).ended());
  }
  SECTION("it is not: the worker was killed while it wrote") {
    server.Report(server.Last(), RunEnded{.step = Step{31}, .saves_under_way = {}, .refused = {}});
    CHECK(server.state().runs.at(run).ended());
  }
}

TEST_CASE("a state that a runner has passed is not withdrawn after a restart, which forgets where runs stand") {
  OneServer server;
  server.Submit(server.study, {{"lr", "0.1"}}, 80);
  const TrialId near = server.Submit(server.study, {{"lr", "0.1"}}, 20);
  const RunId run = server.Last().id;
  const PlanNodeId node = server.Last().path.front().node;
  SECTION("its step log says so") { server.Report(server.Last(), StepsTrained{node, Step{0}, Step{25}, Seconds(1)}); }
  SECTION("it has kept another promise there") {
    server.Report(server.Last(), MetricsMeasured{server.Last().plan,
                                                 {node, Step{20}},
                                                 server.Plan().Node(node).lineage,
                                                 server.Last().evaluation,
                                                 {{"score", 0.5}}});
  }
  server.Restart();
  server.Cancel(near);
  CHECK(server.state().runs.at(run).FindOpen(Step{20}, Owed::kState) != nullptr);
}

TEST_CASE("an evaluation that crashed is tried again on its server if the others measure another evaluation") {
  OneServer server;
  server.Submit(server.study, {{"lr", "0.1"}}, 5);
  const Point end = PointOf(server.Last(), Step{5});
  server.Store(server.Last(), end);
  server.Report(server.Last(), RunEnded{.step = Step{5}, .saves_under_way = {}, .refused = {}});
  const Run evaluates = server.Last();
  REQUIRE(evaluates.path.empty());

  Offer other = server.state().offers.begin()->second.offer;
  other.evaluation_digest = "another-evaluation";
  server.Handle(NodeMessage{.session = SessionId{99},
                            .registration = Registration{.server = "other",
                                                         .incarnation = "1",
                                                         .devices = {{.name = "cores-0", .slots = 1}},
                                                         .offers = {{other, "simulated"}}}});
  server.CrashEvaluation(evaluates, end);
  server.Wait();
  CHECK(server.Last().id != evaluates.id);
  CHECK(server.Last().slot.server == "server-0");
}

namespace {

// A trial of 40 steps whose metrics came before its state.
struct MeasuredTrial : OneServer {
  TrialId trial = Submit(study, {{"lr", "0.1"}}, 40);
  RunId run = Last().id;
  Point end{Last().path.front().node, Step{40}};

  explicit MeasuredTrial(bool finish = true) {
    if (finish) Finish(study);
    Measure(Last(), end);
  }
  void LoseTheState() { End(Last(), end.step); }
  bool Finished() const { return state().studies.at(study).finished_at.has_value(); }
  std::string Standing() const { return TrialState(state(), state().trials.at(trial)); }
  std::size_t Events() const { return state().events.at(study).size(); }
};

}  // namespace

TEST_CASE("a state that is lost after its metrics came is trained again, and holds the study open") {
  MeasuredTrial study;
  const std::size_t told = study.Events();
  study.LoseTheState();
  CHECK_FALSE(study.Finished());
  REQUIRE(study.Last().id != study.run);
  CHECK(study.Standing() == "running");
  REQUIRE(study.Last().FindOpen(Step{40}, Owed::kState) != nullptr);
  CHECK(study.Last().FindOpen(Step{40}, Owed::kMetrics) == nullptr);  // they are known
  CHECK(study.Last().serves == std::vector{study.study});
  CHECK(study.Events() == told);  // the trial's result stays what it was
  study.Store(study.Last(), study.end);
  CHECK(study.Finished());
  CHECK(study.Standing() == "done");
}

TEST_CASE("a state that is lost before its metrics come is trained again") {
  OneServer server;
  server.Submit(server.study, {{"lr", "0.1"}}, 80);
  server.Submit(server.study, {{"lr", "0.1"}}, 40);
  const Run& run = server.Last();
  const Point mark{run.path.front().node, Step{40}};
  server.Stand(run, Step{41});
  server.Report(run, PromiseLost{.promise = {}, .step = Step{40}, .why = "the disk is full"});
  server.Report(run,
                MetricsMeasured{
                    run.plan, mark, server.Plan().Node(mark.node).lineage, run.evaluation, {{"score", 1}}, Seconds(1)});
  CHECK(run.training());
  REQUIRE(server.Last().id != run.id);
  CHECK(server.Last().FindOpen(Step{40}, Owed::kState) != nullptr);
}

TEST_CASE("metrics of a lost run that come late leave the state to the run that trains it again") {
  OneServer server;
  const TrialId trial = server.Submit(server.study, {{"lr", "0.1"}}, 40);
  const RunId lost = server.Last().id;
  const Point end{server.Last().path.front().node, Step{40}};
  server.End(server.Last(), Step{40});
  REQUIRE(server.Last().id != lost);
  server.Measure(server.RunOf(lost), end);
  REQUIRE(server.LastClaim(trial).state == ClaimState::kDone);
  CHECK(server.Last().training());
  CHECK(server.Last().FindOpen(Step{40}, Owed::kState) != nullptr);
  CHECK(server.Last().FindOpen(Step{40}, Owed::kMetrics) == nullptr);
}

TEST_CASE("metrics of a run that owed nothing there leave the state to the run that trains for the claim") {
  OneServer server;
  const TrialId far = server.Submit(server.study, {{"lr", "0.1"}}, 80);
  const RunId lost = server.Last().id;  // measures by its study's period, too
  const Point mark{server.Last().path.front().node, Step{40}};
  server.End(server.Last(), Step{60});
  server.Cancel(far);
  const TrialId trial = server.Submit(server.study, {{"lr", "0.1"}}, 40);
  REQUIRE(server.Last().FindOpen(Step{40}, Owed::kState) != nullptr);
  server.Measure(server.RunOf(lost), mark);
  REQUIRE(server.LastClaim(trial).state == ClaimState::kDone);
  CHECK(server.Last().FindOpen(Step{40}, Owed::kState) != nullptr);
}

TEST_CASE("nobody trains for a lost state whose study was cancelled") {
  MeasuredTrial study;
  SECTION("before it was lost") {
    study.Call(CancelStudy{study.study});
    study.LoseTheState();
    CHECK(study.Last().id == study.run);
  }
  SECTION("after it was lost") {
    study.LoseTheState();
    REQUIRE(study.Last().training());
    study.Call(CancelStudy{study.study});
    CHECK_FALSE(study.Last().training());
  }
  CHECK(study.Finished());
}

TEST_CASE("a lost state that cannot be trained again ends its study without it") {
  MeasuredTrial study;
  study.LoseTheState();
  study.Report(study.Last(), RunFailed{RunFailed::Kind::kTrainer, study.end, "no"});
  CHECK(study.Finished());
  CHECK(study.Standing() == "done");
  CHECK(study.Plan().waiting.empty());
}

TEST_CASE("a retry claims a lost state again that could not be trained") {
  MeasuredTrial study(false);
  study.LoseTheState();
  study.Report(study.Last(), RunFailed{RunFailed::Kind::kTrainer, study.end, "no"});
  study.Report(study.Last(), RunEnded{.step = Step{39}, .saves_under_way = {}, .refused = {}});
  const std::size_t told = study.Events();
  study.Call(RetryStage{study.end});
  REQUIRE(study.Last().training());
  CHECK(study.Last().FindOpen(Step{40}, Owed::kState) != nullptr);
  CHECK(study.Events() == told);
}

TEST_CASE("what a run held of its server is measured of each stage of its path, as far as it is known") {
  ServerByHand study(1);
  study.Submit(study.study, {{"lr", "0.1"}}, 10);
  const PlanNodeId node = study.Last().path.front().node;
  const auto measured = [&](CostKind kind) { return MeasurementOf(study.Plan().Node(node), kind); };
  study.Report(study.Last(), RunEnded{.step = Step{3}, .stages = {{node}}, .refused = {}});
  CHECK(measured(CostKind::kMemory) == Measurement{});
  CHECK(measured(CostKind::kUtilization) == Measurement{});
  REQUIRE(study.state().runs.size() == 2);
  study.Report(study.Last(), RunEnded{.step = Step{3}, .stages = {{node, 1 << 30, 1 << 20, 4, 2000}}, .refused = {}});
  CHECK(measured(CostKind::kMemory) == Measurement{1, 1 << 30});
  CHECK(measured(CostKind::kDeviceMemory) == Measurement{1, 1 << 20});
  CHECK(measured(CostKind::kUtilization) == Measurement{4, 2000});
}

TEST_CASE("what a run says of stages that it does not train is passed over") {
  ServerByHand study(1);
  study.Submit(study.study, {{"lr", "0.1"}}, 10);
  study.Submit(study.study, {{"lr", "0.2"}}, 10);
  const Run run = study.Last();
  const PlanNodeId own = run.path.front().node;
  const auto measured = [&](PlanNodeId node) { return MeasurementOf(study.Plan().Node(node), CostKind::kMemory); };
  std::vector<StageUse> stages;
  for (const auto& [id, node] : study.Plan().nodes) stages.push_back({id, 100});
  stages.push_back({PlanNodeId{4711}, 100});
  study.Report(run, RunEnded{.step = Step{3}, .stages = stages, .refused = {}});
  for (const auto& [id, node] : study.Plan().nodes) CHECK(measured(id).count == (id == own ? 1 : 0));
}

}  // namespace espalier::master
