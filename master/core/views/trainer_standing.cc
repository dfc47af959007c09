#include "master/core/views/trainer_standing.h"

#include <set>

namespace espalier::master {
namespace {

// When it was last asked for, as servers are told: 0 if nobody asks, and a study runs by it.
std::int64_t AskedFor(const MasterState& state, Digest128 reference) {
  const auto asked = state.asked.find(reference);
  return asked == state.asked.end() ? 0 : asked->second.time_since_epoch().count();
}

TrainerOnServer LookAt(const MasterState& state, const Server& server, Digest128 reference) {
  TrainerOnServer here{server.name, {}, {}};
  const auto described = server.references.find(reference);
  if (described == server.references.end()) return here;
  for (const Digest128& offer : described->second.offers) here.offers.push_back(&state.offers.at(offer).offer);
  if (described->second.asked == AskedFor(state, reference)) here.refused = described->second.refused;
  return here;
}

}  // namespace

Result<TrainerStanding> StandingOf(const MasterState& state, Digest128 reference, const Caller& caller) {
  const auto known = state.references.find(reference);
  if (known == state.references.end() || known->second.team != caller.team) {
    return MakeError(ErrorCode::kNotFound, "your team has no reference " + ToHex(reference), "reference_digest");
  }
  TrainerStanding standing{
      .wanted = state.asked.contains(reference) || state.index.references_in_use.contains(reference), .servers = {}};
  for (const auto& [name, server] : state.servers) {
    if (server.session && !IsDraining(state, server)) standing.servers.push_back(LookAt(state, server, reference));
  }
  return standing;
}

std::string RefusalsOf(const MasterState& state, PlanId plan, const Caller& caller) {
  std::string text;
  std::set<Digest128> told;
  for (const StudyId id : state.running_studies) {
    const Study& study = state.studies.at(id);
    const auto plans = state.index.plans_of_study.find(id);
    const bool is_of_plan = plans != state.index.plans_of_study.end() && plans->second.contains(plan);
    if (!study.specification.reference || !is_of_plan || !MaySee(caller, study)) continue;
    const Digest128 reference = *study.specification.reference;
    if (!told.insert(reference).second) continue;
    for (const auto& [name, server] : state.servers) {
      const auto described = server.references.find(reference);
      if (!server.session || described == server.references.end() || described->second.refused.empty()) continue;
      text += (text.empty() ? "" : "; ") + name + " does not run " + state.references.at(reference).entry + ": " +
              described->second.refused;
    }
  }
  return text;
}

std::vector<WantedReference> WantedReferences(const MasterState& state) {
  std::set<Digest128> references;
  for (const auto& [reference, at] : state.asked) references.insert(reference);
  for (const auto& [reference, count] : state.index.references_in_use) references.insert(reference);
  std::vector<WantedReference> wanted;
  for (const Digest128& reference : references) wanted.push_back({reference, AskedFor(state, reference)});
  return wanted;
}

}  // namespace espalier::master
