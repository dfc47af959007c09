#include "scheduler/fair_share.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace espalier {

std::map<StudyId, std::int64_t> InEqualParts(std::int64_t whole, const std::vector<StudyId>& studies) {
  std::map<StudyId, std::int64_t> parts;
  if (studies.empty()) return parts;
  const auto count = static_cast<std::int64_t>(studies.size());
  for (const StudyId study : studies) parts[study] = whole / count;
  parts.begin()->second += whole % count;
  return parts;
}

void FairShare::SetTime(Time now) {
  if (!first_) first_ = now;
  now_ = std::max(now_, static_cast<double>((now - *first_).count()));
}

void FairShare::Advance() {
  std::set<std::string> holding;
  for (const auto& team : teams_.most()) holding.insert(team.key);
  for (const std::string& team : holding) studies_.at(team).Advance(now_);
  teams_.Advance(now_);
}

void FairShare::AddStudy(StudyId study, const std::string& team, double weight) {
  members_[study].team = team;
  studies_[team].SetWeight(study, weight, now_);
}

void FairShare::FinishStudy(StudyId study) {
  members_.at(study).is_finished = true;
  ForgetIfDone(study);
}

void FairShare::SetTeamWeight(const std::string& team, double weight) { teams_.SetWeight(team, weight, now_); }

void FairShare::SetStudyWeight(StudyId study, double weight) {
  const auto member = members_.find(study);
  if (member != members_.end()) studies_.at(member->second.team).SetWeight(study, weight, now_);
}

void FairShare::Want(StudyId study, bool wants) {
  if (!members_.contains(study)) return;
  const std::string team = members_.at(study).team;
  FairQueue<StudyId>& studies = studies_.at(team);
  if (studies.Find(study)->wants == wants) return;
  studies.Want(study, wants, now_);
  teams_.Want(team, !studies.due().empty(), now_);
  ForgetIfDone(study);
}

void FairShare::Hold(RunId run, int slots, const std::vector<StudyId>& studies) {
  std::vector<StudyId> known;
  std::copy_if(studies.begin(), studies.end(), std::back_inserter(known),
               [&](StudyId study) { return members_.contains(study); });
  if (!holdings_.contains(run)) {
    for (const StudyId study : known) {
      const std::string& team = members_.at(study).team;
      studies_.at(team).Gave(study, now_);
      teams_.Gave(team, now_);
    }
  }
  Replace(run, {InEqualParts(slots * kWholeSlot, known), {}});
}

void FairShare::HoldFor(RunId run, StudyId study) {
  std::int64_t whole = 0;
  for (const auto& [held_for, part] : holdings_.at(run).parts) whole += part;
  Replace(run, {{{study, whole}}, study});
}

void FairShare::Release(RunId run) { Replace(run, {}); }

void FairShare::Replace(RunId run, Holding holding) {
  const auto before = holdings_.extract(run);
  if (before) Add(before.mapped(), run, -1);
  Add(holding, run, 1);
  if (before) {
    for (const auto& [study, part] : before.mapped().parts) ForgetIfDone(study);
  }
  if (!holding.parts.empty()) holdings_.emplace(run, std::move(holding));
}

void FairShare::Add(const Holding& holding, RunId run, int sign) {
  for (const auto& [study, part] : holding.parts) {
    Member& member = members_.at(study);
    studies_.at(member.team).Hold(study, sign * part, now_);
    teams_.Hold(member.team, sign * part, now_);
    if (holding.makes_room_for) {
      member.making_room += sign;
    } else if (sign > 0) {
      member.runs.insert(run);
    } else {
      member.runs.erase(run);
    }
  }
}

void FairShare::ForgetIfDone(StudyId study) {
  const auto member = members_.find(study);
  if (member == members_.end() || !member->second.is_finished) return;
  FairQueue<StudyId>& studies = studies_.at(member->second.team);
  const auto* party = studies.Find(study);
  if (party->wants || party->held > 0) return;
  studies.Forget(study, now_);
  members_.erase(member);
}

const std::set<RunId>& FairShare::RunsOf(StudyId study) const { return members_.at(study).runs; }

int FairShare::MakingRoomFor(StudyId study) const { return members_.at(study).making_room; }

}  // namespace espalier
