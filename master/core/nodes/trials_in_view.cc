#include "master/core/nodes/trials_in_view.h"

#include "master/core/state/claims.h"
#include "searchplan/plan/step_set.h"

namespace espalier::master {

std::vector<PolicyStudy> TrialsInView::StudiesThatMayStop() const {
  return Studies(state_.index.studies_that_may_stop);
}

std::vector<PolicyStudy> TrialsInView::StudiesWithDeadline() const {
  return Studies(state_.index.studies_with_deadline);
}

std::vector<PolicyStudy> TrialsInView::Studies(const std::set<StudyId>& ids) const {
  std::vector<PolicyStudy> studies;
  for (const StudyId id : ids) studies.push_back(Study(id));
  return studies;
}

PolicyStudy TrialsInView::Study(StudyId id) const {
  const master::Study& study = state_.studies.at(id);
  return {.id = id,
          .goal = study.specification.goal,
          .created_at = study.created_at,
          .weight = study.weight,
          .evaluate_every = study.specification.evaluate_every,
          .choices = study.specification.policy};
}

std::vector<PolicyTrial> TrialsInView::TrialsOf(StudyId study) const {
  std::vector<PolicyTrial> trials;
  for (const TrialId id : state_.trials_by_study.at(study)) {
    if (const auto trial = Trial(id)) trials.push_back(*trial);
  }
  return trials;
}

std::optional<PolicyTrial> TrialsInView::Trial(TrialId id) const {
  const master::Trial& trial = state_.trials.at(id);
  if (trial.claims.empty()) return std::nullopt;
  const Point furthest = state_.plans.at(trial.plan).claims.at(trial.claims.back()).point;
  return PolicyTrial{.id = id, .study = trial.study, .plan = trial.plan, .leaf = trial.leaf, .furthest = furthest};
}

bool TrialsInView::Waits(TrialId id) const {
  const master::Trial& trial = state_.trials.at(id);
  return LastWaitingClaim(state_.plans.at(trial.plan), trial) != nullptr;
}

bool TrialsInView::IsAnalysed(TrialId id) const {
  const auto first = state_.analyses.lower_bound({id, {}});
  return first != state_.analyses.end() && first->first == id;
}

std::vector<PolicyTrial> TrialsInView::WaitingFrom(PlanId plan_id, Point point) const {
  const auto needs = state_.index.needs.find(plan_id);
  if (needs == state_.index.needs.end()) return {};
  const SearchPlan& plan = state_.plans.at(plan_id);
  std::set<TrialId> waiting;
  for (const auto& [id, waits_at] : needs->second.WaitingFrom(plan, point)) {
    const Claim& claim = plan.claims.at(id);
    if (!IsForStateAlone(claim)) waiting.insert(claim.trial);
  }
  std::vector<PolicyTrial> trials;
  for (const TrialId id : waiting) trials.push_back(*Trial(id));
  return trials;
}

std::optional<TrialId> TrialsInView::WaitingBelow(const ReadyWork& work) const {
  const auto needs = state_.index.needs.find(work.plan);
  if (needs == state_.index.needs.end()) return std::nullopt;
  return TrialOf(work.plan, needs->second.WaitingBelow({work.source, work.first}));
}

std::optional<TrialId> TrialsInView::WaitingFor(PlanId plan, Point point) const {
  const auto needs = state_.index.needs.find(plan);
  if (needs == state_.index.needs.end()) return std::nullopt;
  return TrialOf(plan, needs->second.WaitingAt(point));
}

std::optional<TrialId> TrialsInView::TrialOf(PlanId plan, std::optional<ClaimId> claim) const {
  if (!claim) return std::nullopt;
  return state_.plans.at(plan).claims.at(*claim).trial;
}

std::vector<LabelTrial> TrialsInView::LabelsOf(std::string_view policy) const {
  std::vector<LabelTrial> labels;
  for (const StudyId study : state_.running_studies) {
    for (const TrialId id : state_.trials_by_study.at(study)) {
      const auto& label = state_.trials.at(id).label;
      if (label && label->policy == policy) labels.push_back({id, label->text});
    }
  }
  return labels;
}

std::vector<Point> TrialsInView::WayTo(PlanId plan, Point point) const {
  if (point.step == Step{0}) return {point};
  std::vector<Point> way;
  for (const StepRange& range : LineageRanges(state_.plans.at(plan), point.node, point.step)) {
    way.push_back({range.node, range.to});
  }
  return way;
}

Seconds TrialsInView::TrainedTime(PlanId id, Point point) const {
  const SearchPlan& plan = state_.plans.at(id);
  Seconds time{0};
  for (const StepRange& range : LineageRanges(plan, point.node, point.step)) {
    const auto& measured = plan.Node(range.node).results->measurements;
    const auto step = measured.find(CostKind::kStep);
    if (step == measured.end()) continue;
    time += Seconds(static_cast<double>(range.to.value - range.from.value) * Mean(step->second) / 1e6);
  }
  return time;
}

std::vector<MeasuredAt> TrialsInView::CurveTo(StudyId study_id, PlanId plan_id, Point point) const {
  const master::Study& study = state_.studies.at(study_id);
  const SearchPlan& plan = state_.plans.at(plan_id);
  std::vector<MeasuredAt> curve;
  for (const StepRange& range : LineageRanges(plan, point.node, point.step)) {
    for (const auto& [step, of_evaluations] : plan.Node(range.node).results->metrics) {
      if (step > range.to) break;
      const auto stored = of_evaluations.find(study.evaluation);
      if (stored == of_evaluations.end()) continue;
      const auto metric = stored->second.find(study.specification.metric);
      if (metric != stored->second.end()) curve.push_back({{range.node, step}, metric->second});
    }
  }
  return curve;
}

}  // namespace espalier::master
