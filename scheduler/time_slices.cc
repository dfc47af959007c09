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

#include "scheduler/slot_lanes.h"

namespace espalier {
namespace {

constexpr double kSwitches = 5;  // a slice is as long as so many changes of runs, at least
constexpr int kTriesMax = 64;    // of starts that no idle slot may take, each time it is asked

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
    if (const auto* ended = std::get_if<RunStopped>(&event)) Stop(ended->run, view);
    if (const auto* ended = std::get_if<StudyEnded>(&event)) Forget(ended->study, view);
    if (std::holds_alternative<ServersChanged>(event)) Unbind(view);
    may_bind_ = true;
  }

  std::optional<Action> Decide(const View& view, Time now) override {
    Recall(view);
    NoteStored(view);
    EndSlices(view, now);
    if (rule_.pinned && std::exchange(may_bind_, false)) Bind(view);
    if (std::optional<LabelTrial> label = NextLabel()) return label;
    if (std::optional<StartPath> evaluation = view.BestEvaluation()) return evaluation;
    if (std::optional<StartPath> start = rule_.pinned ? NextPinned(view) : NextStart(view)) return start;
    return NextToLeave(view);
  }

 private:
  struct Running {
    PlanId plan;
    Point end;
    SlotId slot;
    TrialId marked;         // has the run's mark
    bool has_news = false;  // since its slice was looked at last
  };
  // Where work waits.
  struct Placed {
    double urgency = 0;
    std::optional<SlotId> slot;  // none: in its pool
    friend bool operator==(const Placed&, const Placed&) = default;
  };
  // Of trainings that the same servers offer.
  struct Pool {
    std::set<WaitingWork> begun;
    std::set<WaitingWork> fresh;  // urgency: kMostUrgent
  };

  // Once: what is there already.
  void Recall(const View& view) {
    if (std::exchange(has_recalled_, true)) return;
    for (const LabelTrial& label : view.LabelsOf(rule_.name)) {
      if (const auto mark = ParseSliceMark(label.text)) marks_.Set(label.trial, *mark);
    }
    for (const ReadyWork& work : view.Ready()) Place(work, view);
    for (const RunId run : view.Runs()) Begin(run, view);
    for (const RunId run : view.Saving()) Stop(run, view);
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

  // Work is as urgent as the mark at its source says; without one it is fresh. O(log), where trainings are pinned
  // O(depth + servers).
  Placed PlaceOf(const ReadyWork& work, const View& view) const {
    const SliceMark* mark = marks_.At(work.plan, work.source);
    Placed placed{.urgency = mark == nullptr ? kMostUrgent : rule_.urgency(*mark), .slot = std::nullopt};
    if (!rule_.pinned) return placed;
    if (const SliceMark* own = OwnMark(work, view)) mark = own;
    if (mark != nullptr && mark->slot && Serves(*mark->slot, work.plan, view)) placed.slot = mark->slot;
    return placed;
  }

  // That of its own trial, if it is where the work begins. Null: it is not.
  const SliceMark* OwnMark(const ReadyWork& work, const View& view) const {
    const auto trial = view.WaitingBelow(work);
    const SliceMark* mark = trial ? marks_.Of(*trial) : nullptr;
    return mark != nullptr && mark->plan == work.plan && mark->at == work.source ? mark : nullptr;
  }

  static bool Serves(const SlotId& slot, PlanId plan, const View& view) {
    const std::vector<std::string> servers = view.ServersFor(plan);
    return std::ranges::find(servers, slot.server) != servers.end();
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
    if (first == nullptr || (!rule_.pinned && waiting_.at(*first) == PlaceOf(*first, view))) return;
    std::vector<ReadyWork> all;
    for (auto it = waiting_.find(*first); it != waiting_.end() && it->first.plan == plan && it->first.source == source;
         ++it) {
      all.push_back(it->first);
    }
    for (const ReadyWork& work : all) Drop(work, view);
    for (const ReadyWork& work : all) Place(work, view);
  }

  void Place(const ReadyWork& work, const View& view) {
    const Placed placed = PlaceOf(work, view);
    waiting_[work] = placed;
    if (placed.slot) {
      lanes_.Add(*placed.slot, {placed.urgency, work});
    } else {
      PlacesOf(placed.urgency, work, view).insert({placed.urgency, work});
    }
    begun_ += placed.urgency == kMostUrgent ? 0 : 1;
  }

  void Drop(const ReadyWork& work, const View& view) {
    const auto known = waiting_.find(work);
    if (known == waiting_.end()) return;
    const Placed& placed = known->second;
    if (placed.slot) {
      lanes_.Remove(*placed.slot, {placed.urgency, work});
    } else {
      PlacesOf(placed.urgency, work, view).erase({placed.urgency, work});
    }
    begun_ -= placed.urgency == kMostUrgent ? 0 : 1;
    waiting_.erase(known);
  }

  std::set<WaitingWork>& PlacesOf(double urgency, const ReadyWork& work, const View& view) {
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
      if (rule_.pinned) mark.slot = run->slot;
      Write(*trial, mark, view);
    }
    running_.emplace(id, Running{run->plan, end, run->slot, *trial});
    lanes_.Begin(run->slot, id);
  }

  // It trains no more; what others wait for may be on its way to the store.
  void Stop(RunId id, const View& view) {
    running_.erase(id);
    lanes_.End(id);
    const std::optional<SlotId> slot = view.SavesFrom(id);
    if (!slot) return;
    saving_.insert(id);
    lanes_.Save(*slot, id);
  }

  // O(runs that are saving).
  void NoteStored(const View& view) {
    const auto is_stored = [&](RunId run) {
      if (view.SavesFrom(run)) return false;
      lanes_.End(run);
      return may_bind_ = true;
    };
    std::erase_if(saving_, is_stored);
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

  // Those that have begun: they wait, train, or are on their way to the store.
  bool MayBeginMore(const View& view) const {
    const std::int64_t begun = begun_ + std::ssize(running_) + std::ssize(saving_);
    return begun < static_cast<std::int64_t>(SlotLanes::kPerSlot) * view.SlotCount();
  }

  // Gives each training that has none a slot on which it stays, in order of submission, as long as there are any with
  // fewer than they may have. O(trainings x slots).
  void Bind(const View& view) {
    for (auto& [name, pool] : pools_) {
      for (std::set<WaitingWork>* waiting : {&pool.begun, &pool.fresh}) {
        while (!waiting->empty() && lanes_.size() < SlotLanes::kPerSlot * static_cast<std::size_t>(view.SlotCount())) {
          const ReadyWork work = waiting->begin()->work;
          const std::optional<SlotId> slot = lanes_.Fewest(SlotsOf(work.plan, view));
          if (!slot) break;
          BindTo(*slot, work, view);
          if (!waiting_.at(work).slot) break;
        }
      }
    }
  }

  void BindTo(const SlotId& slot, const ReadyWork& work, const View& view) {
    const SliceMark* known = marks_.At(work.plan, work.source);
    SliceMark mark = known == nullptr ? SliceMark{.plan = work.plan, .at = work.source} : *known;
    mark.slot = slot;
    const auto trial = view.WaitingBelow(work);
    if (!trial) return;
    if (marks_.Of(*trial) != nullptr && OwnMark(work, view) == nullptr) return Hold(work, mark, view);
    Write(*trial, mark, view);
  }

  // In the order of servers.
  static std::vector<SlotId> SlotsOf(PlanId plan, const View& view) {
    std::vector<SlotId> slots;
    for (const std::string& server : view.ServersFor(plan)) {
      const ServerRoom* room = view.RoomOf(server);
      int count = 0;
      for (int device = 0; room != nullptr && device < room->device_count(); ++device) {
        count += room->device(device).slots;
      }
      for (int index = 0; index < count; ++index) slots.push_back({server, index});
    }
    return slots;
  }

  // What waits on slots that may not be given it any more is bound to others. O(what waits on slots x servers).
  void Unbind(const View& view) {
    std::vector<ReadyWork> gone;
    for (const SlotId& slot : lanes_.slots()) {
      for (const WaitingWork& waiting : lanes_.WaitingOn(slot)) {
        if (!Serves(slot, waiting.work.plan, view)) gone.push_back(waiting.work);
      }
    }
    for (const ReadyWork& work : gone) {
      Drop(work, view);
      Place(work, view);
    }
  }

  // On an idle slot, what waits there; what its server may not be given, or what takes more than a slot, anywhere.
  static std::optional<StartPath> StartOn(const SlotId& slot, const ReadyWork& work, const View& view) {
    std::optional<StartPath> start = view.StartOf(work);
    if (!start || !view.MayStart(work, slot.server) || view.EstimateOf(work).least != Demand{}) return start;
    const ServerRoom* room = view.RoomOf(slot.server);
    if (room == nullptr || !room->IsIdle(slot.index)) return std::nullopt;
    start->slot = slot;
    return start;
  }

  std::optional<StartPath> NextPinned(const View& view) const {
    for (const SlotId& slot : lanes_.open()) {
      for (const WaitingWork& waiting : lanes_.WaitingOn(slot)) {
        if (auto start = StartOn(slot, waiting.work, view)) return start;
      }
    }
    return std::nullopt;
  }

  std::optional<StartPath> NextStart(const View& view) {
    for (const auto& [name, pool] : pools_) {
      const std::set<WaitingWork>& any = pool.begun.empty() ? pool.fresh : pool.begun;
      if (any.empty() || !view.HasIdleSlot(any.begin()->work.plan)) continue;
      const bool fresh_first = MayBeginMore(view);
      for (const bool fresh : {fresh_first, !fresh_first}) {
        if (auto start = FirstStart(fresh ? pool.fresh : pool.begun, view)) return start;
      }
    }
    return std::nullopt;
  }

  static std::optional<StartPath> FirstStart(const std::set<WaitingWork>& waiting, const View& view) {
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
      if (MostUrgent(running->second, view) > urgency) return PreemptRun{id};
    }
    return std::nullopt;
  }

  // Of what waits for the run's slot, if trainings are pinned; else for slots of such plans, and that none that is
  // being freed will be given.
  double MostUrgent(const Running& running, const View& view) {
    if (rule_.pinned) {
      const std::set<WaitingWork>& waiting = lanes_.WaitingOn(running.slot);
      return waiting.empty() ? -kMostUrgent : waiting.begin()->urgency;
    }
    const Pool& pool = PoolOf(running.plan, view);
    std::size_t spoken_for = view.LeavingFor(running.plan);
    const auto take = [&](const std::set<WaitingWork>& places) -> std::optional<double> {
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
  std::map<ReadyWork, Placed> waiting_;
  std::map<std::string, Pool> pools_;
  std::unordered_map<PlanId, Pool*> pool_of_plan_;
  std::int64_t begun_ = 0;  // of those that wait
  std::map<RunId, Running> running_;
  std::set<RunId> saving_;  // that train no more
  SlotLanes lanes_;
  bool may_bind_ = true;
  std::set<std::pair<double, RunId>> may_leave_;
};

}  // namespace

const SliceRule kHermes{.name = "hermes", .length = Seconds(10), .grows = true, .urgency = ByRate};
const SliceRule kHermesPinned{
    .name = "hermes_pinned", .length = Seconds(10), .grows = true, .pinned = true, .urgency = ByRate};
const SliceRule kSlaq{.name = "slaq", .length = Seconds(30), .urgency = ByLoss};
const SliceRule kRoundRobin{.name = "round_robin", .length = Seconds(30), .urgency = ByWait};

std::unique_ptr<Policy> MakeTimeSlices(const SliceRule& rule) { return std::make_unique<TimeSlices>(rule); }

}  // namespace espalier
