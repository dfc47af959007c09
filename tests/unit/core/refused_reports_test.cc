// Reports that the database has refused, as the event loop marks them.
#include <catch2/catch.hpp>

#include "tests/support/toy_cluster.h"

namespace espalier::master {

TEST_CASE("a report that the database refuses is acknowledged and not applied, however often it comes") {
  ToyCluster cluster(1);
  const StudyId study = cluster.CreateStudy("one");
  cluster.Submit(study, {{"lr", "0.1"}}, 3);
  const RunId run = *cluster.state.active_runs.begin();
  const PlanId plan = cluster.state.runs.at(run).plan;
  const Point end{cluster.state.runs.at(run).path.back().node, Step{3}};
  const MetricsMeasured measured{.plan = plan,
                                 .point = end,
                                 .lineage = cluster.state.plans.at(plan).Node(end.node).lineage,
                                 .evaluation = cluster.state.runs.at(run).evaluation,
                                 .metrics = {{"score", 1.0}}};
  const RunKey key{cluster.state.leadership, run};
  const NodeMessage message{
      .session = cluster.nodes[0].session,
      .reports = {{1, key, measured}, {2, key, RunEnded{.step = Step{3}, .slot_time = Seconds(1)}}},
      .refused_reports = {1}};
  for (int i = 0; i < 2; ++i) {
    cluster.nodes[0].inbox.clear();
    cluster.Handle(message);
    CHECK(cluster.state.plans.at(plan).FindMetrics(end, measured.evaluation) == nullptr);
    CHECK_FALSE(cluster.state.runs.at(run).training());  // the other report is applied
    REQUIRE_FALSE(cluster.nodes[0].inbox.empty());
    CHECK(cluster.nodes[0].inbox.back().acknowledged_report == 2);
  }
}

}  // namespace espalier::master
