#include "scheduler/time_slices.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/waiting_trainings.h"

namespace espalier {
namespace {

constexpr double kSwitches = 5;  // a slice is as long as so many changes of runs, at least
// Of starts that no idle slot may take, and of trainings that are given none, each time it is asked.
constexpr std::size_t kTriesMax = 64;

double ByRate(const SliceMark& mark) { return mark.convergence->rate; }
double ByLoss(const SliceMark& mark) { return mark.convergence->loss; }
double ByWait(const SliceMark& mark) { return -static_cast<double>(mark.since.time_since_epoch().count()); }

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
    if (std::holds_alternative<ServersChanged>(event)) PlaceAll(view);
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
    Reorder(mark.plan, mark.at, trial, view);
    if (before) HandOn(trial, *before, view);
  }

  // The trial's mark has gone from its place; what waits there knows it still.
  void HandOn(TrialId trial, const SliceMark& mark, const View& view) {
    const ReadyWork* work = waiting_.FirstAt(mark.plan, mark.at);
    if (work == nullptr) return;
    if (mark.convergence && marks_.At(mark.plan, mark.at) == nullptr) Hold(*work, mark, view);
    Reorder(mark.plan, mark.at, trial, view);
  }

  // Puts the mark where the work begins, on one of the work's own trials; not on one that other work waits with, too.
  void Hold(const ReadyWork& work, SliceMark mark, const View& view) {
    const auto trial = view.WaitingBelow(work);
    if (!trial) return;
    if (const SliceMark* has = marks_.Of(*trial)) {
      const ReadyWork* other = waiting_.FirstAt(has->plan, has->at);
      if (other != nullptr && view.WaitingBelow(*other) == trial) return;
    }
    mark.at = work.source;
    mark.losses = {};
    Write(*trial, mark, view);
  }

  // The work has appeared, or changed, or is gone. What is known of where it begins stands on one of its own trials
  // from now on, for those that know it now will train on. O(depth log).
  void Look(const ReadyWork& work, const View& view) {
    waiting_.Remove(work);
    if (!view.IsReady(work)) return;
    Place(work, view);
    if (marks_.At(work.plan, work.source) != nullptr) return;
    const SliceMark* known = marks_.Known(work.plan, view.WayTo(work.plan, work.source));
    if (known == nullptr) known = marks_.Beyond(work.plan, work.source);
    if (known != nullptr) Hold(work, SliceMark(*known), view);
  }

  // Work is as urgent as the mark at its source says; without one it is fresh. O(log), where trainings are pinned
  // O(depth log).
  Placed PlaceOf(const ReadyWork& work, TrainingPool& pool, const View& view) {
    Placed placed = KnownAt(work.plan, work.source);
    if (!rule_.pinned) return placed;
    placed.trial = view.WaitingBelow(work);
    const SliceMark* own = OwnMark(work, placed.trial);
    placed.slot = own != nullptr ? own->slot : placed.given;
    if (placed.slot && !Current(pool, work.plan, view).servers.contains(placed.slot->server)) placed.slot.reset();
    return placed;
  }

  // What is known of a place.
  Placed KnownAt(PlanId plan, Point source) const {
    const SliceMark* mark = marks_.At(plan, source);
    return mark == nullptr ? Placed{} : Placed{.urgency = rule_.urgency(*mark), .given = mark->slot};
  }

  // That of its own trial, if it is where the work begins. Null: it is not.
  const SliceMark* OwnMark(const ReadyWork& work, std::optional<TrialId> trial) const {
    const SliceMark* mark = trial ? marks_.Of(*trial) : nullptr;
    return mark != nullptr && mark->plan == work.plan && mark->at == work.source ? mark : nullptr;
  }

  // All work at one place is equally urgent: O(what waits there), if what is known of it has changed; else the trial's
  // own alone has.
  void Reorder(PlanId plan, Point source, TrialId trial, const View& view) {
    const ReadyWork* first = waiting_.FirstAt(plan, source);
    if (first == nullptr) return;
    const Placed& before = *waiting_.Find(*first);
    const Placed now = KnownAt(plan, source);
    const bool is_same = before.urgency == now.urgency && before.given == now.given;
    Place(is_same ? waiting_.OwnAt(plan, source, trial) : waiting_.AllAt(plan, source), view);
  }

  void Place(const std::vector<ReadyWork>& all, const View& view) {
    for (const ReadyWork& work : all) waiting_.Remove(work);
    for (const ReadyWork& work : all) Place(work, view);
  }

  void Place(const ReadyWork& work, const View& view) {
    TrainingPool& pool = PoolOf(work.plan, view);
    waiting_.Add(work, PlaceOf(work, pool, view), pool);
  }

  // What waits on slots that may not be given it any more waits for others; what waits for others goes back to the slot
  // that it had, if that is there again. O(all that waits x depth log).
  void PlaceAll(const View& view) {
    if (!rule_.pinned) return;
    for (auto& [name, pool] : waiting_.pools()) pool.is_current = false;
    Place(waiting_.All(), view);
  }

  TrainingPool& PoolOf(PlanId plan, const View& view) {
    TrainingPool*& known = pool_of_plan_[plan];
    if (known == nullptr) known = &waiting_.Pool(view.PoolOf(plan));
    return *known;
  }

  // Its servers and their slots, in the order of servers: looked up once, O(servers + slots log), and again when
  // servers have changed. REQUIRES: the plan is one of the pool's.
  TrainingPool& Current(TrainingPool& pool, PlanId plan, const View& view) {
    if (std::exchange(pool.is_current, true)) return pool;
    pool.servers.clear();
    std::vector<SlotId> slots;
    for (const std::string& server : view.ServersFor(plan)) {
      pool.servers.insert(server);
      const ServerRoom* room = view.RoomOf(server);
      int count = 0;
      for (int device = 0; room != nullptr && device < room->device_count(); ++device) {
        count += room->device(device).slots;
      }
      for (int index = 0; index < count; ++index) slots.push_back({server, index});
    }
    lanes_.SetPool(pool.name, slots);
    return pool;
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
      HandOn(trial.id, mark, view);
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
    const std::int64_t begun = waiting_.begun() + std::ssize(running_) + std::ssize(saving_);
    return begun < static_cast<std::int64_t>(SlotLanes::kPerSlot) * view.SlotCount();
  }

  // Gives each training that has none a slot on which it stays, in order of submission, as long as there are any with
  // fewer than they may have. O(pools + servers), and for each that is given one O(depth + pools of its server x log
  // slots), where what is known of its place changes O(what waits there).
  void Bind(const View& view) {
    const std::size_t most = SlotLanes::kPerSlot * static_cast<std::size_t>(view.SlotCount());
    for (auto& [name, pool] : waiting_.pools()) {
      for (std::set<WaitingWork>* waiting : {&pool.begun, &pool.fresh}) {
        std::set<ReadyWork> passed_over;  // nobody waits for it, or who does waits for other work first
        while (lanes_.size() < most && passed_over.size() < kTriesMax) {
          const auto next =
              std::ranges::find_if(*waiting, [&](const WaitingWork& each) { return !passed_over.contains(each.work); });
          if (next == waiting->end()) break;
          const ReadyWork work = next->work;
          const std::optional<SlotId> slot = lanes_.Fewest(Current(pool, work.plan, view).name);
          if (!slot) break;
          BindTo(*slot, work, view);
          if (!waiting_.Find(work)->slot) passed_over.insert(work);
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
    if (marks_.Of(*trial) != nullptr && OwnMark(work, trial) == nullptr) return Hold(work, mark, view);
    Write(*trial, mark, view);
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

  // O(what waits on slots where nothing trains x (depth + servers that may not have it)).
  std::optional<StartPath> NextPinned(const View& view) const {
    for (const SlotId& slot : lanes_.open()) {
      for (const WaitingWork& waiting : lanes_.WaitingOn(slot)) {
        if (auto start = StartOn(slot, waiting.work, view)) return start;
      }
    }
    return std::nullopt;
  }

  std::optional<StartPath> NextStart(const View& view) {
    for (const auto& [name, pool] : waiting_.pools()) {
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
    std::size_t tries = 0;
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
    const TrainingPool& pool = PoolOf(running.plan, view);
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
  WaitingTrainings waiting_;
  SlotLanes& lanes_ = waiting_.lanes();
  std::unordered_map<PlanId, TrainingPool*> pool_of_plan_;
  std::map<RunId, Running> running_;
  std::set<RunId> saving_;  // that train no more
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
