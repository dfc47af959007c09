// What the end of a run says of what it still owes.
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
  void Report(const Run& run, ReportKind kind) {
    cluster.Handle(NodeMessage{.session = cluster.nodes[0].session,
                               .reports = {{next_report++, {run.leadership, run.id}, std::move(kind)}}});
  }
  void Stand(const Run& run, Step step) {
    cluster.Handle(NodeMessage{.session = cluster.nodes[0].session,
                               .runs = {{.run = {run.leadership, run.id}, .generation = 1, .step = step}}});
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

}  // namespace espalier::master
