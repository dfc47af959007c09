// How long the master believes in a node manager that it does not hear: for a lease from the arrival of its last
// message, and from the end of any time in which the master itself could not hear.
#include <catch2/catch.hpp>

#include "tests/support/master_by_hand.h"

namespace espalier::master {
namespace {

Moment At(double seconds) { return Moment(Seconds(seconds)); }

// A server that has registered at second 100, and trains a run. The lease is of 10 s.
struct OneServer {
  OneServer() {
    master.Handle(Recovered{At(100)});
    Hear(100);
    const StudyId study = master.CreateStudy("leases");
    master.Submit(study, {{"lr", "0.1"}}, 5);
    REQUIRE(master.state().active_runs.size() == 1);
  }

  void Hear(double arrived) { master.Handle(NodeMessage{.session = session, .arrived = At(arrived)}); }
  // Leases are judged as of `heard_until`; a pause ended at it.
  void Tick(double heard_until, bool paused = false) {
    master.Handle(master::Tick{.arrived = At(heard_until), .heard_until = At(heard_until), .paused = paused});
  }
  bool IsKnown() const { return master.state().servers.contains("server-0"); }
  // Of its run's promises, none is open any more.
  bool RunIsLost() const { return master.state().runs.begin()->second.ended(); }

  MasterByHand master;
  const SessionId session = master.servers[0].session;
};

}  // namespace

TEST_CASE("a silent server is lost once its lease has ended, and its runs with it") {
  OneServer server;
  server.Hear(103);
  server.Tick(113);
  CHECK(server.IsKnown());
  server.Tick(113.1);
  CHECK_FALSE(server.IsKnown());
  CHECK(server.RunIsLost());
}

TEST_CASE("a message counts from its arrival, however late it is handled") {
  OneServer server;
  SECTION("what waited behind an event of 12 s keeps its server") {
    server.Hear(105);
    server.Hear(111);
    server.Tick(112);
    CHECK(server.IsKnown());
    CHECK_FALSE(server.RunIsLost());
  }
  SECTION("what is handled late is no sign of life since") {
    server.Hear(101);
    server.Tick(112);
    CHECK_FALSE(server.IsKnown());
  }
  SECTION("messages that overtook each other count as the last") {
    server.Hear(108);
    server.Hear(101);
    server.Tick(117);
    CHECK(server.IsKnown());
  }
}

TEST_CASE("a tick that is handled before a message that came with it loses nobody") {
  OneServer server;
  server.Hear(103);
  server.master.Handle(master::Tick{.arrived = At(114.9), .heard_until = At(113)});  // after a standstill
  CHECK(server.IsKnown());
  server.Hear(115);  // it had come in the meantime
  server.Tick(115);
  CHECK(server.IsKnown());
  CHECK_FALSE(server.RunIsLost());
}

TEST_CASE("after a pause of the loop nothing is lost until a whole lease has passed again") {
  OneServer server;
  server.Tick(500, /*paused=*/true);
  CHECK(server.IsKnown());
  server.Tick(510);
  CHECK(server.IsKnown());
  CHECK_FALSE(server.RunIsLost());
  server.Tick(510.1);
  CHECK_FALSE(server.IsKnown());
  CHECK(server.RunIsLost());
}

TEST_CASE("a server that has gone may come back within its lease") {
  OneServer server;
  server.master.Handle(NodeGone{server.session, At(105)});
  server.Tick(115);
  CHECK(server.IsKnown());
  CHECK_FALSE(server.RunIsLost());
  server.Tick(115.1);
  CHECK_FALSE(server.IsKnown());
  CHECK(server.RunIsLost());
}

TEST_CASE("the runs of servers that do not come back are lost a lease after the state was loaded, or after a pause") {
  const double from = GENERATE(300.0, 306.0);
  OneServer server;
  Apply(server.master.state(), RemoveServer{"server-0"});  // not stored
  server.master.Handle(Recovered{At(300)});
  if (from > 300) server.Tick(from, /*paused=*/true);
  server.Tick(from + 10);
  CHECK_FALSE(server.RunIsLost());
  server.Tick(from + 10.1);
  CHECK(server.RunIsLost());
}

}  // namespace espalier::master
