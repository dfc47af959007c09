// What a policy may look at when it decides. It shows the state as it is at that moment, and is cheap to make: what it
// says is found when it is asked for.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/action.h"
#include "scheduler/policy_trial.h"
#include "scheduler/ready_work.h"
#include "scheduler/run_view.h"
#include "scheduler/server_room.h"

namespace espalier {

// Which of a study's paths and runs would have the slots that it holds: of one trainer on one device kind, none of
// which is idle, and for which no other study's paths wait.
struct Contest {
  struct Left {
    RunId run;
    Seconds left{0};  // that it, and what waits for its states, has still to train: the longest way down, estimated
  };
  // The longest way down of paths that could start, estimated; the longest first. Not of more than runs train.
  std::vector<Seconds> waiting;
  std::vector<Left> runs;   // that serve it alone and can be preempted; the least last
  std::size_t leaving = 0;  // runs that are being preempted: so many of the waiting paths have their slots soon
  Seconds switching{0};     // about what it takes to store one state and load another
  Seconds work_a_slot{0};   // for about so long what waits and the paths of the runs keep every slot busy, at the least
};

class View {
 public:
  virtual ~View() = default;

  // What an idle slot can best begin: the evaluation of a state that stands, for others wait for it and it is short;
  // else the first path in the policy's ranking that a server with an idle slot offers. None: nothing waits, or nothing
  // fits. O(kinds of offers that are wanted), and more only where failures pause the best.
  virtual std::optional<StartPath> BestStart() const = 0;
  // The same, but for training for these studies alone.
  virtual std::optional<StartPath> BestStartExcept(const std::set<StudyId>& studies) const = 0;
  // The first half of that: the evaluation of a state that stands. O(kinds), and more where failures pause it, or
  // quotas hold it back.
  virtual std::optional<StartPath> BestEvaluation() const = 0;

  // All work that can be ordered now, sorted; none that waits for teams or users alone that have come to a quota.
  // O(that x log).
  virtual std::vector<ReadyWork> Ready() const = 0;
  // Whether it is some. O(log).
  virtual bool IsReady(const ReadyWork& work) const = 0;
  // How it could begin on a slot that is idle, whoever is due; none: no such slot may be given it now. O(depth + idle
  // servers that may not). REQUIRES: it is ready.
  virtual std::optional<StartPath> StartOf(const ReadyWork& work) const = 0;
  // What it takes. O(stages of its path x hyper-parameters). REQUIRES: it is ready.
  virtual WorkEstimate EstimateOf(const ReadyWork& work) const = 0;
  // Equal where the same servers train both plans.
  virtual std::string PoolOf(PlanId plan) const = 0;
  // Whether a slot of its pool is idle. O(log).
  virtual bool HasIdleSlot(PlanId plan) const = 0;
  // Of all connected servers. O(servers).
  virtual std::int64_t SlotCount() const = 0;
  // Connected ones that are not drained and offer what the plan trains by, by name. O(servers).
  virtual std::vector<std::string> ServersFor(PlanId plan) const = 0;
  // What is free there. Null: there is no such server. O(log).
  virtual const ServerRoom* RoomOf(const std::string& server) const = 0;
  // Whether the server, one of those for the plan, may be given the work now, whatever room it has. O(log). REQUIRES:
  // it is ready.
  virtual bool MayStart(const ReadyWork& work, const std::string& server) const = 0;

  // Those that train, by id. O(these).
  virtual std::vector<RunId> Runs() const = 0;
  // None: it does not train. O(its path).
  virtual std::optional<RunView> Run(RunId run) const = 0;
  // The last step that it is known to have begun or reached. None: it does not train. O(log).
  virtual std::optional<Step> StepOf(RunId run) const = 0;
  // As Preemptible says. O(1).
  virtual bool CanPreempt(RunId run) const = 0;
  // What it takes to store its state and load another, as far as it was measured. O(1). REQUIRES: it trains.
  virtual Seconds SwitchingTime(RunId run) const = 0;
  // Runs that train no more, and have states on their way to the store. O(runs under way).
  virtual std::vector<RunId> Saving() const = 0;
  // The slot on which such a run trained; none: it is not one. O(log).
  virtual std::optional<SlotId> SavesFrom(RunId run) const = 0;
  // How many runs of the plan's pool are being preempted. O(runs under way).
  virtual std::size_t LeavingFor(PlanId plan) const = 0;

  // Runs that can be preempted: they train, and are not being preempted; not one that begins where another lost the
  // state for which it was preempted, and none has stored one since. By id. O(runs under way).
  virtual std::vector<RunView> Preemptible() const = 0;

  // Where some paths wait, and keep every slot busy for less than twice as long as the longest way down takes; runs and
  // paths of one slot only. O(plans that wait); at such an end O(runs under way x their promises), too.
  virtual std::vector<Contest> Contests() const = 0;
  // Running studies that let policies stop their trials, by id. O(these).
  virtual std::vector<PolicyStudy> StudiesThatMayStop() const = 0;

  // Running studies with a deadline, by id. O(these).
  virtual std::vector<PolicyStudy> StudiesWithDeadline() const = 0;
  // O(1). REQUIRES: there is such a study.
  virtual PolicyStudy Study(StudyId study) const = 0;

  // All that the study ever had, in order of submission, but for those that have asked for nothing. O(these).
  // REQUIRES: there is such a study.
  virtual std::vector<PolicyTrial> TrialsOf(StudyId study) const = 0;

  // None: it has asked for nothing. O(1). REQUIRES: there is such a trial.
  virtual std::optional<PolicyTrial> Trial(TrialId trial) const = 0;

  // Whether a claim of it waits. O(log). REQUIRES: there is such a trial.
  virtual bool Waits(TrialId trial) const = 0;

  // Whether a question about its curve has not been answered yet. O(log).
  virtual bool IsAnalysed(TrialId trial) const = 0;

  // Those that wait for metrics at the point or beyond it, in order of submission, of whatever study. O(plan nodes
  // below + claims that wait there).
  virtual std::vector<PolicyTrial> WaitingFrom(PlanId plan, Point point) const = 0;

  // One that waits for what the work would train; or, without any state between, at the point or behind it. None:
  // nobody. O(depth).
  virtual std::optional<TrialId> WaitingBelow(const ReadyWork& work) const = 0;
  virtual std::optional<TrialId> WaitingFor(PlanId plan, Point point) const = 0;

  // What the policy of this name wrote on trials of running studies. O(all of these).
  virtual std::vector<LabelTrial> LabelsOf(std::string_view policy) const = 0;

  // The way from Init to the point, the first first: of each node the last point; Init alone: itself. O(depth).
  virtual std::vector<Point> WayTo(PlanId plan, Point point) const = 0;

  // How long the training of the way to the point took, whoever asked for it; steps that nobody has measured count
  // nothing. O(depth).
  virtual Seconds TrainedTime(PlanId plan, Point point) const = 0;

  // The study's metric as it was measured on the way to the point and at it, whoever asked for it, the first first.
  // O(depth + what was measured there).
  virtual std::vector<MeasuredAt> CurveTo(StudyId study, PlanId plan, Point point) const = 0;
};

}  // namespace espalier
