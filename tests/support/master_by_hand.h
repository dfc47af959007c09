// The real core of a master, alone: each event is handled at once, a millisecond after the one before, and what node
// managers say, the test says. Nothing is trained, and nothing happens that the test does not say. After each event
// DecisionChecks look on. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "master/core/chosen_policy.h"
#include "tests/support/called_master.h"
#include "tests/support/decision_checks.h"

namespace espalier::master {

// A server as its master knows it.
struct ConnectedServer {
  std::string name;
  std::vector<Device> devices;
  SessionId session;
  std::optional<ServerOrders> orders;  // the newest
};

class MasterByHand : public CalledMaster {
 public:
  // Servers "server-0", "server-1", ... are connected.
  explicit MasterByHand(int servers = 1, int slots = 2);

  const MasterState& state() const override { return state_; }
  // Every change that was stored, in order.
  const StateEdit& stored() const { return stored_; }
  MasterState& state() { return state_; }

  void Handle(const Event& event);
  void Ask(ClientCall call) override { Handle(call); }
  // A server's first incarnation registers: with one device of so many slots, or with these.
  void Connect(const std::string& name, int slots);
  void Connect(const std::string& name, std::vector<Device> devices);
  // Everybody is heard again at once after so long, in which nothing else happens; then a tick.
  void Wait(Time::duration time);
  // What was asked about curves is answered.
  void AnswerQuestions();
  // Nobody is heard for longer than a lease: every server is lost, with what it runs.
  void LoseServers();
  // Memory is lost, and what was stored is loaded; the servers register again.
  void Restart();

  std::unique_ptr<Policy> policy;  // decides instead of the one that the state names
  std::vector<ConnectedServer> servers;
  std::vector<std::string> log;
  std::vector<CurveQuestion> questions;  // not answered yet
  std::vector<SessionId> ended_sessions;
  std::vector<SessionId> refused_sessions;
  std::string why_refused;  // the last of them
  ReactorSettings reactor_settings;

 private:
  void Register(ConnectedServer& server);
  void CarryOut(const Effect& effect);

  MasterState state_;
  ChosenPolicy chosen_;
  StateEdit stored_;
  DecisionChecks checks_;
  Time now_{std::chrono::seconds(1'000'000)};
  Moment moment_{};
  std::int64_t next_session_ = 1;
};

}  // namespace espalier::master
