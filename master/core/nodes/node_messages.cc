#include "master/core/nodes/node_messages.h"

#include <algorithm>

#include "master/core/nodes/reports.h"
#include "master/core/state/stored_text.h"

namespace espalier::master {
namespace {

const Server* ServerOf(const MasterState& state, SessionId session) {
  for (const auto& [name, server] : state.servers) {
    if (server.session == session) return &server;
  }
  return nullptr;
}

void LoseRunsOf(Draft& draft, const std::string& server, const std::string& except_incarnation) {
  const std::set<RunId> active = draft.state().active_runs;
  for (const RunId id : active) {
    const Run& run = draft.state().runs.at(id);
    if (run.slot.server == server && run.incarnation != except_incarnation) LoseRun(draft, id);
  }
}

void Register(Draft& draft, const NodeMessage& message, const Registration& registration) {
  Server server{.name = registration.server,
                .incarnation = registration.incarnation,
                .slot_count = registration.slot_count,
                .device_kind = registration.device_kind,
                .session = message.session,
                .last_seen = message.arrived};
  for (const TrainerRecord& trainer : registration.trainers) {
    const TrainerKey key{trainer.name, trainer.data};
    server.trainers.insert(key);
    const auto known = draft.state().trainers.find(key);
    if (known == draft.state().trainers.end() || known->second != trainer) draft.Do(SetTrainer{trainer});
  }
  const auto before = draft.state().servers.find(server.name);
  if (before != draft.state().servers.end()) {
    if (before->second.incarnation == server.incarnation) {
      server.acknowledged_report = before->second.acknowledged_report;
    }
    if (before->second.session && before->second.session != message.session) {
      draft.Emit(EndSession{*before->second.session, "server " + server.name + " has registered on another stream"});
    }
  }
  draft.Emit(LogLine{LogLevel::kInfo, "server registered name=" + server.name + " slots=" +
                                          std::to_string(server.slot_count) + " incarnation=" + server.incarnation});
  draft.Do(SetServer{server});
  LoseRunsOf(draft, server.name, server.incarnation);
  draft.touched_servers.insert(server.name);
  draft.schedule = true;
}

void TakePosition(Draft& draft, const Server& server, const RunStatus& status) {
  const auto it = draft.state().runs.find(status.run);
  if (it == draft.state().runs.end()) return;
  const Run& run = it->second;
  if (run.state != RunState::kTraining || run.slot.server != server.name || run.incarnation != server.incarnation)
    return;
  if (status.step > run.at) draft.Do(SetPosition{run.id, status.step});
}

}  // namespace

void LoseRun(Draft& draft, RunId id) {
  for (const Target& target : OpenTargets(draft.state().runs.at(id))) {
    draft.Do(SettlePromise{id, target.step, PromiseState::kLost, draft.now});
  }
  const Run& run = draft.state().runs.at(id);
  const Seconds held = run.state == RunState::kTraining ? Seconds(draft.now - run.ordered_at) : run.slot_seconds;
  draft.Emit(LogLine{LogLevel::kInfo, "run lost run=" + std::to_string(id.value) + " server=" + run.slot.server});
  draft.touched_plans.insert(run.plan);
  draft.touched_servers.insert(run.slot.server);
  draft.schedule = true;
  draft.Do(SetRunState{id, RunState::kEnded, held});
}

void OnNodeMessage(Draft& draft, const NodeMessage& message) {
  if (message.registration) {
    if (const auto fits = CheckRegistration(*message.registration); !fits.has_value()) {
      draft.Emit(EndSession{message.session, "a registration that cannot be stored: " + fits.error().message});
      return;
    }
    Register(draft, message, *message.registration);
  }
  const Server* known = ServerOf(draft.state(), message.session);
  if (known == nullptr) {
    draft.Emit(EndSession{message.session, "the first message of a stream registers its server"});
    return;
  }
  Server server = *known;
  server.last_seen = std::max(server.last_seen, message.arrived);
  for (const RunStatus& status : message.runs) TakePosition(draft, server, status);
  for (const Report& report : message.reports) {
    // Results are taken by content however often they come, so that files of points that others hold are named again.
    const bool is_refused = message.refused_reports.contains(report.number);
    if (!is_refused &&
        (report.number > server.acknowledged_report || std::holds_alternative<PointReached>(report.kind))) {
      ApplyReport(draft, report);
    }
    server.acknowledged_report = std::max(server.acknowledged_report, report.number);
    draft.touched_servers.insert(server.name);  // what came again is acknowledged again
  }
  draft.Do(SetServer{std::move(server)});
}

void OnNodeGone(Draft& draft, const NodeGone& gone) {
  const Server* known = ServerOf(draft.state(), gone.session);
  if (known == nullptr) return;
  Server server = *known;
  server.session.reset();
  server.last_seen = std::max(server.last_seen, gone.arrived);
  draft.Emit(LogLine{LogLevel::kInfo, "server disconnected name=" + server.name});
  draft.Do(SetServer{std::move(server)});
}

void OnTick(Draft& draft, const Tick& tick) {
  if (tick.paused) {
    draft.Emit(LogLine{LogLevel::kWarning, "the master stood still for a while: leases start afresh"});
    draft.Do(RestartLeases{tick.arrived});
    return;
  }
  const auto lease_ended = [&](Moment since) {
    return tick.arrived - std::max(since, draft.state().leases_from) > draft.settings.lease;
  };
  const std::map<std::string, Server> servers = draft.state().servers;
  for (const auto& [name, server] : servers) {
    if (!lease_ended(server.last_seen)) continue;
    if (server.session) draft.Emit(EndSession{*server.session, "server " + name + " was silent for too long"});
    draft.Emit(LogLine{LogLevel::kInfo, "server lost name=" + name});
    LoseRunsOf(draft, name, "");
    draft.Do(RemoveServer{name});
  }
  if (!lease_ended(draft.state().leases_from)) return;
  const std::set<RunId> active = draft.state().active_runs;
  for (const RunId id : active) {  // of servers that have not come back since the master started
    if (!draft.state().servers.contains(draft.state().runs.at(id).slot.server)) LoseRun(draft, id);
  }
}

}  // namespace espalier::master
