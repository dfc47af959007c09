// What follows when a node manager does not take an order.
#include <catch2/catch.hpp>

#include "master/core/views/explain_stage.h"
#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

// A trial of 20 steps on the one server whose words the test says; others may be connected.
struct Refusing : ServerByHand {
  Refusing() : ServerByHand(1) { trial = Submit(study, {{"lr", "0.1"}}, 20); }

  // The server does not take what it was given last. REQUIRES: that was its run.
  void Refuse() {
    REQUIRE(Last().slot.server == "server-0");
    Report(Last(), RunEnded{.step = Step{0}, .saves_under_way = {}, .refused = "no such device"});
  }
  // How many milliseconds pass until something is ordered.
  int TicksToOrder() {
    const std::size_t before = state().runs.size();
    int ticks = 0;
    while (state().runs.size() == before && ticks < 100'000) {
      Handle(Tick{});
      ++ticks;
    }
    return ticks;
  }
  ExplainedStage Explained() const {
    return ExplainStage(state(), {state().trials.at(trial).leaf, Step{20}}, kAnn, kMoment).value();
  }
  bool HasAttempts() const {
    return std::ranges::any_of(Plan().nodes, [](const auto& node) { return !node.second.results->attempts.empty(); });
  }

  static constexpr Time kMoment{std::chrono::seconds(1'000'000)};  // when masters by hand begin
  TrialId trial;
};

}  // namespace

TEST_CASE("a server that refuses an order is given it again after pauses that grow, and nothing is counted") {
  Refusing of;
  of.Refuse();
  REQUIRE(of.state().runs.size() == 1);  // not at once
  CHECK(of.Last().ended());
  int last = 0;
  for (int i = 0; i < 5; ++i) {
    const int ticks = of.TicksToOrder();
    CHECK(ticks >= 990 << i);
    CHECK(ticks > last);
    last = ticks;
    of.Refuse();
  }
  CHECK_FALSE(of.HasAttempts());
  CHECK(of.LastClaim(of.trial).state == ClaimState::kWaiting);
  of.TicksToOrder();
  of.Complete(of.Last());
  CHECK(of.LastClaim(of.trial).state == ClaimState::kDone);
  CHECK(of.state().refusals.empty());
}

TEST_CASE("what a server refuses goes to another that offers it, at once, and to that one first from then on") {
  Refusing of;
  of.Connect("server-1", 1);
  of.Refuse();
  CHECK(of.Last().slot.server == "server-1");
  const RunId elsewhere = of.Last().id;
  for (int i = 0; i < 2000; ++i) of.Handle(Tick{});
  CHECK(of.Last().id == elsewhere);
  of.Call(DrainServer{"server-1", false, ""});  // it ends there, and the first server's pause is over
  of.servers[1].orders.reset();
  of.Handle(NodeMessage{.session = of.servers[1].session,
                        .reports = {{1, {of.Last().leadership, elsewhere}, RunEnded{.step = Step{0}}}}});
  CHECK(of.Last().slot.server == "server-0");
}

TEST_CASE("a refusal is explained: who does not take it and why, and until when it pauses") {
  Refusing of;
  of.Refuse();
  const ExplainedStage stage = of.Explained();
  CHECK(stage.standing == StageStanding::kWaiting);
  CHECK(stage.waits_for == WaitsFor::kPause);
  CHECK(stage.paused_until.has_value());
  CHECK_THAT(stage.why, Catch::Contains("since servers refuse it: server-0 does not take it: no such device"));
  of.Connect("server-1", 1);
  const ExplainedStage running = of.Explained();
  CHECK(running.standing == StageStanding::kRunning);
}

TEST_CASE("a retry, or a node manager that is started again, ends the pause after a refusal") {
  Refusing of;
  of.Refuse();
  SECTION("retry") { of.Call(RetryStage{{of.state().trials.at(of.trial).leaf, Step{20}}}); }
  SECTION("another incarnation") {
    of.Handle(NodeMessage{.session = of.servers[0].session,
                          .registration = Registration{.server = "server-0",
                                                       .incarnation = "started again",
                                                       .devices = {{.name = "cores-0", .slots = 1}},
                                                       .offers = {{kSimulated, "simulated"}}}});
  }
  CHECK(of.state().refusals.empty());
  CHECK(of.state().runs.size() == 2);
}

}  // namespace espalier::master
