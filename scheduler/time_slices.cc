#include "scheduler/time_slices.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace espalier {
namespace {

constexpr std::int64_t kBegunPerSlot = 4;  // Hermes, 3.2
constexpr double kSwitches = 5;            // a slice is as long as so many changes of runs, at least
constexpr int kTriesMax = 64;              // of starts that no idle slot may take, each time it is asked

double ByRate(const SliceMark& mark) { return mark.convergence->rate; }
double ByLoss(const SliceMark& mark) { return mark.convergence->loss; }
double ByWait(const SliceMark& mark) { return -static_cast<double>(mark.since.time_since_epoch().count()); }

constexpr double kMostUrgent = std::numeric_limits<double>::infinity();

// Which of the metrics is the loss: an index into the names. None: none is.
std::optional<std::size_t> LossAmong(const std::vector<std::string>& names) {
  auto loss = std::ranges::find(names, "loss");
  if (loss == names.end()) {
    loss = std::ranges::find_if(names, [](const std::string& name) { return name.ends_with("loss"); });
  }
  return loss == names.end() ? std::nullopt : std::optional(static_cast<std::size_t>(loss - names.begin()));
}

class TimeSlices : public Policy {
 public:
  explicit TimeSlices(const SliceRule& rule) : rule_(rule) {}

  std::string_view name() const override { return rule_.name; }
  Ranking ranking() const override { return Ranking::kLongest; }
  bool is_fair() const override { return false; }

  void Take(const PolicyEvent& event, const View& view) override {
    Recall(view);
    if (const auto* changed = std::get_if<WorkChanged>(&event)) Look(changed->work, view);
    if (const auto* started = std::get_if<RunBegan>(&event)) Begin(started->run, view);
    if (const auto* trained = std::get_if<Trained>(&event)) Add(*trained, view);
    if (const auto* ended = std::get_if<RunStopped>(&event)) running_.erase(ended->run);
    if (const auto* ended = std::get_if<StudyEnded>(&event)) Forget(ended->study, view);
  }

  std::optional<Action> Decide(const View& view, Time now) override {
    Recall(view);
    EndSlices(view, now);
    if (std::optional<LabelTrial> label = NextLabel()) return label;
    if (std::optional<StartPath> evaluation = view.BestEvaluation()) return evaluation;
    if (std::optional<StartPath> start = NextStart(view)) return start;
    return NextToLeave(view);
  }

 private:
  struct Running {
    PlanId plan;
    Point end;
    TrialId marked;         // has the run's mark
    bool has_news = false;  // since its slice was looked at last
  };
  // Work that waits for a slot: the most urgent first, then the earliest submitted, whose node is the smallest.
  struct Waiting {
    double urgency = 0;
    ReadyWork work;
    friend bool operator<(const Waiting& a, const Waiting& b) {
      if (a.urgency != b.urgency) return a.urgency > b.urgency;
      return std::tie(a.work.first, a.work) < std::tie(b.work.first, b.work);
    }
  };
  // Of trainings that the same servers offer.
  struct Pool {
    std::set<Waiting> begun;
    std::set<Waiting> fresh;  // urgency: kMostUrgent
  };

  // Once: what is there already.
  void Recall(const View& view) {
    if (std::exchange(has_recalled_, true)) return;
    for (const LabelTrial& label : view.LabelsOf(rule_.name)) {
      if (const auto mark = ParseSliceMark(label.text)) marks_.Set(label.trial, *mark);
    }
    for (const ReadyWork& work : view.Ready()) Place(work, view);
    for (const RunId run : view.Runs()) Begin(run, view);
  }

  // O(log), and where it leaves a place at which something waits, or changes how urgent that is, O(depth + what waits
  // there).
  void Write(TrialId trial, const SliceMark& mark, const View& view) {
    const SliceMark* known = marks_.Of(trial);
    const std::optional<SliceMark> before = known == nullptr ? std::nullopt : std::optional(*known);
    marks_.Set(trial, mark);
    unwritten_.insert(trial);
    Reorder(mark.plan, mark.at, view);
    if (before) HandOn(*before, view);
  }

  // The mark has gone from its place; what waits there knows it still.
  void HandOn(const SliceMark& mark, const View& view) {
    const ReadyWork* work = FirstAt(mark.plan, mark.at);
    if (work == nullptr) return;
    if (mark.convergence && marks_.At(mark.plan, mark.at) == nullptr) Hold(*work, mark, view);
    Reorder(mark.plan, mark.at, view);
  }

  // Puts the mark where the work begins, on one of the work's own trials; not on one that other work waits with, too.
  void Hold(const ReadyWork& work, SliceMark mark, const View& view) {
    const auto trial = view.WaitingBelow(work);
    if (!trial) return;
    if (const SliceMark* has = marks_.Of(*trial)) {
      const ReadyWork* other = FirstAt(has->plan, has->at);
      if (other != nullptr && view.WaitingBelow(*other) == trial) return;
    }
    mark.at = work.source;
    mark.losses = {};
    Write(*trial, mark, view);
  }

  // The work has appeared, or changed, or is gone. What is known of where it begins stands on one of its own trials
  // from now on, for those that know it now will train on. O(depth log).
  void Look(const ReadyWork& work, const View& view) {
    Drop(work, view);
    if (!view.IsReady(work)) return;
    Place(work, view);
    if (marks_.At(work.plan, work.source) != nullptr) return;
    const SliceMark* known = marks_.Known(work.plan, view.WayTo(work.plan, work.source));
    if (known == nullptr) known = marks_.Beyond(work.plan, work.source);
    if (known != nullptr) Hold(work, SliceMark(*known), view);
  }

  // Work is as urgent as the mark at its source says; without one it is fresh.
  double UrgencyAt(PlanId plan, Point source) const {
    const SliceMark* mark = marks_.At(plan, source);
    return mark == nullptr ? kMostUrgent : rule_.urgency(*mark);
  }

  // Null: nothing waits there.
  const ReadyWork* FirstAt(PlanId plan, Point source) const {
    const auto work = waiting_.lower_bound({plan, source, {}});
    if (work == waiting_.end() || work->first.plan != plan || work->first.source != source) return nullptr;
    return &work->first;
  }

  // All work at one place is equally urgent.
  void Reorder(PlanId plan, Point source, const View& view) {
    const ReadyWork* first = FirstAt(plan, source);
    if (first == nullptr || waiting_.at(*first) == UrgencyAt(plan, source)) return;
    std::vector<ReadyWork> all;
    for (auto it = waiting_.find(*first); it != waiting_.end() && it->first.plan == plan && it->first.source == source;
         ++it) {
      all.push_back(it->first);
    }
    for (const ReadyWork& work : all) Drop(work, view);
    for (const ReadyWork& work : all) Place(work, view);
  }

  void Place(const ReadyWork& work, const View& view) {
    const double urgency = UrgencyAt(work.plan, work.source);
    waiting_[work] = urgency;
    PlacesOf(urgency, work, view).insert({urgency, work});
    begun_ += urgency == kMostUrgent ? 0 : 1;
  }

  void Drop(const ReadyWork& work, const View& view) {
    const auto known = waiting_.find(work);
    if (known == waiting_.end()) return;
    PlacesOf(known->second, work, view).erase({known->second, work});
    begun_ -= known->second == kMostUrgent ? 0 : 1;
    waiting_.erase(known);
  }

  std::set<Waiting>& PlacesOf(double urgency, const ReadyWork& work, const View& view) {
    Pool& pool = PoolOf(work.plan, view);
    return urgency == kMostUrgent ? pool.fresh : pool.begun;
  }

  Pool& PoolOf(PlanId plan, const View& view) {
    Pool*& known = pool_of_plan_[plan];
    if (known == nullptr) known = &pools_[view.PoolOf(plan)];
    return *known;
  }

  // O(depth log).
  void Begin(RunId id, const View& view) {
    const std::optional<RunView> run = view.Run(id);
    if (!run || run->path.empty() || running_.contains(id)) return;
    const Point end{run->path.back().node, run->path.back().to};
    const std::optional<TrialId> trial = view.WaitingFor(run->plan, end);
    if (!trial) return;
    const SliceMark* own = marks_.Of(*trial);
    if (own == nullptr || own->plan != run->plan || own->since < run->ordered_at) {
      SliceMark mark{.plan = run->plan, .since = run->ordered_at};
      mark.at = run->start.value_or(Point{run->path.front().node, Step{0}});
      const SliceMark* known = marks_.Known(run->plan, view.WayTo(run->plan, mark.at));
      if (known != nullptr) mark.convergence = known->convergence;
      Write(*trial, mark, view);
    }
    running_.emplace(id, Running{run->plan, end, *trial});
  }

  void Add(const Trained& trained, const View& view) {
    const auto entry = running_.find(trained.run);
    if (entry == running_.end() || !view.Run(trained.run)) return;  // what a run says as it stops is not remembered
    const auto& [names, steps, values] = trained.series;
    const std::optional<std::size_t> loss = LossAmong(names);
    if (!loss) return;
    Running& running = entry->second;
    SliceMark mark = *marks_.Of(running.marked);
    for (std::size_t i = 0; i < steps.size(); ++i) mark.losses.Add(values[i * names.size() + *loss]);
    mark.at = {trained.node, steps.back()};
    Write(running.marked, mark, view);
    running.has_news = true;
  }

  void Forget(StudyId study, const View& view) {
    for (const PolicyTrial& trial : view.TrialsOf(study)) {
      const SliceMark* known = marks_.Of(trial.id);
      if (known == nullptr) continue;
      const SliceMark mark = *known;
      marks_.Erase(trial.id);
      unwritten_.erase(trial.id);
      HandOn(mark, view);
      Remark(trial.id, mark, view);
    }
  }

  // A run goes on for others than the trial that had its mark.
  void Remark(TrialId gone, const SliceMark& mark, const View& view) {
    for (auto it = running_.begin(); it != running_.end();) {
      Running& running = it->second;
      if (running.marked == gone) {
        const auto other = view.WaitingFor(mark.plan, running.end);
        if (!other) {
          it = running_.erase(it);
          continue;
        }
        running.marked = *other;
        Write(*other, mark, view);
      }
      ++it;
    }
  }

  Seconds LengthOf(RunId run, const SliceMark& mark, const View& view) const {
    const int doublings = rule_.grows && mark.convergence ? mark.convergence->milestones : 0;
    return std::max(rule_.length * (1 << doublings), kSwitches * view.SwitchingTime(run));
  }

  void EndSlices(const View& view, Time now) {
    for (auto& [id, running] : running_) {
      if (!std::exchange(running.has_news, false)) continue;
      SliceMark mark = *marks_.Of(running.marked);
      // The first slice's rate is a span.
      if (mark.losses.count < (mark.convergence ? 1 : 2)) continue;
      if (now - mark.since < LengthOf(id, mark, view)) continue;
      mark.convergence = After(mark.convergence, mark.losses);
      mark.losses = {};
      mark.since = now;
      Write(running.marked, mark, view);
      may_leave_.insert({rule_.urgency(mark), id});
    }
  }

  std::optional<LabelTrial> NextLabel() {
    if (unwritten_.empty()) return std::nullopt;
    const TrialId trial = unwritten_.extract(unwritten_.begin()).value();
    return LabelTrial{trial, Print(*marks_.Of(trial))};
  }

  bool MayBeginMore(const View& view) const { return begun_ + std::ssize(running_) < kBegunPerSlot * view.SlotCount(); }

  std::optional<StartPath> NextStart(const View& view) {
    for (const auto& [name, pool] : pools_) {
      const std::set<Waiting>& any = pool.begun.empty() ? pool.fresh : pool.begun;
      if (any.empty() || !view.HasIdleSlot(any.begin()->work.plan)) continue;
      const bool fresh_first = MayBeginMore(view);
      for (const bool fresh : {fresh_first, !fresh_first}) {
        if (auto start = FirstStart(fresh ? pool.fresh : pool.begun, view)) return start;
      }
    }
    return std::nullopt;
  }

  static std::optional<StartPath> FirstStart(const std::set<Waiting>& waiting, const View& view) {
    int tries = 0;
    for (auto next = waiting.begin(); next != waiting.end() && tries < kTriesMax; ++next, ++tries) {
      if (auto start = view.StartOf(next->work)) return start;
    }
    return std::nullopt;
  }

  // Of those whose slice has just ended, the least urgent first.
  std::optional<PreemptRun> NextToLeave(const View& view) {
    while (!may_leave_.empty()) {
      const auto [urgency, id] = may_leave_.extract(may_leave_.begin()).value();
      const auto running = running_.find(id);
      if (running == running_.end() || !view.CanPreempt(id)) continue;
      if (MostUrgent(running->second.plan, view) > urgency) return PreemptRun{id};
    }
    return std::nullopt;
  }

  // Of what waits for slots of such plans, that none that is being freed will be given.
  double MostUrgent(PlanId plan, const View& view) {
    const Pool& pool = PoolOf(plan, view);
    std::size_t spoken_for = view.LeavingFor(plan);
    const auto take = [&](const std::set<Waiting>& places) -> std::optional<double> {
      if (spoken_for < places.size())
        return std::next(places.begin(), static_cast<std::ptrdiff_t>(spoken_for))->urgency;
      spoken_for -= places.size();
      return std::nullopt;
    };
    if (MayBeginMore(view)) {
      if (const auto urgency = take(pool.fresh)) return *urgency;
    }
    return take(pool.begun).value_or(-kMostUrgent);
  }

  const SliceRule rule_;
  bool has_recalled_ = false;
  SliceMarks marks_;
  std::set<TrialId> unwritten_;
  std::map<ReadyWork, double> waiting_;  // and its urgency
  std::map<std::string, Pool> pools_;
  std::unordered_map<PlanId, Pool*> pool_of_plan_;
  std::int64_t begun_ = 0;  // of those that wait
  std::map<RunId, Running> running_;
  std::set<std::pair<double, RunId>> may_leave_;
};

}  // namespace

const SliceRule kHermes{.name = "hermes", .length = Seconds(10), .grows = true, .urgency = ByRate};
const SliceRule kSlaq{.name = "slaq", .length = Seconds(30), .urgency = ByLoss};
const SliceRule kRoundRobin{.name = "round_robin", .length = Seconds(30), .urgency = ByWait};

std::unique_ptr<Policy> MakeTimeSlices(const SliceRule& rule) { return std::make_unique<TimeSlices>(rule); }

}  // namespace espalier
