// A view in which there is nothing: tests of policies show what they are about.
#pragma once

#include "scheduler/view.h"

namespace espalier {

class EmptyView : public View {
 public:
  std::optional<StartPath> BestStart() const override { return std::nullopt; }
  std::optional<StartPath> BestStartExcept(const std::set<StudyId>&) const override { return std::nullopt; }
  std::optional<StartPath> BestEvaluation() const override { return std::nullopt; }
  std::vector<ReadyWork> Ready() const override { return {}; }
  bool IsReady(const ReadyWork&) const override { return false; }
  std::optional<StartPath> StartOf(const ReadyWork&) const override { return std::nullopt; }
  WorkEstimate EstimateOf(const ReadyWork&) const override { return {}; }
  std::string PoolOf(PlanId) const override { return ""; }
  bool HasIdleSlot(PlanId) const override { return false; }
  std::int64_t SlotCount() const override { return 0; }
  std::vector<std::string> ServersFor(PlanId) const override { return {}; }
  const ServerRoom* RoomOf(const std::string&) const override { return nullptr; }
  bool MayStart(const ReadyWork&, const std::string&) const override { return false; }
  std::vector<RunId> Runs() const override { return {}; }
  std::optional<RunView> Run(RunId) const override { return std::nullopt; }
  std::optional<Step> StepOf(RunId) const override { return std::nullopt; }
  bool CanPreempt(RunId) const override { return false; }
  Seconds SwitchingTime(RunId) const override { return Seconds(0); }
  std::vector<RunId> Saving() const override { return {}; }
  std::optional<SlotId> SavesFrom(RunId) const override { return std::nullopt; }
  std::size_t LeavingFor(PlanId) const override { return 0; }
  std::vector<RunView> Preemptible() const override { return {}; }
  std::vector<Contest> Contests() const override { return {}; }
  std::vector<PolicyStudy> StudiesThatMayStop() const override { return {}; }
  std::vector<PolicyStudy> StudiesWithDeadline() const override { return {}; }
  PolicyStudy Study(StudyId) const override { return {}; }
  std::vector<PolicyTrial> TrialsOf(StudyId) const override { return {}; }
  std::optional<PolicyTrial> Trial(TrialId) const override { return std::nullopt; }
  bool Waits(TrialId) const override { return false; }
  bool IsAnalysed(TrialId) const override { return false; }
  std::vector<PolicyTrial> WaitingFrom(PlanId, Point) const override { return {}; }
  std::optional<TrialId> WaitingBelow(const ReadyWork&) const override { return std::nullopt; }
  std::optional<TrialId> WaitingFor(PlanId, Point) const override { return std::nullopt; }
  std::vector<LabelTrial> LabelsOf(std::string_view) const override { return {}; }
  std::vector<Point> WayTo(PlanId, Point) const override { return {}; }
  Seconds TrainedTime(PlanId, Point) const override { return Seconds(0); }
  std::vector<MeasuredAt> CurveTo(StudyId, PlanId, Point) const override { return {}; }
};

}  // namespace espalier
