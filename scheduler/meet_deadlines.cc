#include "scheduler/meet_deadlines.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/deadline_rules.h"
#include "scheduler/deadline_study.h"
#include "scheduler/trained_trials.h"
#include "scheduler/wide_start.h"

namespace espalier {
namespace {

constexpr std::string_view kName = "hypersched";
constexpr double kChangesBetween = 2;     // a run trains for so many changes before the next, at least
constexpr std::int64_t kLastReports = 3;  // before the deadline, at which states are stored
constexpr int kTriesMax = 64;             // of trials that may not start, each time it is asked

// The place after all points.
constexpr Point kBeyond{PlanNodeId{std::numeric_limits<std::int64_t>::max()},
                        Step{std::numeric_limits<std::int64_t>::max()}};

class MeetDeadlines : public Policy {
 public:
  std::string_view name() const override { return kName; }
  Ranking ranking() const override { return Ranking::kLongest; }
  bool is_fair() const override { return false; }

  void Take(const PolicyEvent& event, const View& view) override {
    Recall(view);
    if (const auto* came = std::get_if<MetricsCame>(&event)) came_.push_back(*came);
    if (const auto* claimed = std::get_if<TrialClaimed>(&event)) AddTrial(claimed->trial, view);
    if (const auto* began = std::get_if<RunBegan>(&event)) {
      Begin(began->run, view);
      EndResizing(began->run, view);
    }
    if (const auto* stopped = std::get_if<RunStopped>(&event)) {
      trained_.Stop(stopped->run);
      reported_.erase(stopped->run);
    }
    if (const auto* changed = std::get_if<WorkChanged>(&event)) Note(changed->work, view.IsReady(changed->work));
    if (std::holds_alternative<ServersChanged>(event)) slots_of_pool_.clear();
    if (const auto* ended = std::get_if<StudyEnded>(&event)) {
      Forget(ended->study);
      ordinary_.erase(ended->study);
      over_.erase(ended->study);
    }
  }

  std::optional<Action> Decide(const View& view, Time now) override {
    Recall(view);
    PassDeadlines(view, now);
    TakeMetrics(view, now);
    if (!releases_.empty()) {
      Action next = std::move(releases_.back());
      releases_.pop_back();
      return next;
    }
    if (!claims_.empty()) {
      const ClaimStep next = claims_.back();
      claims_.pop_back();
      return next;
    }
    if (auto evaluation = view.BestEvaluation()) return evaluation;
    if (auto leaving = NextToLeave(view, now)) return leaving;
    if (auto start = NextStart(view, now)) return start;
    if (auto label = NextLabel()) return label;
    return StartForOthers(view);
  }

 private:
  // Once: what is there already. Nobody is judged by it: that was done when it came.
  void Recall(const View& view) {
    if (std::exchange(has_recalled_, true)) return;
    std::unordered_map<TrialId, StandingMark> marks;
    for (const LabelTrial& label : view.LabelsOf(kName)) {
      if (const auto mark = ParseStandingMark(label.text)) marks.emplace(label.trial, *mark);
    }
    for (const PolicyStudy& study : view.StudiesWithDeadline()) {
      if (view.TrialsOf(study.id).empty()) continue;
      DeadlineStudy& known = studies_.try_emplace(study.id, study).first->second;
      for (const PolicyTrial& trial : view.TrialsOf(study.id)) {
        const auto mark = marks.find(trial.id);
        Enter(known, trial, mark == marks.end() ? StandingMark{} : mark->second, view);
      }
    }
    for (const ReadyWork& work : view.Ready()) Note(work, true);
    for (const RunId run : view.Runs()) Begin(run, view);
  }

  // Null: it has no deadline, or it has passed.
  DeadlineStudy* StudyOf(TrialId trial) {
    const auto study = study_of_.find(trial);
    return study == study_of_.end() ? nullptr : &studies_.at(study->second);
  }

  void AddTrial(TrialId id, const View& view) {
    const std::optional<PolicyTrial> trial = view.Trial(id);
    if (!trial || ordinary_.contains(trial->study)) return;
    if (over_.contains(trial->study)) return Release(id, "released: its deadline has passed", view);
    const PolicyStudy study = view.Study(trial->study);
    if (!study.choices.deadline) return void(ordinary_.insert(study.id));
    DeadlineStudy& known = studies_.try_emplace(study.id, study).first->second;
    Enter(known, *trial, known.Has(id) ? known.MarkOf(id) : StandingMark{}, view);
    trained_.JoinAll(*trial, view);
    measured_.insert(id);
  }

  // O(depth + what is measured on its way).
  void Enter(DeadlineStudy& study, const PolicyTrial& trial, const StandingMark& mark, const View& view) {
    const bool is_new = !study.Has(trial.id);
    study.Set(trial, mark);
    ways_.Add(trial, view);
    if (!is_new) return;
    study_of_.emplace(trial.id, trial.study);
    study.MeasureAgain(trial.id, view.CurveTo(trial.study, trial.plan, trial.furthest));
  }

  void SetStanding(TrialId trial, DeadlineStanding standing) {
    DeadlineStudy& study = *StudyOf(trial);
    if (study.MarkOf(trial).standing == standing) return;
    study.SetStanding(trial, standing);
    unwritten_.insert(trial);
  }

  // O(plan nodes and claims below it, and for each of these trials its depth).
  void Begin(RunId id, const View& view) {
    const std::optional<RunView> run = view.Run(id);
    if (!run || run->path.empty()) return;
    trained_.Begin(*run);
    if (!ways_.AnyIn(run->plan)) return;
    for (const PolicyTrial& trial : WaitingFor(*run, view)) {
      if (StudyOf(trial.id) != nullptr) trained_.Join(id, trial, view);
    }
  }

  // A run has begun.
  void EndResizing(RunId id, const View& view) {
    for (const TrialId trial : trained_.TrialsOf(id, view)) {
      if (StudyOf(trial)->MarkOf(trial).standing == DeadlineStanding::kResizing) {
        SetStanding(trial, DeadlineStanding::kLive);
      }
    }
  }

  void Note(const ReadyWork& work, bool is_ready) {
    const std::tuple place(work.plan, work.first, work.source);
    is_ready ? static_cast<void>(ready_.insert(place)) : static_cast<void>(ready_.erase(place));
  }

  // O(its trials).
  void Forget(StudyId id) {
    const auto study = studies_.find(id);
    if (study == studies_.end()) return;
    for (const TrialId trial : study->second.Trials()) {
      ways_.Forget(study->second.Trial(trial));
      study_of_.erase(trial);
      unwritten_.erase(trial);
      trained_.Forget(trial);
    }
    studies_.erase(study);
  }

  // O(studies with a deadline).
  void PassDeadlines(const View& view, Time now) {
    std::vector<StudyId> passed;
    for (const auto& [id, study] : studies_) {
      if (now >= study.deadline()) passed.push_back(id);
    }
    for (const StudyId id : passed) {
      const DeadlineStudy& study = studies_.at(id);
      const bool may_stop = study.study().choices.may_stop;
      for (const TrialId trial : study.Trials()) {
        if (may_stop) Release(trial, "released at its deadline: " + Print(study.MarkOf(trial)), view);
      }
      Forget(id);
      (may_stop ? over_ : ordinary_).insert(id);
    }
  }

  // Actions are taken from the end.
  void Release(TrialId trial, const std::string& why, const View& view) {
    if (!view.Waits(trial)) return;
    releases_.emplace_back(ReleaseTrial{trial});
    releases_.emplace_back(LabelTrial{trial, why});
  }

  // All that has happened at once is known before anybody is judged by it. O(trials of such studies through these
  // points).
  void TakeMetrics(const View& view, Time now) {
    for (const MetricsCame& came : std::exchange(came_, {})) {
      if (!ways_.AnyIn(came.plan)) continue;
      Measure(came, view);
      for (const RunId run : trained_.RunsThrough(came.plan, came.point)) Report(run, came, view, now);
    }
    for (const TrialId trial : std::exchange(measured_, {})) {
      const DeadlineStudy* study = StudyOf(trial);
      if (study == nullptr || !view.Waits(trial)) continue;
      if (study->IsBehind(trial)) SetStanding(trial, DeadlineStanding::kHeld);
    }
  }

  // For all trials whose ways it is on.
  void Measure(const MetricsCame& came, const View& view) {
    std::map<StudyId, std::optional<double>> scores;
    for (const TrialId id : ways_.Through(came.plan, came.point)) {
      DeadlineStudy& study = *StudyOf(id);
      const auto [score, is_new] = scores.try_emplace(study.study().id);
      if (is_new) score->second = ScoreAt(study.study().id, came, view);
      if (!score->second) continue;
      if (came.point.step > study.MeasuredTo(id)) {
        study.Measure(id, came.point.step, *score->second);
      } else {  // other steps of its way were measured before
        study.MeasureAgain(id, view.CurveTo(study.study().id, came.plan, study.Trial(id).furthest));
      }
      measured_.insert(id);
    }
  }

  // None: another evaluation's.
  static std::optional<double> ScoreAt(StudyId study, const MetricsCame& came, const View& view) {
    const std::vector<MeasuredAt> curve = view.CurveTo(study, came.plan, came.point);
    if (curve.empty() || curve.back().point != came.point) return std::nullopt;
    return curve.back().value;
  }

  // The metric is of its path.
  void Report(RunId run, const MetricsCame& came, const View& view, Time now) {
    reported_.insert(run);
    const std::optional<TrialId> best = BestGoing(run, view);
    if (!best) return;
    StudyOf(*best)->SetTrained(*best, came.point.step, view.TrainedTime(came.plan, came.point));
    unwritten_.insert(*best);
    ClaimLastState(*best, run, came.point.step, view, now);
  }

  // Where the deadline is near, what is measured next is stored, too: it may be the last.
  void ClaimLastState(TrialId trial, RunId run, Step step, const View& view, Time now) {
    const DeadlineStudy& study = *StudyOf(trial);
    const std::int64_t every = std::max<std::int64_t>(1, study.study().evaluate_every);
    const double steps = static_cast<double>(kLastReports * every);
    // As slow as on one slot: more of them may not speed it up as was said.
    const Seconds soon = view.SwitchingTime(run) + steps * study.step();
    if (!study.study().choices.may_stop || Seconds(study.deadline() - now) > soon) return;
    const Step next{((step.value + 1) / every + 1) * every};  // the step after this one may be at its end
    if (next < study.Trial(trial).furthest.step) claims_.push_back({trial, next});
  }

  // Of those that it is for, that train: by it the run has its rank. None: it is for others, or for held ones.
  std::optional<TrialId> BestGoing(RunId run, const View& view) {
    std::optional<TrialId> best;
    for (const TrialId trial : trained_.TrialsOf(run, view)) {
      const DeadlineStudy& study = *StudyOf(trial);
      if (!study.going().contains(trial)) continue;
      const bool is_better = !best || (&study == StudyOf(*best) && study.IsBetter(trial, *best));
      if (is_better) best = trial;
    }
    return best;
  }

  // Of those that have reported: for held trials alone, or one that gets more slots. O(plan nodes and claims below
  // these).
  std::optional<PreemptRun> NextToLeave(const View& view, Time now) {
    while (!reported_.empty()) {
      const RunId id = reported_.extract(reported_.begin()).value();
      if (!view.CanPreempt(id)) continue;
      const RunView run = view.Run(id).value();
      const std::vector<PolicyTrial> waiting = WaitingFor(run, view);
      const bool is_theirs = !waiting.empty() && std::ranges::all_of(waiting, [&](const PolicyTrial& trial) {
        return StudyOf(trial.id) != nullptr;
      });
      if (!is_theirs) continue;
      if (IsHeld(waiting) || IsToGrow(run, view, now)) return PreemptRun{id};
    }
    return std::nullopt;
  }

  bool IsHeld(const std::vector<PolicyTrial>& waiting) {
    return std::ranges::all_of(waiting, [&](const PolicyTrial& trial) {
      return StudyOf(trial.id)->MarkOf(trial.id).standing == DeadlineStanding::kHeld;
    });
  }

  // Its trial is resizing then.
  bool IsToGrow(const RunView& run, const View& view, Time now) {
    const std::optional<TrialId> trial = BestGoing(run.id, view);
    if (!trial) return false;
    DeadlineStudy& study = *StudyOf(*trial);
    const Seconds change = view.SwitchingTime(run.id);
    if (study.step() == Seconds(0)) return false;  // none was measured
    if (Seconds(now - run.ordered_at) <= std::max(kChangesBetween * change, study.step())) return false;
    const std::int64_t target = std::min(TargetOf(study, *trial, view), MostSlotsFor(run, view));
    if (target <= run.slots) return false;
    const auto& said = study.study().choices.speeds;
    const Seconds left(study.deadline() - now);
    if (!IsWorthResizing(left, change, SpeedOn(run.slots, said), SpeedOn(target, said))) return false;
    SetStanding(*trial, DeadlineStanding::kResizing);
    return true;
  }

  // As its rank among the runs of the study, and those that wait for a slot, says. O(runs + trials that go on, log).
  std::int64_t TargetOf(DeadlineStudy& study, TrialId wanted, const View& view) {
    const std::vector<TrialId> waiting = WaitingOf(study, view);
    std::set<TrialId> heads(waiting.begin(), waiting.end());
    for (const RunId run : trained_.runs()) {
      const std::optional<TrialId> best = BestGoing(run, view);
      if (best && StudyOf(*best) == &study) heads.insert(*best);
    }
    std::vector<TrialId> ranked(heads.begin(), heads.end());
    study.SortByScore(ranked);
    const auto rank = std::ranges::find(ranked, wanted) - ranked.begin();
    if (rank == std::ssize(ranked)) return 1;
    const std::int64_t part = PartOf(study, study.Trial(wanted).plan, view);
    return std::max<std::int64_t>(1, Deal(part, ranked.size())[static_cast<std::size_t>(rank)]);
  }

  // Those that go on, and that no run trains for. O(those that go on).
  std::vector<TrialId> WaitingOf(const DeadlineStudy& study, const View& view) const {
    std::vector<TrialId> waiting;
    for (const TrialId trial : study.going()) {
      if (!trained_.IsTrained(trial, view) && view.Waits(trial)) waiting.push_back(trial);
    }
    return waiting;
  }

  // Of the slots of the pool those that are the study's.
  std::int64_t PartOf(const DeadlineStudy& study, PlanId plan, const View& view) {
    double weights = 0;
    for (const auto& [id, other] : studies_) weights += view.Study(id).weight;
    const double part = view.Study(study.study().id).weight / weights * static_cast<double>(SlotsOf(plan, view));
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(part));
  }

  std::int64_t SlotsOf(PlanId plan, const View& view) {
    const auto [known, is_new] = slots_of_pool_.try_emplace(view.PoolOf(plan), 0);
    if (!is_new) return known->second;
    known->second = SlotsFor(plan, view);
    return known->second;
  }

  // The earliest deadline first. Where no slot is idle, O(studies with a deadline).
  std::optional<StartPath> NextStart(const View& view, Time now) {
    std::vector<DeadlineStudy*> sorted;
    for (auto& [id, study] : studies_) sorted.push_back(&study);
    std::ranges::stable_sort(sorted, {}, [](const DeadlineStudy* each) { return each->deadline(); });
    for (DeadlineStudy* study : sorted) {
      if (auto start = StartOfWaiting(*study, view)) return start;
      if (auto start = StartOfHeld(*study, view, now)) return start;
      if (auto start = StartOfFresh(*study, view, now)) return start;
    }
    return std::nullopt;
  }

  // Of one that has left its slots, the best first.
  std::optional<StartPath> StartOfWaiting(DeadlineStudy& study, const View& view) {
    std::vector<TrialId> waiting = WaitingOf(study, view);
    study.SortByScore(waiting);
    for (const TrialId trial : waiting) {
      if (!view.HasIdleSlot(study.Trial(trial).plan)) return std::nullopt;
      if (auto start = StartOf(study.Trial(trial), TargetOf(study, trial, view), view)) return start;
    }
    return std::nullopt;
  }

  static bool StillWaits(DeadlineStudy& study, TrialId trial, const View& view) {
    const bool waits = view.Waits(trial);
    if (!waits) study.Leave(trial);
    return waits;
  }

  std::optional<StartPath> StartOfHeld(DeadlineStudy& study, const View& view, Time now) {
    std::optional<TrialId> best = study.BestHeld();
    while (best && !StillWaits(study, *best, view)) best = study.BestHeld();
    if (!best || !MayEnter(study, *best, view, now)) return std::nullopt;
    return Enter(study, *best, view);
  }

  std::optional<StartPath> StartOfFresh(DeadlineStudy& study, const View& view, Time now) {
    const std::vector<TrialId> fresh = FirstOf(study.fresh(), kTriesMax);
    for (const TrialId trial : fresh) {
      if (!StillWaits(study, trial, view)) continue;
      if (!MayEnter(study, trial, view, now)) return std::nullopt;
      if (auto start = Enter(study, trial, view)) return start;
    }
    return std::nullopt;
  }

  static std::vector<TrialId> FirstOf(const std::set<TrialId>& trials, int count) {
    std::vector<TrialId> first;
    for (auto next = trials.begin(); next != trials.end() && std::ssize(first) < count; ++next) first.push_back(*next);
    return first;
  }

  // Where a slot is idle, O(runs).
  bool MayEnter(DeadlineStudy& study, TrialId trial, const View& view, Time now) {
    const PolicyTrial& of = study.Trial(trial);
    if (!view.HasIdleSlot(of.plan) || UsedBy(study, view) >= PartOf(study, of.plan, view)) return false;
    const Seconds left(study.deadline() - now);
    if (NoneGoes(study, view) && study.MarkOf(trial).standing == DeadlineStanding::kHeld) return true;
    return IsWorthEntering(
        {.steps = of.furthest.step.value, .step = study.step(), .furthest = study.furthest(), .left = left},
        study.reduction());
  }

  // A trial that is done is among those that go on until it is looked at.
  static bool NoneGoes(const DeadlineStudy& study, const View& view) {
    return std::ranges::none_of(study.going(), [&](TrialId trial) { return view.Waits(trial); });
  }

  std::int64_t UsedBy(const DeadlineStudy& study, const View& view) {
    auto used = std::ssize(WaitingOf(study, view));
    for (const RunId run : trained_.runs()) {
      const std::optional<TrialId> best = BestGoing(run, view);
      if (best && StudyOf(*best) == &study) used += view.Run(run).value().slots;
    }
    return used;
  }

  // On one slot.
  std::optional<StartPath> Enter(DeadlineStudy& study, TrialId trial, const View& view) {
    std::optional<StartPath> start = StartOf(study.Trial(trial), 1, view);
    if (start) SetStanding(trial, DeadlineStanding::kLive);
    return start;
  }

  // On so many slots, or as many as one device has free. None: it cannot be started now. O(depth log + devices).
  std::optional<StartPath> StartOf(const PolicyTrial& trial, std::int64_t slots, const View& view) const {
    const std::optional<ReadyWork> work = WorkFor(trial, view);
    return work ? StartOn(*work, slots, view) : std::nullopt;
  }

  // The furthest work on the trial's way that can begin. O(depth log).
  std::optional<ReadyWork> WorkFor(const PolicyTrial& trial, const View& view) const {
    const std::vector<Point> way = view.WayTo(trial.plan, trial.furthest);
    for (auto last = way.rbegin(); last != way.rend(); ++last) {
      const auto beyond = ready_.upper_bound({trial.plan, last->node, kBeyond});
      if (beyond == ready_.begin()) continue;
      const auto& [plan, first, source] = *std::prev(beyond);
      if (plan == trial.plan && first == last->node) return ReadyWork{plan, source, first};
    }
    return std::nullopt;
  }

  std::optional<LabelTrial> NextLabel() {
    if (unwritten_.empty()) return std::nullopt;
    const TrialId trial = unwritten_.extract(unwritten_.begin()).value();
    return LabelTrial{trial, Print(StudyOf(trial)->MarkOf(trial))};
  }

  // As critical path does; not while a trial is on its way to more slots.
  std::optional<Action> StartForOthers(const View& view) const {
    std::set<StudyId> with_deadline;
    for (const auto& [id, study] : studies_) {
      if (study.HasResizing()) return std::nullopt;
      with_deadline.insert(id);
    }
    return view.BestStartExcept(with_deadline);
  }

  bool has_recalled_ = false;
  std::map<StudyId, DeadlineStudy> studies_;  // whose deadline has not passed
  std::unordered_map<TrialId, StudyId> study_of_;
  TrialWays ways_;              // theirs
  std::set<StudyId> ordinary_;  // without a deadline, or past it
  std::set<StudyId> over_;      // past it, and their trials are released
  TrainedTrials trained_;
  std::set<RunId> reported_;  // since they were looked at
  std::set<std::tuple<PlanId, PlanNodeId, Point>> ready_;
  std::map<std::string, std::int64_t> slots_of_pool_;
  std::vector<MetricsCame> came_;  // since it was asked last
  std::set<TrialId> measured_;     // likewise
  std::vector<Action> releases_;
  std::vector<ClaimStep> claims_;
  std::set<TrialId> unwritten_;
};

}  // namespace

std::unique_ptr<Policy> MakeMeetDeadlines() { return std::make_unique<MeetDeadlines>(); }

}  // namespace espalier
