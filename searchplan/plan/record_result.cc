#include "searchplan/plan/record_result.h"

#include <algorithm>
#include <limits>

namespace espalier {
namespace {

bool IsFinishedAt(const SearchPlan& plan, Point failing) {
  return plan.FindFailure(failing)->kind == Failure::Kind::kFinished;
}

// What comes of a waiting claim where training does not get so far.
ClaimState SettledBy(const SearchPlan& plan, const Claim& claim, Point failing) {
  if (plan.FindFailure(failing)->kind == Failure::Kind::kDiverged) return ClaimState::kDone;
  const bool is_answered =
      IsFinishedAt(plan, failing) && plan.FindMetrics(AnsweredAt(plan, claim.point), claim.evaluation) != nullptr;
  return is_answered ? ClaimState::kDone : ClaimState::kFailed;
}

}  // namespace

std::optional<Point> FailingPoint(const SearchPlan& plan, Point point) {
  for (std::optional<PlanNodeId> id = point.node; id; id = plan.Node(*id).parent) {
    const std::map<Step, Failure>& failures = plan.Node(*id).results->failures;
    if (!failures.empty() && failures.begin()->first <= point.step) return Point{*id, failures.begin()->first};
    point.step = plan.Node(*id).start;  // further up, only what lies before this node counts
  }
  return std::nullopt;
}

std::optional<ClaimState> SettledState(const SearchPlan& plan, const Claim& claim) {
  const bool answered = IsForStateAlone(claim) ? plan.FindCheckpoint(claim.point) != nullptr
                                               : plan.FindMetrics(claim.point, claim.evaluation) != nullptr;
  if (answered) return ClaimState::kDone;
  if (const std::optional<Point> failed = FailingPoint(plan, claim.point)) {
    return SettledBy(plan, claim, *failed);
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

Point AnsweredAt(const SearchPlan& plan, Point point) {
  const std::optional<Point> failing = FailingPoint(plan, point);
  return failing && IsFinishedAt(plan, *failing) ? PointOn(plan, failing->node, failing->step - 1) : point;
}

Metrics AnswerOf(const SearchPlan& plan, const Claim& claim, const std::vector<std::string>& names) {
  if (const Metrics* metrics = plan.FindMetrics(AnsweredAt(plan, claim.point), claim.evaluation)) return *metrics;
  Metrics answer;
  if (claim.state != ClaimState::kDone) return answer;
  for (const std::string& name : names) answer[name] = std::numeric_limits<double>::quiet_NaN();
  return answer;
}

std::string WhyFailed(const SearchPlan& plan, const Claim& claim) {
  const std::optional<Point> failing = FailingPoint(plan, claim.point);
  if (failing && !IsFinishedAt(plan, *failing)) return plan.FindFailure(*failing)->message;
  const Point last = AnsweredAt(plan, claim.point);
  const std::string* failure = plan.FindEvaluationFailure(last, claim.evaluation);
  if (failure != nullptr) return *failure;
  const std::string step = std::to_string(last.step.value);
  return failing ? "training was finished at step " + step + ", where this evaluation was not made: ask for " + step +
                       " steps"
                 : std::string();
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
