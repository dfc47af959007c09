// A server that is being stopped.
#include <catch2/catch.hpp>

#include "tests/support/master_by_hand.h"

namespace espalier::master {
namespace {

// Two servers of one slot each.
struct Draining : MasterByHand {
  Draining() : MasterByHand(2, 1) {}

  // As a node manager says it when it is stopped, and, started again, when it is not.
  void Say(std::size_t server, bool draining, const std::string& incarnation) {
    Registration registration{.server = servers[server].name,
                              .incarnation = incarnation,
                              .slot_count = 1,
                              .offers = {{state().offers.begin()->second.offer, "simulated"}},
                              .draining = draining};
    Handle(NodeMessage{.session = servers[server].session, .registration = std::move(registration)});
  }
  std::string IncarnationOf(std::size_t server) const { return state().servers.at(servers[server].name).incarnation; }
  std::map<std::string, int> TrainingByServer() const {
    std::map<std::string, int> count;
    for (const auto& [server, runs] : state().index.active_runs) {
      for (const RunId id : runs) count[server] += state().runs.at(id).training() ? 1 : 0;
    }
    return count;
  }

  StudyId study = AddStudy({.name = "study"});
};

using Count = std::map<std::string, int>;

}  // namespace

TEST_CASE("a server that is being stopped keeps its runs and is given no others, until it is started again") {
  Draining of;
  of.Say(0, true, of.IncarnationOf(0));
  for (const char* lr : {"0.1", "0.2"}) of.Submit(of.study, {{"lr", lr}}, 20);
  CHECK(of.TrainingByServer() == Count{{"server-1", 1}});
  of.Say(1, true, of.IncarnationOf(1));
  CHECK(of.TrainingByServer() == Count{{"server-1", 1}});  // what it has is its own to end
  of.Say(0, false, "started again");
  CHECK(of.TrainingByServer() == Count{{"server-0", 1}, {"server-1", 1}});
}

}  // namespace espalier::master
