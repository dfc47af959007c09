#include "searchplan/plan/record_result.h"

#include <algorithm>
#include <limits>

namespace espalier {

std::optional<Point> FailingPoint(const SearchPlan& plan, Point point) {
  for (std::optional<PlanNodeId> id = point.node; id; id = plan.Node(*id).parent) {
    const std::map<Step, Failure>& failures = plan.Node(*id).results->failures;
    if (!failures.empty() && failures.begin()->first <= point.step) return Point{*id, failures.begin()->first};
    point.step = plan.Node(*id).start;  // further up, only what lies before this node counts
  }
  return std::nullopt;
}

std::optional<ClaimState> SettledState(const SearchPlan& plan, const Claim& claim) {
  const bool answered = IsForStateAlone(claim) ? plan.FindStateDigest(claim.point) != nullptr
                                               : plan.FindMetrics(claim.point, claim.evaluation) != nullptr;
  if (answered) return ClaimState::kDone;
  if (const std::optional<Point> failed = FailingPoint(plan, claim.point)) {
    return plan.FindFailure(*failed)->kind == Failure::Kind::kDiverged ? ClaimState::kDone : ClaimState::kFailed;
  }
  if (plan.FindEvaluationFailure(claim.point, claim.evaluation) != nullptr) return ClaimState::kFailed;
  return std::nullopt;
}

PlanEdit SettleClaims(const SearchPlan& plan) {
  PlanEdit edit;
  for (const ClaimId id : plan.waiting) {
    if (const auto state = SettledState(plan, plan.claims.at(id))) edit.push_back(SettleClaim{id, *state});
  }
  return edit;
}

PlanEdit SettleClaimsAt(const SearchPlan& plan, Point point) {
  PlanEdit edit;
  for (const ClaimId id : plan.ClaimsAt(point)) {
    const Claim& claim = plan.claims.at(id);
    if (claim.state != ClaimState::kWaiting) continue;
    if (const auto state = SettledState(plan, claim)) edit.push_back(SettleClaim{id, *state});
  }
  return edit;
}

Metrics AnswerOf(const SearchPlan& plan, const Claim& claim, const std::vector<std::string>& names) {
  if (const Metrics* metrics = plan.FindMetrics(claim.point, claim.evaluation)) return *metrics;
  Metrics answer;
  if (claim.state != ClaimState::kDone) return answer;
  for (const std::string& name : names) answer[name] = std::numeric_limits<double>::quiet_NaN();
  return answer;
}

std::string WhyFailed(const SearchPlan& plan, const Claim& claim) {
  if (const std::optional<Point> failed = FailingPoint(plan, claim.point)) return plan.FindFailure(*failed)->message;
  const std::string* failure = plan.FindEvaluationFailure(claim.point, claim.evaluation);
  return failure == nullptr ? std::string() : *failure;
}

PlanEdit RecordTrained(const SearchPlan& plan, PlanNodeId node, const TrainedRange& range) {
  if (range.to <= range.from) return {};
  for (const TrainedRange& known : plan.Node(node).results->trained) {
    if (known.run != range.run) continue;
    if (range.from >= known.from && range.to <= known.to) return {};
    // Only the steps past what is known are new; their share of the time is taken as even.
    const std::int64_t fresh =
        (range.to - range.from) -
        std::max<std::int64_t>(0, std::min(range.to, known.to) - std::max(range.from, known.from));
    TrainedRange joined = known;
    joined.from = std::min(known.from, range.from);
    joined.to = std::max(known.to, range.to);
    joined.seconds += range.seconds * (static_cast<double>(fresh) / static_cast<double>(range.to - range.from));
    return {SetTrainedRange{node, joined}};
  }
  return {SetTrainedRange{node, range}};
}

}  // namespace espalier
