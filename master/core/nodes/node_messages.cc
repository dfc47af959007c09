#include "master/core/nodes/node_messages.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "master/core/nodes/attempts.h"
#include "master/core/nodes/checks.h"
#include "master/core/nodes/reports.h"
#include "master/core/nodes/runs.h"
#include "master/core/state/stored_text.h"

namespace espalier::master {
namespace {

const Server* ServerOf(const MasterState& state, SessionId session) {
  const auto name = state.index.server_of_session.find(session);
  return name == state.index.server_of_session.end() ? nullptr : &state.servers.at(name->second);
}

void LoseRunsOf(Draft& draft, const std::string& server, const std::string& except_incarnation) {
  const std::set<RunId> active = ActiveRunsOf(draft.state(), server);
  for (const RunId id : active) {
    if (draft.state().runs.at(id).incarnation == except_incarnation) continue;
    CountLostServer(draft, id);
    LoseRun(draft, id);
  }
}

// Why a server of that name is another's: of a work directory that is not this one's, until its lease has ended. After
// a restart, while not all have come back, it is whose runs are under way. None: it is free, or this one's.
std::optional<std::string> WhyTaken(const MasterState& state, const Registration& registration) {
  const std::string_view own = WorkDirectoryIdOf(registration.incarnation);
  std::string_view holder = own;
  if (const auto known = state.servers.find(registration.server); known != state.servers.end()) {
    holder = WorkDirectoryIdOf(known->second.incarnation);
  } else {
    for (const RunId id : ActiveRunsOf(state, registration.server)) {
      holder = WorkDirectoryIdOf(state.runs.at(id).incarnation);
    }
  }
  if (holder == own) return std::nullopt;
  return "the server '" + registration.server + "' is another node manager's, of the work directory with the id " +
         std::string(holder) + "; this one's is " + std::string(own) +
         ": give it another name, or stop the other one and wait until its lease has ended";
}

// Its digest. Of two that train the same, the server's own counts.
Digest128 TakeOffer(Draft& draft, const ServerOffer& made, bool of_its_own, Server& server) {
  const Digest128 digest = DigestOf(made.offer);
  server.offers.try_emplace(TrainerDigest(made.offer), OfferMade{digest, made.device_kind});
  const auto known = draft.state().offers.find(digest);
  if (known == draft.state().offers.end()) {
    draft.Do(AddOffer{{made.offer, draft.now, of_its_own}});
  } else if (of_its_own && !known->second.listed) {
    draft.Do(ListOffer{digest});
  }
  return digest;
}

void Register(Draft& draft, const NodeMessage& message, const Registration& registration) {
  Server server{.name = registration.server,
                .incarnation = registration.incarnation,
                .devices = registration.devices,
                .host_cores = registration.host_cores,
                .host_memory_bytes = registration.host_memory_bytes,
                .version = registration.version,
                .clock_ahead = message.sent_at ? *message.sent_at - draft.now : Seconds(0),
                .offers = {},
                .session = message.session,
                .last_seen = message.arrived,
                .stopping = registration.draining,
                .trouble = registration.trouble};
  for (const ServerOffer& made : registration.offers) TakeOffer(draft, made, /*of_its_own=*/true, server);
  for (const DescribedReference& described : registration.references) {
    ReferenceOnServer& here = server.references[described.reference];
    here.refused = CleanText(described.refused, kMessageBytesMax);
    here.asked = described.asked;
    for (const ServerOffer& made : described.offers) {
      here.offers.insert(TakeOffer(draft, made, /*of_its_own=*/false, server));
    }
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
  draft.Log(LogLevel::kInfo, "server registered",
            {{"name", server.name},
             {"slots", server.slot_count()},
             {"incarnation", server.incarnation},
             {"draining", IsDraining(draft.state(), server)},
             {"trouble", server.trouble}});
  draft.Do(SetServer{server});
  LoseRunsOf(draft, server.name, server.incarnation);
  TakeChecked(draft, server.name, registration.checked);
  draft.TellAgain(server.name);
}

void TakePosition(Draft& draft, const Server& server, const RunStatus& status) {
  const auto it = draft.state().runs.find(status.run.run);
  if (it == draft.state().runs.end()) return;
  const Run& run = it->second;
  if (run.leadership != status.run.leadership || run.slot.server != server.name) return;
  if (!run.training() || run.incarnation != server.incarnation) return;
  const bool is_on_path = FindStage(run, status.step) != nullptr;
  if (is_on_path && status.step > run.at()) draft.Do(SetPosition{run.id, status.step, draft.now});
}

}  // namespace

void OnNodeMessage(Draft& draft, const NodeMessage& message) {
  if (message.registration) {
    if (const auto fits = CheckRegistration(*message.registration); !fits.has_value()) {
      draft.Emit(EndSession{message.session, "a registration that cannot be stored: " + fits.error().message});
      return;
    }
    if (auto why = WhyTaken(draft.state(), *message.registration)) {
      draft.Emit(RefuseServer{message.session, *std::move(why)});
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
  server.acknowledged_report = std::max(server.acknowledged_report, message.acknowledged_report);
  if (!message.reports.empty() && message.reports.front().number > server.acknowledged_report + 1) {
    // What came before was lost with the memory of this master, or of another.
    draft.Emit(EndSession{message.session, "reports before number " + std::to_string(message.reports.front().number) +
                                               " are missing: send again what is not acknowledged"});
    return;
  }
  for (const RunStatus& status : message.runs) TakePosition(draft, server, status);
  for (const Report& report : message.reports) {
    // States are taken however often they come, so that files of points that others hold are named again.
    const bool is_refused = message.refused_reports.contains(report.number);
    if (!is_refused &&
        (report.number > server.acknowledged_report || std::holds_alternative<StateStored>(report.kind))) {
      ApplyReport(draft, server, report);
    }
    server.acknowledged_report = std::max(server.acknowledged_report, report.number);
    draft.TellAgain(server.name);
  }
  draft.Do(SetServer{std::move(server)});
}

void OnNodeGone(Draft& draft, const NodeGone& gone) {
  const Server* known = ServerOf(draft.state(), gone.session);
  if (known == nullptr) return;
  Server server = *known;
  server.session.reset();
  server.last_seen = std::max(server.last_seen, gone.arrived);
  draft.Log(LogLevel::kInfo, "server disconnected", {{"name", server.name}});
  draft.Do(SetServer{std::move(server)});
}

void OnTick(Draft& draft, const Tick& tick) {
  if (tick.paused) {
    draft.Log(LogLevel::kWarning, "the master stood still for a while: leases start afresh");
    draft.Do(RestartLeases{tick.arrived});
    return;
  }
  const auto lease_ended = [&](Moment since) {
    return tick.heard_until - std::max(since, draft.state().leases_from) > draft.settings.lease;
  };
  std::vector<std::string> lost;
  for (const auto& [name, server] : draft.state().servers) {
    if (lease_ended(server.last_seen)) lost.push_back(name);
  }
  for (const std::string& name : lost) {
    const Server& server = draft.state().servers.at(name);
    if (server.session) draft.Emit(EndSession{*server.session, "server " + name + " was silent for too long"});
    draft.Log(LogLevel::kWarning, "server lost", {{"name", name}});
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
