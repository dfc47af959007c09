#include "tests/support/master_by_hand.h"

#include <algorithm>
#include <utility>

namespace espalier::master {

MasterByHand::MasterByHand(int server_count, int slots) {
  state_.leadership = LeadershipId{77};
  for (int i = 0; i < server_count; ++i) Connect("server-" + std::to_string(i), slots);
}

void MasterByHand::Handle(const Event& event) {
  now_ += std::chrono::milliseconds(1);
  Policy& decides = policy != nullptr ? *policy : chosen_.For(state_, event);
  const Transition transition = React(state_, event, decides, reactor_settings, now_);
  std::copy_if(transition.edit.begin(), transition.edit.end(), std::back_inserter(stored_), IsStored);
  checks_.OnDecided(transition, state_);
  for (const Effect& effect : transition.effects) CarryOut(effect);
}

void MasterByHand::CarryOut(const Effect& effect) {
  if (const auto* reply = std::get_if<Reply>(&effect)) last_reply = *reply;
  if (const auto* line = std::get_if<LogLine>(&effect)) log.push_back(Print(*line));
  if (const auto* end = std::get_if<EndSession>(&effect)) ended_sessions.push_back(end->session);
  if (const auto* analyse = std::get_if<AnalyseCurve>(&effect)) questions.push_back(analyse->question);
  if (const auto* refuse = std::get_if<RefuseServer>(&effect)) {
    refused_sessions.push_back(refuse->session);
    why_refused = refuse->why;
  }
  if (const auto* send = std::get_if<SendOrders>(&effect)) {
    for (ConnectedServer& server : servers) {
      if (server.session == send->session) server.orders = send->orders;
    }
  }
}

void MasterByHand::Connect(const std::string& name, int slots) {
  Connect(name, std::vector<Device>{{.name = "cores-0", .slots = slots}});
}

void MasterByHand::Connect(const std::string& name, std::vector<Device> devices) {
  servers.push_back({.name = name, .devices = std::move(devices), .session = {}, .orders = {}});
  Register(servers.back());
}

void MasterByHand::Register(ConnectedServer& server) {
  server.session = SessionId{next_session_++};
  server.orders.reset();
  Handle(NodeMessage{.session = server.session,
                     .arrived = moment_,
                     .registration = Registration{.server = server.name,
                                                  .incarnation = "1",
                                                  .devices = server.devices,
                                                  .offers = {{kSimulated, "simulated"}}}});
}

void MasterByHand::LoseServers() {
  moment_ += 10 * reactor_settings.lease;
  Handle(Tick{.arrived = moment_, .heard_until = moment_});
  servers.clear();
}

void MasterByHand::Wait(Time::duration time) {
  now_ += time;
  Handle(Tick{.arrived = moment_, .heard_until = moment_});
}

void MasterByHand::AnswerQuestions() {
  for (const CurveQuestion& question : std::exchange(questions, {})) Handle(AnswerTo(question));
}

void MasterByHand::Restart() {
  const LeadershipId leadership = state_.leadership;
  state_ = {};
  for (const StateChange& change : stored_) Apply(state_, change);
  for (auto& [id, run] : state_.runs) {
    if (auto* training = std::get_if<Training>(&run.state)) *training = {BeginningOf(run).step};
  }
  state_.leadership = leadership;
  questions.clear();
  checks_.OnLoaded(state_);
  Handle(Recovered{.arrived = moment_});
  for (ConnectedServer& server : servers) Register(server);
}

}  // namespace espalier::master
