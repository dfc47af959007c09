#include "searchplan/plan/record_result.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace espalier {
namespace {

bool Is(Failure::Kind kind, const SearchPlan& plan, Point failing) { return plan.FindFailure(failing)->kind == kind; }

bool IsAnswered(const SearchPlan& plan, const Claim& claim, Point point) {
  if (IsForStateAlone(claim)) return plan.FindCheckpoint(point) != nullptr;
  return plan.FindMetrics(point, claim.evaluation) != nullptr;
}

// The first step that a training which was finished before the point did not train; none: it was not finished.
std::optional<Point> FinishedBefore(const SearchPlan& plan, Point point) {
  for (std::optional<PlanNodeId> id = point.node; id; id = plan.Node(*id).parent) {
    for (const auto& [step, failure] : plan.Node(*id).results->failures) {
      if (step > point.step) break;
      if (failure.kind == Failure::Kind::kFinished && step > Step{1}) return Point{*id, step};
    }
    point.step = plan.Node(*id).start;
  }
  return std::nullopt;
}

// The last step at or after `from` under the node that training is known to have come to.
std::optional<Step> CameTo(const NodeResults& results, Step from) {
  std::optional<Step> furthest;
  const auto note = [&](Step step) {
    if (step >= from) furthest = std::max(furthest.value_or(step), step);
  };
  if (!results.metrics.empty()) note(results.metrics.rbegin()->first);
  if (!results.state_digests.empty()) note(results.state_digests.rbegin()->first);
  for (const auto& [step, failure] : results.failures) {
    if (IsResult(failure)) note(failure.kind == Failure::Kind::kFinished ? step - 1 : step);
  }
  return furthest;
}

// The same at or after the point on whatever lineage.
std::optional<Step> CameTo(const SearchPlan& plan, Point point) {
  std::vector<PlanNodeId> beyond = {point.node};
  while (!beyond.empty()) {
    const PlanNode& node = plan.Node(beyond.back());
    beyond.pop_back();
    if (const auto step = CameTo(*node.results, point.step)) return step;
    std::ranges::copy_if(node.children, std::back_inserter(beyond),
                         [&](PlanNodeId child) { return plan.Node(child).start >= point.step; });
  }
  return std::nullopt;
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
  const Point point = WaitsAt(plan, claim);
  if (IsAnswered(plan, claim, point)) return ClaimState::kDone;
  if (const std::optional<Point> failing = FailingPoint(plan, point)) {
    return Is(Failure::Kind::kDiverged, plan, *failing) ? ClaimState::kDone : ClaimState::kFailed;
  }
  if (plan.FindEvaluationFailure(point, claim.evaluation) != nullptr) return ClaimState::kFailed;
  return std::nullopt;
}

PlanEdit SettleClaims(const SearchPlan& plan) {
  PlanEdit edit;
  for (const ClaimId id : plan.waiting) {
    if (const auto state = SettledState(plan, plan.claims.at(id))) edit.push_back(SettleClaim{id, *state});
  }
  return edit;
}

Point AnsweredAt(const SearchPlan& plan, Point point) {
  while (const std::optional<Point> next = FinishedBefore(plan, point))
    point = PointOn(plan, next->node, next->step - 1);
  return point;
}

Point WaitsAt(const SearchPlan& plan, const Claim& claim) {
  return IsForStateAlone(claim) ? claim.point : AnsweredAt(plan, claim.point);
}

Metrics AnswerOf(const SearchPlan& plan, const Claim& claim, const std::vector<std::string>& names) {
  if (const Metrics* metrics = plan.FindMetrics(AnsweredAt(plan, claim.point), claim.evaluation)) return *metrics;
  Metrics answer;
  if (claim.state != ClaimState::kDone) return answer;
  for (const std::string& name : names) answer[name] = std::numeric_limits<double>::quiet_NaN();
  return answer;
}

std::string WhyFailed(const SearchPlan& plan, const Claim& claim) {
  const Point point = WaitsAt(plan, claim);
  const std::optional<Point> failing = FailingPoint(plan, point);
  if (failing && Is(Failure::Kind::kFinished, plan, *failing)) {
    const std::string step = std::to_string(failing->step.value - 1);
    return "training was finished at step " + step + ", there is no state beyond: ask for " + step + " steps";
  }
  if (failing) return plan.FindFailure(*failing)->message;
  const std::string* failure = plan.FindEvaluationFailure(point, claim.evaluation);
  return failure == nullptr ? std::string() : *failure;
}

PlanEdit RecordFailure(const SearchPlan& plan, Point point, Failure failure) {
  if (FailingPoint(plan, point)) return {};
  if (failure.kind == Failure::Kind::kFinished) {
    if (point.step == Step{1}) {
      failure = {Failure::Kind::kTrainer, "training was finished before its first step: " + failure.message};
    } else if (const auto step = CameTo(plan, point)) {
      failure = {Failure::Kind::kTrainer, "training was finished at step " + std::to_string(point.step.value - 1) +
                                              ", but had come to step " + std::to_string(step->value) +
                                              " before: it is not deterministic: " + failure.message};
    }
  }
  return {SetFailure{point, std::move(failure)}};
}

PlanEdit RecordTrained(const SearchPlan& plan, PlanNodeId node, const TrainedRange& range) {
  if (range.to <= range.from) return {};
  const std::vector<TrainedRange>& trained = plan.Node(node).results->trained;
  const auto known = std::find_if(trained.rbegin(), trained.rend(),  // it is seldom an old one
                                  [&](const TrainedRange& each) { return each.run == range.run; });
  if (known == trained.rend()) return {SetTrainedRange{node, range}};
  if (range.from >= known->from && range.to <= known->to) return {};
  // Only the steps past what is known are new; their share of the time is taken as even.
  const std::int64_t fresh = (range.to - range.from) - std::max<std::int64_t>(0, std::min(range.to, known->to) -
                                                                                     std::max(range.from, known->from));
  TrainedRange joined = *known;
  joined.from = std::min(known->from, range.from);
  joined.to = std::max(known->to, range.to);
  joined.seconds += range.seconds * (static_cast<double>(fresh) / static_cast<double>(range.to - range.from));
  return {SetTrainedRange{node, joined}};
}

}  // namespace espalier
