// What policies see of trials and of what was measured on their ways (scheduler/view.h). Short-lived.
#pragma once

#include "master/core/state/master_state.h"
#include "scheduler/view.h"

namespace espalier::master {

class TrialsInView : public View {
 public:
  // REQUIRES: the state outlives it.
  explicit TrialsInView(const MasterState& state) : state_(state) {}

  std::vector<PolicyStudy> StudiesThatMayStop() const override;
  std::vector<PolicyStudy> StudiesWithDeadline() const override;
  PolicyStudy Study(StudyId study) const override;
  std::vector<PolicyTrial> TrialsOf(StudyId study) const override;
  std::optional<PolicyTrial> Trial(TrialId trial) const override;
  bool Waits(TrialId trial) const override;
  bool IsAnalysed(TrialId trial) const override;
  std::vector<PolicyTrial> WaitingFrom(PlanId plan, Point point) const override;
  std::optional<TrialId> WaitingBelow(const ReadyWork& work) const override;
  std::optional<TrialId> WaitingFor(PlanId plan, Point point) const override;
  std::vector<LabelTrial> LabelsOf(std::string_view policy) const override;
  std::vector<Point> WayTo(PlanId plan, Point point) const override;
  Seconds TrainedTime(PlanId plan, Point point) const override;
  std::vector<MeasuredAt> CurveTo(StudyId study, PlanId plan, Point point) const override;

 private:
  std::vector<PolicyStudy> Studies(const std::set<StudyId>& ids) const;
  std::optional<TrialId> TrialOf(PlanId plan, std::optional<ClaimId> claim) const;

  const MasterState& state_;
};

}  // namespace espalier::master
