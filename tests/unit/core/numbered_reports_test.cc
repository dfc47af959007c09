// Reports by their numbers: none is acknowledged that was not handled, whatever became of it.
#include <catch2/catch.hpp>

#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

// A message that registers its server anew, as in the middle of a stream when its offers change, with reports that the
// run's training is over, numbered from `first`.
NodeMessage RegisteringWith(const ServerByHand& of, const Run& run, std::int64_t first, std::int64_t acknowledged) {
  const Server& server = of.state().servers.at(of.servers[0].name);
  const RunKey key{run.leadership, run.id};
  return {.session = of.servers[0].session,
          .registration = Registration{.server = server.name,
                                       .incarnation = server.incarnation,
                                       .devices = server.devices,
                                       .offers = {{kSimulated, "simulated"}}},
          .reports = {{first, key, StepsTrained{run.path.front().node, Step{0}, Step{3}, Seconds(3)}},
                      {first + 1, key, RunEnded{.step = Step{3}}}},
          .acknowledged_report = acknowledged};
}

}  // namespace

TEST_CASE("a stream whose earlier reports a master has lost with its memory begins anew, and nothing is acknowledged") {
  ServerByHand of(1);
  of.Submit(of.study, {{"lr", "0.1"}}, 9);
  of.Train(of.Last(), Step{2});
  of.Restart();
  const RunId run = of.Last().id;
  SECTION("some are missing") {
    of.Handle(RegisteringWith(of, of.Last(), 4, /*acknowledged=*/1));
    CHECK(of.RunOf(run).training());
    CHECK(of.ended_sessions == std::vector{of.servers[0].session});
    CHECK(of.state().servers.at("server-0").acknowledged_report == 0);
  }
  SECTION("all before them are durable, by another master's word") {
    of.Handle(RegisteringWith(of, of.Last(), 4, /*acknowledged=*/3));
    CHECK_FALSE(of.RunOf(run).training());
    CHECK(of.ended_sessions.empty());
    CHECK(of.state().servers.at("server-0").acknowledged_report == 5);
  }
}

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
