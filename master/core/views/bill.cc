#include "master/core/views/bill.h"

#include <algorithm>

#include "master/core/state/device_time.h"

namespace espalier::master {
namespace {

Seconds AloneTime(const MasterState& state, StudyId study) {
  return SecondsOfMicroseconds(state.index.steps.Of(state, study).claimed_time) / 1000;
}

Use MakeUse(const MasterState& state, StudyId study, Seconds device) {
  return {.device = device,
          .shared = SharedTime(state, study),
          .saved = std::max(Seconds(0), AloneTime(state, study) - device)};
}

// What runs hold since they were charged.
std::map<StudyId, Seconds> Uncharged(const MasterState& state, Time now) {
  std::map<StudyId, Seconds> uncharged;
  for (const RunId id : state.active_runs) {
    const Run& run = state.runs.at(id);
    if (!run.training()) continue;
    for (const StudyId study : run.serves) uncharged[study] += UnchargedPart(run, now);
  }
  return uncharged;
}

}  // namespace

Use& Use::operator+=(const Use& other) {
  device += other.device;
  shared += other.shared;
  saved += other.saved;
  return *this;
}

Use UseOf(const MasterState& state, StudyId study, Time now) {
  return MakeUse(state, study, DeviceTime(state, study, now));
}

std::vector<TeamBill> BillFor(const Caller& caller, const MasterState& state, Time now) {
  const bool sees_all = IsAdministrator(state, caller);
  std::map<std::string, Use> uses;
  for (const auto& [name, user] : state.users) {
    if (!user.team.empty() && !user.token_sha256.empty()) uses[user.team];
  }
  const std::map<StudyId, Seconds> uncharged = Uncharged(state, now);
  for (const auto& [id, study] : state.studies) {
    const auto charged = state.device_time.find(id);
    Seconds device = std::chrono::microseconds(charged == state.device_time.end() ? 0 : charged->second);
    if (const auto more = uncharged.find(id); more != uncharged.end()) device += more->second;
    uses[study.team] += MakeUse(state, id, device);
  }
  std::vector<TeamBill> bills;
  for (const auto& [team, use] : uses) {
    if (!sees_all && team != caller.team) continue;
    const auto* party = state.index.fair_share.teams().Find(team);
    bills.push_back({team, WeightOf(state, team), party == nullptr ? 0 : party->slots(), use});
  }
  return bills;
}

}  // namespace espalier::master
