// What the end of a run says of what it still owes, and where a failed evaluation is tried again.
#include <catch2/catch.hpp>

#include "tests/support/toy_cluster.h"

namespace espalier::master {
namespace {

// Tells the master by hand what the only server has to say.
struct OneServer {
  ToyCluster cluster{1};
  StudyId study = cluster.CreateStudy("study");
  std::int64_t next_report = 1;

  const Run& Last() const { return cluster.state.runs.rbegin()->second; }
  const SearchPlan& Plan() const { return cluster.state.plans.begin()->second; }
  void Report(const Run& run, ReportKind kind) {
    cluster.Handle(NodeMessage{.session = cluster.nodes[0].session,
                               .reports = {{next_report++, {run.leadership, run.id}, std::move(kind)}}});
  }
  void Stand(const Run& run, Step step) {
    cluster.Handle(NodeMessage{.session = cluster.nodes[0].session,
                               .runs = {{.run = {run.leadership, run.id}, .generation = 1, .step = step}}});
  }
  void Store(const Run& run, Point point) {
    Report(run, StateStored{.plan = run.plan,
                            .point = point,
                            .lineage = Plan().Node(point.node).lineage,
                            .file = "file",
                            .bytes = 100,
                            .state_sha256 = "state"});
  }
  void CrashEvaluation(const Run& run, Point point) {
    Report(run, EvaluationFailed{EvaluationFailed::Kind::kCrash, point, run.evaluation, "crashed"});
    Report(run, RunEnded{.step = point.step, .saves_under_way = {}, .refused = {}});
  }
  // Longer than the first pause after a crash.
  void Wait() {
    for (int i = 0; i < 1100; ++i) cluster.Handle(Tick{});
  }
};

}  // namespace

TEST_CASE("a state that a stopped run was thought to save is lost once the run's end does not name it") {
  OneServer server;
  const TrialId far = server.cluster.Submit(server.study, {{"lr", "0.1"}}, 80);
  const TrialId near = server.cluster.Submit(server.study, {{"lr", "0.1"}}, 20);
  const RunId run = server.Last().id;
  server.Stand(server.Last(), Step{30});
  server.cluster.Cancel(near);
  server.cluster.Cancel(far);
  REQUIRE(std::holds_alternative<Saving>(server.Last().state));
  SECTION("it is named: it may still come") {
    server.Report(server.Last(), RunEnded{.step = Step{31}, .saves_under_way = {Step{20}}, .refused = {}});
    CHECK_FALSE(server.cluster.state.runs.at(run).ended());
  }
  SECTION("it is not: the worker was killed while it wrote") {
    server.Report(server.Last(), RunEnded{.step = Step{31}, .saves_under_way = {}, .refused = {}});
    CHECK(server.cluster.state.runs.at(run).ended());
  }
}

TEST_CASE("a state that a runner has passed is not withdrawn after a restart, which forgets where runs stand") {
  OneServer server;
  server.cluster.Submit(server.study, {{"lr", "0.1"}}, 80);
  const TrialId near = server.cluster.Submit(server.study, {{"lr", "0.1"}}, 20);
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
  server.cluster.RestartMaster();
  server.cluster.Cancel(near);
  CHECK(server.cluster.state.runs.at(run).FindOpen(Step{20}, Owed::kState) != nullptr);
}

TEST_CASE("an evaluation that crashed is tried again on its server if the others measure another evaluation") {
  OneServer server;
  server.cluster.Submit(server.study, {{"lr", "0.1"}}, 5);
  const Point end = PointOf(server.Last(), Step{5});
  server.Store(server.Last(), end);
  server.Report(server.Last(), RunEnded{.step = Step{5}, .saves_under_way = {}, .refused = {}});
  const Run evaluates = server.Last();
  REQUIRE(evaluates.path.empty());

  Offer other = server.cluster.state.offers.begin()->second.offer;
  other.evaluation_digest = "another-evaluation";
  server.cluster.Handle(NodeMessage{
      .session = SessionId{99},
      .registration = Registration{
          .server = "other", .incarnation = "1", .slot_count = 1, .device_kind = "toy", .offers = {other}}});
  server.CrashEvaluation(evaluates, end);
  server.Wait();
  CHECK(server.Last().id != evaluates.id);
  CHECK(server.Last().slot.server == "node-0");
}

}  // namespace espalier::master
