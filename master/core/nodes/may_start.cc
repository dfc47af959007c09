#include "master/core/nodes/may_start.h"

#include <algorithm>

namespace espalier::master {
namespace {

bool IsPaused(const Draft& draft, const StageBeginning& beginning) {
  const Pause* pause = LongestPause(draft.state(), beginning);
  return pause != nullptr && pause->until > draft.now;
}

bool IsRefused(const Draft& draft, const Server& server, const StageBeginning& beginning) {
  const auto* refusals = RefusalsOf(draft.state(), beginning);
  if (refusals == nullptr) return false;
  const auto here = refusals->find(server.name);
  return here != refusals->end() && here->second.until > draft.now;
}

// Whether another connected server could begin it: it offers what this one does for the plan (and, for a stage that
// only evaluates, by that evaluation), has not refused it lately, and has a device of what it demands. O(servers x
// devices).
bool CanBeginElsewhere(const Draft& draft, const Server& server, const SearchPlan& plan,
                       const StageBeginning& beginning, const Demand& demand) {
  const MasterState& state = draft.state();
  const std::string& evaluation = beginning.second;
  return std::any_of(state.servers.begin(), state.servers.end(), [&](const auto& entry) {
    const Server& other = entry.second;
    if (other.name == server.name || !other.session || IsDraining(state, other)) return false;
    const OfferMade* made = OfferOf(other, plan.trainer, plan.identity.device_kind);
    if (made == nullptr || IsRefused(draft, other, beginning) || !Has(other, demand)) return false;
    return evaluation.empty() || state.offers.at(made->offer).offer.evaluation_digest == evaluation;
  });
}

}  // namespace

const std::map<std::string, Refusal>* RefusalsOf(const MasterState& state, const StageBeginning& beginning) {
  const auto refusals = state.refusals.find(beginning);
  return refusals == state.refusals.end() ? nullptr : &refusals->second;
}

bool MayStart(const Draft& draft, const Server& server, const SearchPlan& plan, const StageBeginning& beginning,
              const Demand& demand) {
  if (IsPaused(draft, beginning) || IsRefused(draft, server, beginning)) return false;
  const Pause* pause = LongestPause(draft.state(), beginning);
  if (pause == nullptr || pause->avoid != server.name) return true;
  return !CanBeginElsewhere(draft, server, plan, beginning, demand);
}

bool HasIdleSlot(const MasterState& state, const OfferKind& kind) {
  return !IdleServers(state, {kind.trainer, kind.device_kind, ""}).none();
}

}  // namespace espalier::master
