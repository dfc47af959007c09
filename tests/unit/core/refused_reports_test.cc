// Reports that the database has refused, as the event loop marks them.
#include <catch2/catch.hpp>

#include "tests/support/master_by_hand.h"

namespace espalier::master {

TEST_CASE("a report that the database refuses is acknowledged and not applied, however often it comes") {
  MasterByHand master;
  const StudyId study = master.CreateStudy("one");
  master.Submit(study, {{"lr", "0.1"}}, 3);
  const RunId run = *master.state().active_runs.begin();
  const PlanId plan = master.state().runs.at(run).plan;
  const Point end{master.state().runs.at(run).path.back().node, Step{3}};
  const MetricsMeasured measured{.plan = plan,
                                 .point = end,
                                 .lineage = master.state().plans.at(plan).Node(end.node).lineage,
                                 .evaluation = master.state().runs.at(run).evaluation,
                                 .metrics = {{"score", 1.0}}};
  const RunKey key{master.state().leadership, run};
  const NodeMessage message{
      .session = master.servers[0].session,
      .reports = {{1, key, measured}, {2, key, RunEnded{.step = Step{3}, .slot_time = Seconds(1)}}},
      .refused_reports = {1}};
  for (int i = 0; i < 2; ++i) {
    master.servers[0].orders.reset();
    master.Handle(message);
    CHECK(master.state().plans.at(plan).FindMetrics(end, measured.evaluation) == nullptr);
    CHECK_FALSE(master.state().runs.at(run).training());  // the other report is applied
    REQUIRE(master.servers[0].orders.has_value());
    CHECK(master.servers[0].orders->acknowledged_report == 2);
  }
}

}  // namespace espalier::master
