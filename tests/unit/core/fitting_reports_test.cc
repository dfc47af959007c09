// Which reports are taken: those of the server that was given the run, of where that run passes, with what it measures
// there (law 6). All others change nothing, and are acknowledged and logged.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "protocol/store_name.h"
#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

// Two servers, each of which trains a trial of ten steps; from step 4 on neither shares anything.
struct TwoRuns : ServerByHand {
  TwoRuns() : ServerByHand(1) {
    Connect("server-1", 1);
    Submit(study, {{"lr", "0.1"}}, 10);
    Submit(study, {{"lr", "0.2"}}, 10);
    for (const auto& [id, run] : state().runs) (run.slot.server == "server-0" ? own : other) = run;
  }

  PlanNodeId node() const { return own.path.front().node; }
  Digest128 LineageOf(PlanNodeId of) const { return Plan().Node(of).lineage; }
  MetricsMeasured Measured() const {
    return {own.plan, {node(), Step{10}}, LineageOf(node()), own.evaluation, {{"score", 12'345}}, Seconds(1)};
  }
  StateStored Stored() const {
    const Point end{node(), Step{10}};
    return {own.plan, end, LineageOf(node()), StoreName(own.plan, end, {own.leadership, own.id}), 100, "state"};
  }
  TrainingMetrics Trained() const {
    return {own.plan, node(), LineageOf(node()), {{"loss"}, {Step{1}, Step{2}}, {0.5, 0.25}}};
  }
  // Says it as `server`, in a message of its own: it is acknowledged.
  void Say(std::size_t server, RunKey run, ReportKind kind) {
    const SessionId session = servers[server].session;
    const std::int64_t number = NextReport(session);
    servers[server].orders.reset();
    Handle(NodeMessage{.session = session, .reports = {{number, run, std::move(kind)}}});
    REQUIRE(servers[server].orders.has_value());
    CHECK(servers[server].orders->acknowledged_report == number);
  }
  // It changes nothing of plans and runs, and is logged.
  void CheckRefused(std::size_t server, RunKey run, const ReportKind& kind, const std::string& why) {
    const auto plans = state().plans;
    const auto runs = state().runs;
    const std::size_t changes = stored().size();
    Say(server, run, kind);
    CHECK(state().plans == plans);
    CHECK(state().runs == runs);
    CHECK(stored().size() == changes);
    const bool is_said = std::ranges::any_of(log, [&](const std::string& line) {
      return line.find("a report was refused") != std::string::npos && line.find(why) != std::string::npos;
    });
    CHECK(is_said);
  }
  // Of the first server's own run.
  void CheckRefused(const ReportKind& kind, const std::string& why) {
    CheckRefused(0, {own.leadership, own.id}, kind, why);
  }
  // The first server's node manager starts again.
  void StartAgain(const std::string& incarnation) {
    Handle(NodeMessage{.session = servers[0].session,
                       .registration = Registration{.server = "server-0",
                                                    .incarnation = incarnation,
                                                    .devices = servers[0].devices,
                                                    .offers = {{kSimulated, "simulated"}}}});
  }

  Run own;
  Run other;  // of the other server
};

}  // namespace

TEST_CASE("what a server says of another server's run is refused, whatever it is") {
  TwoRuns of;
  const PlanNodeId node = of.node();
  const Point point{node, Step{4}};
  const ReportKind kinds[] = {of.Measured(),
                              of.Trained(),
                              of.Stored(),
                              PromiseLost{.promise = of.own.promises.begin()->first, .step = Step{10}, .why = "no"},
                              StepsTrained{node, Step{0}, Step{10}, Seconds(1)},
                              RunFailed{RunFailed::Kind::kTrainer, point, "no"},
                              EvaluationFailed{EvaluationFailed::Kind::kTrainer, point, of.own.evaluation, "no"},
                              RunEnded{.step = Step{10}}};
  for (const ReportKind& kind : kinds) {
    of.CheckRefused(1, {of.own.leadership, of.own.id}, kind, "the run was given to the server 'server-0'");
  }
  for (const ReportKind& kind : kinds) of.Say(0, {of.own.leadership, of.own.id}, kind);  // of its own it is taken
  CHECK(of.RunOf(of.own.id).ended());
  CHECK(of.Plan().FindMetrics({node, Step{10}}, of.own.evaluation) != nullptr);
  CHECK(of.Plan().FindCheckpoint({node, Step{10}}) != nullptr);
}

TEST_CASE("what is said of a run that this service did not order is refused") {
  TwoRuns of;
  const std::string why = "this service has ordered no such run";
  of.CheckRefused(0, {of.own.leadership, RunId{4711}}, of.Measured(), why);
  of.CheckRefused(0, {LeadershipId{4711}, of.own.id}, of.Measured(), why);
}

TEST_CASE("what an earlier incarnation left is taken of the same work directory, and of no other") {
  TwoRuns of;
  SECTION("the same") {
    of.StartAgain("2");
    REQUIRE(of.RunOf(of.own.id).ended());
    of.Say(0, {of.own.leadership, of.own.id}, of.Measured());
    of.Say(0, {of.own.leadership, of.own.id}, of.Stored());
    CHECK(of.Plan().FindMetrics({of.node(), Step{10}}, of.own.evaluation) != nullptr);
    CHECK(of.Plan().FindCheckpoint({of.node(), Step{10}}) != nullptr);
  }
  SECTION("another, to which the name went when its lease was over") {
    of.LoseServers();
    of.servers.push_back({.name = "server-0", .devices = {}, .session = SessionId{50}, .orders = {}});
    of.StartAgain("elsewhere-1");
    of.CheckRefused(of.Stored(), "another work directory");
  }
}

TEST_CASE("metrics are refused that do not lie on their run's path, under its lineage and evaluation") {
  TwoRuns of;
  MetricsMeasured measured = of.Measured();
  std::string why = "the run does not pass step";
  SECTION("on another run's node") {
    measured.point.node = of.other.path.front().node;
    measured.lineage = of.LineageOf(measured.point.node);
  }
  SECTION("on no node") { measured.point.node = PlanNodeId{4711}; }
  SECTION("beyond its end") { measured.point.step = Step{11}; }
  SECTION("before its first step") { measured.point.step = Step{0}; }
  SECTION("in another plan") { measured.plan = PlanId{4711}, why = "the run is of plan"; }
  SECTION("under another lineage") { measured.lineage = DigestOf("another"), why = "has another lineage"; }
  SECTION("of another evaluation") { measured.evaluation = "another", why = "another evaluation"; }
  SECTION("in no time that there is") { measured.time = Seconds(std::nan("")), why = "no time that there is"; }
  SECTION("in endless time") { measured.time = Seconds(1e300), why = "no time that there is"; }
  of.CheckRefused(measured, why);
}

TEST_CASE("a run that starts from a checkpoint may measure it") {
  TwoRuns of;
  of.Say(0, {of.own.leadership, of.own.id}, of.Stored());
  of.End(of.own, Step{10});
  const Run& evaluates = of.Last();
  REQUIRE(evaluates.path.empty());
  of.Say(0, {evaluates.leadership, evaluates.id}, of.Measured());
  CHECK(of.Plan().FindMetrics({of.node(), Step{10}}, of.own.evaluation) != nullptr);
}

TEST_CASE("states are refused that do not lie on their run's path, under its lineage") {
  TwoRuns of;
  StateStored stored = of.Stored();
  std::string why = "the run does not pass step";
  SECTION("on another run's node") { stored.point.node = of.other.path.front().node; }
  SECTION("beyond its end") { stored.point.step = Step{11}; }
  SECTION("in another plan") { stored.plan = PlanId{4711}, why = "the run is of plan"; }
  SECTION("under another lineage") { stored.lineage = DigestOf("another"), why = "has another lineage"; }
  SECTION("in the file of another") { stored.file = "1/1/1-10-77-4711.ckpt", why = "its file is another state's"; }
  SECTION("in less than no time") { stored.time = Seconds(-1), why = "no time that there is"; }
  of.CheckRefused(stored, why);
}

TEST_CASE("what was trained is refused where the run does not train it") {
  TwoRuns of;
  const PlanNodeId other = of.other.path.front().node;
  const std::string why = "the run does not train steps";
  of.CheckRefused(StepsTrained{other, Step{0}, Step{10}, Seconds(1)}, why);
  of.CheckRefused(StepsTrained{of.node(), Step{0}, Step{11}, Seconds(1)}, why);
  of.CheckRefused(StepsTrained{of.node(), Step{-1}, Step{10}, Seconds(1)}, why);
  of.CheckRefused(StepsTrained{of.node(), Step{4}, Step{4}, Seconds(1)}, why);
  of.CheckRefused(StepsTrained{of.node(), Step{0}, Step{10}, Seconds(std::numeric_limits<double>::infinity())},
                  "no time that there is");
  TrainingMetrics trained = of.Trained();
  trained.series.steps.back() = Step{11};
  of.CheckRefused(trained, why);
  trained = of.Trained();
  trained.node = other;
  trained.lineage = of.LineageOf(other);
  of.CheckRefused(trained, why);
  trained = of.Trained();
  trained.lineage = DigestOf("another");
  of.CheckRefused(trained, "has another lineage");
}

TEST_CASE("failures are refused where the run does not pass") {
  TwoRuns of;
  const PlanNodeId other = of.other.path.front().node;
  const std::string why = "the run does not pass step";
  for (const Point point : {Point{other, Step{4}}, Point{of.node(), Step{11}}, Point{PlanNodeId{4711}, Step{4}}}) {
    of.CheckRefused(RunFailed{RunFailed::Kind::kTrainer, point, "no"}, why);
    of.CheckRefused(EvaluationFailed{EvaluationFailed::Kind::kTrainer, point, of.own.evaluation, "no"}, why);
  }
  of.CheckRefused(EvaluationFailed{EvaluationFailed::Kind::kTrainer, {of.node(), Step{4}}, "another", "no"},
                  "another evaluation");
}

TEST_CASE("a file is given up only by a run that was to start from it") {
  TwoRuns of;
  of.Say(0, {of.own.leadership, of.own.id}, of.Stored());
  const Point point = of.Stored().point;
  of.CheckRefused(StartUnusable{.point = point, .file = of.Stored().file, .why = "no"}, "did not start from this file");
  CHECK(of.Plan().FindCheckpoint(point) != nullptr);
}

TEST_CASE("a run that says that it stands beyond its path stands where it was") {
  TwoRuns of;
  of.Stand(of.own, Step{4});
  of.Stand(of.own, Step{11});
  CHECK(of.RunOf(of.own.id).at() == Step{4});
}

TEST_CASE("a run that ends after no time that there is has ended, and is charged by the master's clock") {
  TwoRuns of;
  const double held = GENERATE(1e300, -1.0, std::numeric_limits<double>::quiet_NaN());
  of.Report(of.own, RunEnded{.step = Step{10}, .slot_time = Seconds(held)});
  CHECK(of.RunOf(of.own.id).ended());
  const std::int64_t charged = of.RunOf(of.own.id).charges.at(of.study);
  CHECK(charged > 0);
  CHECK(charged < 1'000'000);
}

}  // namespace espalier::master
