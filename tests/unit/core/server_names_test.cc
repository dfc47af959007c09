// Two node managers of one name: the work directory tells whether it is one server that starts again, or two.
#include <catch2/catch.hpp>

#include "tests/support/master_by_hand.h"

namespace espalier::master {
namespace {

// Node managers that call themselves "gpu-1", with a slot each.
struct Named : MasterByHand {
  Named() : MasterByHand(0) { Handle(Recovered{Moment(Seconds(100))}); }

  void Register(int session, const std::string& incarnation, double at = 100) {
    Handle(NodeMessage{.session = SessionId{session},
                       .arrived = Moment(Seconds(at)),
                       .registration = Registration{.server = "gpu-1",
                                                    .incarnation = incarnation,
                                                    .devices = {{.name = "cores-0", .slots = 1}},
                                                    .offers = {{kSimulated, "simulated"}}}});
  }
  void Tick(double at) { Handle(master::Tick{.arrived = Moment(Seconds(at)), .heard_until = Moment(Seconds(at))}); }
  // Ordered from whoever has the name.
  const Run& StartRun() {
    Submit(CreateStudy("study"), {{"lr", "0.1"}}, 5);
    REQUIRE(state().active_runs.size() == 1);
    return state().runs.at(*state().active_runs.begin());
  }
  std::string Holder() const { return state().servers.at("gpu-1").incarnation; }
};

using Sessions = std::vector<SessionId>;

}  // namespace

TEST_CASE(
    "of another work directory a node manager is refused while the lease of the name runs, and says whose it is") {
  Named named;
  named.Register(1, "aaaa-1");
  const Run& run = named.StartRun();
  named.Register(2, "bbbb-1", 101);
  CHECK(named.refused_sessions == Sessions{SessionId{2}});
  CHECK(named.why_refused.find("'gpu-1'") != std::string::npos);
  CHECK(named.why_refused.find("aaaa") != std::string::npos);
  CHECK(named.ended_sessions.empty());
  CHECK(named.Holder() == "aaaa-1");
  CHECK_FALSE(run.ended());

  named.Handle(NodeGone{SessionId{1}, Moment(Seconds(105))});
  named.Register(3, "bbbb-1", 106);
  CHECK(named.refused_sessions == Sessions{SessionId{2}, SessionId{3}});
  named.Tick(115.1);
  named.Register(4, "bbbb-1", 115.2);
  CHECK(named.Holder() == "bbbb-1");
  CHECK(run.ended());
}

TEST_CASE("in the same work directory the newest node manager wins") {
  Named named;
  named.Register(1, "aaaa-1");
  named.Register(2, "aaaa-2", 101);
  CHECK(named.refused_sessions.empty());
  CHECK(named.ended_sessions == Sessions{SessionId{1}});
  CHECK(named.Holder() == "aaaa-2");
}

TEST_CASE("after the master's restart a name is whose runs are under way, until these are lost") {
  Named named;
  named.Register(1, "aaaa-1");
  named.StartRun();
  named.Restart();
  named.Register(2, "bbbb-1");
  CHECK(named.refused_sessions == Sessions{SessionId{2}});
  CHECK(named.state().active_runs.size() == 1);
  SECTION("its own node manager comes back") {
    named.Register(3, "aaaa-1");
    CHECK(named.Holder() == "aaaa-1");
    CHECK(named.state().active_runs.size() == 1);
  }
  SECTION("nobody does") {
    named.Tick(111);
    named.Register(3, "bbbb-1", 111);
    CHECK(named.Holder() == "bbbb-1");
  }
}

}  // namespace espalier::master
