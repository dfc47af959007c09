#include "master/core/calls/new_trials_quota.h"

#include <unordered_set>

#include "master/core/calls/trial_edits.h"
#include "master/core/origin.h"
#include "master/core/state/usage.h"

namespace espalier::master {
namespace {

Result<void> CheckLimit(const Party& party, const char* what, std::int64_t used, std::int64_t more, std::int64_t most,
                        const char* how_to_need_less) {
  if (more <= 0 || used + more <= most) return {};
  return MakeError(ErrorCode::kResourceExhausted,
                   PartyName(party) + " has " + std::to_string(used) + " " + what + ", may have " +
                       std::to_string(most) + " at most, and would have " + std::to_string(used + more) +
                       how_to_need_less + "; administrators may allow more: espalier quota",
                   "trials");
}

// The plan nodes that trials would add, of each lineage one.
class NodeCounter {
 public:
  NodeCounter(const MasterState& state, const Study& study, const Trial* continued)
      : state_(state), study_(study), continued_(continued) {}

  void Add(const ResolvedTrial& trial, TrialId id) {
    const PlanIdentity identity =
        continued_ != nullptr ? state_.plans.at(continued_->plan).identity : PlanIdentityOf(study_, id);
    const Digest128 root = DigestOf(identity);
    const auto known = state_.plan_by_identity.find(root);
    const bool is_new = known == state_.plan_by_identity.end();
    const auto plan = is_new ? std::nullopt : std::optional(known->second);
    const std::optional<Origin> origin = continued_ != nullptr
                                             ? OriginOfContinuation(state_, study_, trial, *continued_)
                                             : FindOrigin(state_, study_, trial, plan, study_.created_at);
    Digest128 lineage = root;
    const Origin* begins_with = origin ? &*origin : nullptr;
    for (const JointSegment& segment : trial.segments) {
      lineage = LineageDigest(lineage, segment.start, PackedConfiguration(segment.configuration), begins_with);
      begins_with = nullptr;
      if (is_new || state_.plans.at(*plan).nodes.FindLineage(lineage) == nullptr) lineages_.insert(lineage);
    }
  }

  std::int64_t count() const { return static_cast<std::int64_t>(lineages_.size()); }

 private:
  const MasterState& state_;
  const Study& study_;
  const Trial* const continued_;
  std::unordered_set<Digest128> lineages_;
};

std::int64_t NewNodesOf(const MasterState& state, const Study& study, const std::vector<ResolvedTrial>& trials,
                        const Trial* continued) {
  NodeCounter counter(state, study, continued);
  TrialId id = state.next.trial;
  for (const ResolvedTrial& trial : trials) {
    counter.Add(trial, id);
    ++id.value;
  }
  return counter.count();
}

}  // namespace

Result<void> CheckQuotas(const MasterState& state, const Study& study, const std::vector<ResolvedTrial>& trials,
                         std::int64_t closing, const Trial* continued) {
  if (trials.empty()) return {};
  const auto more = static_cast<std::int64_t>(trials.size()) - closing;
  for (const Party& party : PartiesOf(study)) {
    const auto quota = state.quotas.find(party);
    if (quota == state.quotas.end()) continue;
    if (const auto most = quota->second.open_trials) {
      ESPALIER_RETURN_IF_ERROR(CheckLimit(party, "open trials", OpenTrialsOf(state, party), more, *most,
                                          ", unless some are closed or cancelled, or end"));
    }
    if (const auto most = quota->second.plan_nodes) {
      const std::int64_t used = UsageOf(state, party).plan_nodes;
      std::int64_t at_most = 0;
      for (const ResolvedTrial& trial : trials) at_most += static_cast<std::int64_t>(trial.segments.size());
      if (used + at_most <= *most) continue;
      ESPALIER_RETURN_IF_ERROR(
          CheckLimit(party, "plan nodes", used, NewNodesOf(state, study, trials, continued), *most, ""));
    }
  }
  return {};
}

}  // namespace espalier::master
