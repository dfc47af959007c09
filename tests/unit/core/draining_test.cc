// A server that is being stopped, and one that an administrator drains.
#include <catch2/catch.hpp>

#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

// Two servers of one slot each.
struct Draining : MasterByHand {
  Draining() : MasterByHand(2, 1) {}

  // As a node manager says it when it is stopped, and, started again, when it is not.
  void Say(std::size_t server, bool draining, const std::string& incarnation) {
    Registration registration{.server = servers[server].name,
                              .incarnation = incarnation,
                              .devices = {{.name = "cores-0", .slots = 1}},
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

// An administrator drains "server-0", the one whose words the test says, beside "server-1".
struct Drained : ServerByHand {
  Drained() : ServerByHand(1) { Connect("server-1", 1); }

  // Nothing: done.
  std::optional<Error> SetDraining(const std::string& server, bool off = false, const std::string& why = {}) {
    Call(DrainServer{server, off, why});
    const auto* error = std::get_if<Error>(&last_reply.answer);
    return error == nullptr ? std::nullopt : std::optional(*error);
  }
  std::set<std::string> ServersThatTrain() const {
    std::set<std::string> training;
    for (const RunId id : state().active_runs) {
      if (RunOf(id).training()) training.insert(RunOf(id).slot.server);
    }
    return training;
  }
  bool HasAttempts() const {
    return std::ranges::any_of(Plan().nodes, [](const auto& node) { return !node.second.results->attempts.empty(); });
  }
};

using Servers = std::set<std::string>;

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

TEST_CASE("a run leaves a server that is drained at its step's end, and goes on elsewhere, uncounted") {
  Drained of;
  of.Submit(of.study, {{"lr", "0.1"}}, 20);
  const Run run = of.Last();
  REQUIRE(run.slot.server == "server-0");
  of.Train(run, Step{7});
  REQUIRE_FALSE(of.SetDraining("server-0").has_value());
  CHECK(std::get<ServerDrained>(of.last_reply.answer).run_count == 1);
  CHECK(of.servers[0].orders->draining);
  CHECK(of.TermsOf(run.id).preempt);
  CHECK(of.TermsOf(run.id).generation == run.generation + 1);
  REQUIRE_FALSE(of.SetDraining("server-0").has_value());
  CHECK(of.TermsOf(run.id).generation == run.generation + 1);  // it is told once
  of.Train(run, Step{8});
  of.End(run, Step{8}, {Step{8}});
  CHECK(of.ServersThatTrain().empty());  // its state is promised, and on its way
  of.Store(run, PointOf(run, Step{8}));
  CHECK(of.Last().start == PointOf(run, Step{8}));
  CHECK(of.Last().slot.server == "server-1");
  CHECK_FALSE(of.HasAttempts());
  CHECK(of.state().index.steps.Of(of.state(), of.study).wasted == 0);
  of.Call(DrainServer{"server-0", false, ""});
  CHECK(std::get<ServerDrained>(of.last_reply.answer).run_count == 0);
}

TEST_CASE(
    "a server that is drained is given no run until that is undone, whatever becomes of master and node manager") {
  Drained of;
  REQUIRE_FALSE(of.SetDraining("server-0", false, "new disk").has_value());
  for (const char* lr : {"0.1", "0.2"}) of.Submit(of.study, {{"lr", lr}}, 20);
  CHECK(of.ServersThatTrain() == Servers{"server-1"});
  of.Restart();
  CHECK(of.ServersThatTrain() == Servers{"server-1"});
  CHECK(of.servers[0].orders->draining);
  CHECK_FALSE(of.servers[1].orders->draining);
  const Drain drain = of.state().drains.at("server-0");
  CHECK(drain.by == kAnn.user);
  CHECK(drain.why == "new disk");
  CHECK(drain.since > Time{});
  REQUIRE_FALSE(of.SetDraining("server-0", true).has_value());
  CHECK(of.ServersThatTrain() == Servers{"server-0", "server-1"});
  CHECK_FALSE(of.servers[0].orders->draining);
  CHECK(of.state().drains.empty());
}

TEST_CASE("what only evaluates ends on a server that is drained, and nothing follows it there") {
  Drained of;
  of.Submit(of.study, {{"lr", "0.1"}}, 20);
  const Run trained = of.Last();
  of.Train(trained, Step{20});
  of.Store(trained, PointOf(trained, Step{20}));
  of.End(trained, Step{20});
  const Run evaluation = of.Last();
  REQUIRE(evaluation.path.empty());
  REQUIRE(evaluation.slot.server == "server-0");
  REQUIRE_FALSE(of.SetDraining("server-0").has_value());
  CHECK_FALSE(of.TermsOf(evaluation.id).preempt);
  of.Measure(evaluation, PointOf(trained, Step{20}));
  of.End(evaluation, Step{20});
  of.Submit(of.study, {{"lr", "0.2"}}, 20);
  CHECK(of.ServersThatTrain() == Servers{"server-1"});
}

TEST_CASE("only a server that there is can be drained, and one that has gone can be used again") {
  Drained of;
  const auto unknown = of.SetDraining("sever-0");
  REQUIRE(unknown.has_value());
  CHECK(unknown->code == ErrorCode::kNotFound);
  CHECK(unknown->field == "server");
  CHECK(unknown->message.find("'sever-0'; `espalier server list`") != std::string::npos);
  const auto wordy = of.SetDraining("server-0", false, std::string(201, 'x'));
  REQUIRE(wordy.has_value());
  CHECK(wordy->field == "why");
  CHECK(of.state().drains.empty());
  CHECK_FALSE(of.SetDraining("server-0", true).has_value());  // it takes runs as before
  REQUIRE_FALSE(of.SetDraining("server-0").has_value());
  of.LoseServers();
  REQUIRE(of.state().servers.empty());
  CHECK(of.state().drains.contains("server-0"));
  CHECK_FALSE(of.SetDraining("server-0", true).has_value());
  CHECK(of.state().drains.empty());
  CHECK(of.SetDraining("server-0", true).has_value());
}

}  // namespace espalier::master
