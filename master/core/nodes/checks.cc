#include "master/core/nodes/checks.h"

#include <algorithm>

#include "base/text.h"
#include "master/core/calls/trial_edits.h"
#include "master/core/settling.h"
#include "master/core/state/claims.h"
#include "master/core/state/step_time.h"
#include "master/core/state/stored_text.h"

namespace espalier::master {
namespace {

// A check of six steps trains so many, counted generously.
constexpr std::int64_t kStepsOfACheck = 40;
// What is expected to take longer waits until a slot has nothing to train.
constexpr Seconds kShort{300};
// A slot is lost to a check for so long at most; where nothing is trained before it, there is more time.
constexpr Seconds kLimit{600};
constexpr Seconds kLimitFirst{6 * 3600};

// Where the check's values come from: the first trial of the oldest study that wants it.
const Trial* TrialOf(const MasterState& state, const std::set<StudyId>& studies) {
  for (const StudyId study : studies) {
    const std::vector<TrialId>& trials = state.trials_by_study.at(study);
    if (!trials.empty()) return &state.trials.at(trials.front());
  }
  return nullptr;
}

// Cost: the trial's depth.
const PlanNode& RootOf(const SearchPlan& plan, const Trial& trial) {
  const PlanNode* node = &plan.Node(trial.leaf);
  while (node->parent) node = &plan.Node(*node->parent);
  return *node;
}

bool IsFirst(const MasterState& state, const std::set<StudyId>& studies) {
  return std::ranges::any_of(studies,
                             [&](StudyId id) { return state.studies.at(id).specification.check == CheckWhen::kFirst; });
}

bool IsUrgent(const MasterState& state, const std::set<StudyId>& studies) {
  if (IsFirst(state, studies)) return true;
  const bool has_results =
      std::ranges::any_of(studies, [&](StudyId id) { return state.trial_index.at(id).claimed_steps() > 0; });
  const Trial* trial = TrialOf(state, studies);
  if (!has_results || trial == nullptr) return false;
  const SearchPlan& plan = state.plans.at(trial->plan);
  return std::chrono::microseconds(kStepsOfACheck * StepMicroseconds(state, plan, RootOf(plan, *trial))) <= kShort;
}

// A slot that is idle, of a server that offers the trainer: the last one, since runs are given the first.
std::optional<CheckPlace> IdlePlaceFor(const MasterState& state, const CheckKey& key) {
  const OfferKind kind{key.trainer, key.device_kind, ""};
  for (auto it = state.index.idle_servers.lower_bound(kind); it != state.index.idle_servers.end(); ++it) {
    if (it->first.trainer != key.trainer || it->first.device_kind != key.device_kind) break;
    const Server& server = state.servers.at(*it->second.begin());
    const int slot = state.index.rooms.at(server.name).LastIdleSlot().value();
    return CheckPlace{{server.name, slot}, ShareOf(server.devices, slot), server.incarnation};
  }
  return std::nullopt;
}

bool MayGoOn(const MasterState& state, const CheckKey& key, const CheckPlace& place) {
  const auto server = state.servers.find(place.slot.server);
  return state.index.checks_wanted.contains(key) && server != state.servers.end() &&
         server->second.incarnation == place.incarnation && !IsDraining(state, server->second) &&
         OfferOf(server->second, key.trainer, key.device_kind) != nullptr;
}

template <class Predicate>
void PlaceWhere(Draft& draft, const Predicate& may) {
  const std::map<CheckKey, std::set<StudyId>>& all = draft.state().index.checks_wanted;
  for (const auto& [key, studies] : all) {
    const MasterState& state = draft.state();
    if (state.checks.contains(key) || TrialOf(state, studies) == nullptr || !may(studies)) continue;
    const std::optional<CheckPlace> place = IdlePlaceFor(state, key);
    if (!place) continue;
    draft.Log(
        LogLevel::kInfo, "check started",
        {{"trainer", ToHex(key.trainer)}, {"slot", place->slot.server + "/" + std::to_string(place->slot.index)}});
    draft.Do(PlaceCheck{key, *place});
  }
}

// What it waits for has failed, and it takes no more.
void Stop(Draft& draft, StudyId study) {
  const std::vector<TrialId> trials = draft.state().trials_by_study.at(study);
  for (const TrialId id : trials) {
    const Trial& trial = draft.state().trials.at(id);
    std::vector<ClaimId> claims = trial.claims;
    const std::set<ClaimId>& states = StateClaimsOf(draft.state(), id);
    claims.insert(claims.end(), states.begin(), states.end());
    const PlanId plan = trial.plan;
    for (const ClaimId claim : claims) {
      if (draft.state().plans.at(plan).waiting.contains(claim)) Settle(draft, plan, claim, ClaimState::kFailed);
    }
  }
  CloseStudyWithTrials(draft, study, /*cancelled=*/false);
}

}  // namespace

void TakeChecked(Draft& draft, const std::string& name, const std::vector<CheckedTrainer>& checked) {
  for (const auto& [trainer, finding] : checked) {
    const Server& server = draft.state().servers.at(name);
    const auto made = server.offers.find(trainer);
    if (made == server.offers.end()) continue;
    const CheckKey key{trainer, made->second.device_kind};
    if (draft.state().check_findings.contains(key)) continue;
    const auto wanted = draft.state().index.checks_wanted.find(key);
    if (wanted == draft.state().index.checks_wanted.end()) continue;
    const std::set<StudyId> studies = wanted->second;
    CheckFinding kept{finding.outcome, CleanText(finding.message, kMessageBytesMax)};
    draft.Log(finding.outcome == CheckOutcome::kFailed ? LogLevel::kWarning : LogLevel::kInfo, "trainer checked",
              {{"trainer", ToHex(trainer)}, {"server", name}, {"outcome", std::string(Name(finding.outcome))}});
    draft.Do(AddCheckFinding{key, std::move(kept), draft.now});
    if (finding.outcome != CheckOutcome::kFailed) continue;
    for (const StudyId study : studies) Stop(draft, study);
  }
}

void EndChecks(Draft& draft) {
  const std::map<CheckKey, CheckPlace> under_way = draft.state().checks;
  for (const auto& [key, place] : under_way) {
    if (!MayGoOn(draft.state(), key, place)) draft.Do(EndCheck{key});
  }
}

void PlaceUrgentChecks(Draft& draft) {
  PlaceWhere(draft, [&](const std::set<StudyId>& studies) { return IsUrgent(draft.state(), studies); });
}

void PlaceOtherChecks(Draft& draft) {
  PlaceWhere(draft, [](const std::set<StudyId>&) { return true; });
}

std::vector<WantedCheck> ChecksOn(const MasterState& state, const Server& server) {
  std::vector<WantedCheck> checks;
  for (const auto& [key, place] : state.checks) {
    const auto wanted = state.index.checks_wanted.find(key);
    if (place.slot.server != server.name || wanted == state.index.checks_wanted.end()) continue;
    const Trial* trial = TrialOf(state, wanted->second);
    const OfferMade* made = OfferOf(server, key.trainer, key.device_kind);
    if (trial == nullptr || made == nullptr) continue;
    const SearchPlan& plan = state.plans.at(trial->plan);
    checks.push_back({.slot = place.slot.index,
                      .reservation = place.reservation,
                      .offer = state.offers.at(made->offer).offer,
                      .step = plan.identity.training.step,
                      .root = RootOf(plan, *trial).configuration,
                      .limit = IsFirst(state, wanted->second) ? kLimitFirst : kLimit});
  }
  return checks;
}

}  // namespace espalier::master
