// What goes first of all that could be ordered: states that stand are evaluated before anything is trained, and
// training is ranked by what its trainer's steps were measured to take, in whatever plan.
#include <catch2/catch.hpp>

#include "tests/support/server_by_hand.h"

namespace espalier::master {

TEST_CASE(
    "a state that stands is evaluated before anything is trained, whatever the policy and however long the training") {
  ServerByHand server(1);
  server.policy = MakePolicy(GENERATE("critical_path", "breadth_first", "throughput")).value();
  server.Submit(server.study, {{"lr", "0.1"}}, 5);
  server.Submit(server.study, {{"lr", "0.2"}}, 1000);
  server.Submit(server.study, {{"lr", "Piecewise([0.1, 0.3], [5])"}}, 1000);
  server.Submit(server.study, {{"lr", "Piecewise([0.1, 0.4], [5])"}}, 1000);
  const Run trained = server.Last();
  const Point stands{trained.path.front().node, Step{5}};
  server.Store(trained, stands);
  server.End(trained, stands.step);  // without its metrics
  REQUIRE(server.Last().id != trained.id);
  CHECK(server.Last().path.empty());
  CHECK(server.Last().start == stands);
}

TEST_CASE("what was measured of a trainer ranks its work in plans in which nothing was measured yet") {
  ServerByHand server(1);
  const StudyId alone = server.AddStudy({.name = "alone", .scope = Scope::kNobody});
  const TrialId measured = server.Submit(alone, {{"lr", "0.1"}}, 10, 1010);
  server.Report(server.Last(), StepsTrained{server.Last().path.front().node, Step{0}, Step{10}, Seconds(0.1)});
  server.Complete(server.Last());
  server.Submit(alone, {{"lr", "0.9"}}, 5);
  const Run has_the_slot = server.Last();
  const TrialId fewer = server.Submit(alone, {{"lr", "0.1"}}, 100);
  server.Claim(measured, 1010);
  const PlanId other_plan = server.state().trials.at(fewer).plan;
  REQUIRE(other_plan != has_the_slot.plan);
  server.Complete(has_the_slot);
  REQUIRE(server.Last().id != has_the_slot.id);
  CHECK(server.Last().plan != other_plan);
  CHECK(server.Last().path.back().to == Step{1010});
}

}  // namespace espalier::master
