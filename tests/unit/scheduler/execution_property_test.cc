// Random plans carried out to the end by a scheduler in a loop: derive promises, hand out paths, go one turn. Metrics
// come at once, uploads take their turns; runs are preempted, uploads and whole runs are lost.
#include <algorithm>
#include <catch2/catch.hpp>

#include "scheduler/cost_model.h"
#include "scheduler/policy.h"
#include "tests/support/random_plan.h"
#include "tests/unit/scheduler/step_by_step.h"

namespace espalier {
namespace {

constexpr std::uint64_t kSeeds = 1000;
constexpr int kTurnsMax = 10'000;
// Two slots measure the one evaluation, one the other.
const std::map<std::string, int> kSlots{{"evaluation", 2}, {"another", 1}};

struct Disturbances {
  int preemptions = 0;  // at most so many
  int losses = 0;
};

struct CarriedRun {
  RunView view;
  bool on_slot = true;
  std::map<Step, int> uploads = {};  // of states promised, with the turns that each still takes
};

class Execution {
 public:
  Execution(RandomPlan made, std::string_view policy, Disturbances disturbances, std::uint64_t seed)
      : plan_(std::move(made.plan)),
        open_(std::move(made.open)),
        policy_(std::move(MakePolicy(policy).value())),
        disturbances_(disturbances),
        random_(seed) {}

  // Until nothing is under way and nothing can be started.
  void Run() {
    for (int turn = 0; HandOut(), !runs_.empty(); ++turn) {
      REQUIRE(turn < kTurnsMax);
      CarriedRun& run = runs_[Below(runs_.size())];
      if (disturbances_.losses > 0 && Below(10) == 0) {
        --disturbances_.losses;
        Lose(run);
      } else if (run.view.training && disturbances_.preemptions > 0 && Below(10) == 0) {
        --disturbances_.preemptions;
        run.view.training = false;
      } else if (!run.on_slot || (!run.uploads.empty() && Below(2) == 0)) {
        Upload(run);
      } else {
        Work(run);
      }
      for (const PlanChange& change : SettleClaims(plan_)) plan_.Change(change);
      DerivePromises();
    }
  }

  const SearchPlan& plan() const { return plan_; }
  const std::multiset<Point>& trained() const { return trained_; }
  // What losses made necessary once more, as often as they did.
  const std::multiset<Point>& justified() const { return justified_; }
  const std::multiset<std::pair<Point, std::string>>& measured() const { return measured_; }

 private:
  std::size_t Below(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }

  std::vector<RunView> Views() const {
    std::vector<RunView> views;
    for (const CarriedRun& run : runs_) views.push_back(run.view);
    return views;
  }

  // What the run still has to do where it stands or ahead.
  static std::vector<PromisedAt> Unmet(const CarriedRun& run) {
    std::vector<PromisedAt> unmet;
    for (const PromisedAt& promise : run.view.promises) {
      if (promise.owed == Owed::kMetrics || !run.uploads.contains(promise.step)) unmet.push_back(promise);
    }
    return unmet;
  }

  static void Settle(CarriedRun& run, PromisedAt promise) {
    REQUIRE(std::erase(run.view.promises, promise) == 1);
    if (promise.owed == Owed::kState) run.uploads.erase(promise.step);
  }

  void Upload(CarriedRun& run) {
    const auto upload = std::next(run.uploads.begin(), static_cast<std::ptrdiff_t>(Below(run.uploads.size())));
    if (--upload->second > 0) return;
    const Point point = PointOnPath(run.view, upload->first);
    plan_.Checkpoint(static_cast<int>(point.node.value), static_cast<int>(point.step.value));
    Settle(run, {point.step, Owed::kState});
  }

  // One turn on the slot: keeps what is promised here, or trains a step, or leaves if it was preempted.
  void Work(CarriedRun& run) {
    const bool preempted = !run.view.training;
    const std::vector<PromisedAt> unmet = Unmet(run);
    const bool owes_here = !unmet.empty() && unmet.front().step == run.view.at;
    if (owes_here && !preempted) {
      for (const PromisedAt& promise : unmet) {
        if (promise.step == run.view.at) Keep(run, promise);
      }
      return;
    }
    if (run.view.at < PathEnd(run.view) && !owes_here && (!preempted || Below(2) == 0)) {
      run.view.at = run.view.at + 1;
      trained_.insert(PointOnPath(run.view, run.view.at));
    }
    if (preempted) LeavePreempted(run);
  }

  void Keep(CarriedRun& run, PromisedAt promise) {
    const Point point = PointOnPath(run.view, promise.step);
    if (promise.owed == Owed::kState) {
      run.uploads[promise.step] = 1 + static_cast<int>(Below(8));
      return;
    }
    plan_.Measured(static_cast<int>(point.node.value), static_cast<int>(point.step.value), run.view.evaluation);
    measured_.insert({point, run.view.evaluation});
    Settle(run, promise);
  }

  // Its state is promised as it frees the slot; what it has not met is lost, and no trained step with it.
  void LeavePreempted(CarriedRun& run) {
    for (const PromisedAt& promise : Unmet(run)) Settle(run, promise);
    const PromisedAt here{run.view.at, Owed::kState};
    const bool trained = !run.view.path.empty() && run.view.at > run.view.path.front().from;
    if (trained && !run.uploads.contains(here.step)) {
      run.view.promises.insert(std::upper_bound(run.view.promises.begin(), run.view.promises.end(), here), here);
      Keep(run, here);
    }
    run.on_slot = false;
  }

  // An upload, or the run with all that was under way, or the run without its uploads.
  void Lose(CarriedRun& run) {
    std::vector<PromisedAt> lost;
    const bool upload_alone = !run.on_slot || (!run.uploads.empty() && Below(2) == 0);
    if (upload_alone) {
      lost = {{std::next(run.uploads.begin(), static_cast<std::ptrdiff_t>(Below(run.uploads.size())))->first}};
    } else {
      lost = Below(2) == 0 ? run.view.promises : Unmet(run);
      run.view.training = false;
      run.on_slot = false;
    }
    for (const PromisedAt& promise : lost) Settle(run, promise);
    std::set<Point> again;
    for (const PromisedAt& promise : lost) {
      if (promise.owed == Owed::kState) again.merge(TrainedInVain(run.view, promise.step));
    }
    justified_.insert(again.begin(), again.end());
  }

  // What the run trained towards `step` and nothing holds: from there back to the nearest state.
  std::set<Point> TrainedInVain(const RunView& run, Step step) const {
    std::set<Point> points;
    for (Step at = std::min(step, run.at); !run.path.empty() && at > run.path.front().from; at = at - 1) {
      const Point point = PointOnPath(run, at);
      if (HasState(plan_, Views(), point)) break;
      points.insert(point);
    }
    return points;
  }

  // As the engine does after every event; a run with nothing ahead of it leaves its slot, one with nothing open ends.
  void DerivePromises() {
    const auto needed = NeededPromises(plan_, Views(), open_);
    for (CarriedRun& run : runs_) {
      const std::set<PromisedAt>& promises = needed.at(run.view.id).promises;
      for (const auto& [step, turns] : run.uploads) REQUIRE(promises.contains({step, Owed::kState}));
      run.view.promises.assign(promises.begin(), promises.end());
      if (run.view.training && Unmet(run).empty()) run.view.training = run.on_slot = false;
    }
    std::erase_if(runs_, [](const CarriedRun& run) { return !run.on_slot && run.view.promises.empty(); });
  }

  void HandOut() {
    for (const auto& [evaluation, slots] : kSlots) {
      View view;
      for (int i = 0; i < slots; ++i) view.idle_slots.push_back({evaluation, i});
      for (const CarriedRun& run : runs_) {
        if (run.on_slot && run.view.evaluation == evaluation) view.idle_slots.pop_back();
      }
      StageTree tree = BuildStageTree(plan_, Views());
      for (Stage& stage : tree.stages) stage.held = !stage.evaluation.empty() && stage.evaluation != evaluation;
      view.trees = {{tree, StageTimes(CostModel::FromPlan(plan_), plan_, tree)}};
      for (const Action& action : policy_->Decide(view, Time{})) Start(tree, std::get<StartRun>(action));
    }
  }

  void Start(const StageTree& tree, const StartRun& start) {
    const Stage& first = tree.stages[start.stages.front()];
    RunView run{.id = RunId{++last_run_}, .path = {}, .evaluation = start.slot.server, .at = first.from};
    if (const auto* from = std::get_if<FromCheckpoint>(&first.source)) run.start = from->point;
    for (const std::size_t index : start.stages) {
      const Stage& stage = tree.stages[index];
      if (stage.from < stage.to) run.path.push_back({stage.node, stage.from, stage.to});
    }
    const std::set<Point> work = AllWork(plan_, Views());
    for (Step step = first.from + 1; step <= PathEnd(run); step = step + 1) {
      REQUIRE(work.contains(PointOnPath(run, step)));  // nothing is ordered that somebody holds or has promised
    }
    run.promises = {{PathEnd(run), run.path.empty() ? Owed::kMetrics : Owed::kState}};
    runs_.push_back({.view = run});
    DerivePromises();
    REQUIRE(runs_.back().view.id == run.id);  // a path handed out is needed, to its end
    REQUIRE(runs_.back().view.promises.back().step == PathEnd(run));
  }

  TestPlan plan_;
  std::vector<OpenLineage> open_;
  std::unique_ptr<Policy> policy_;
  Disturbances disturbances_;
  std::mt19937_64 random_;
  std::vector<CarriedRun> runs_;
  std::int64_t last_run_ = 0;
  std::multiset<Point> trained_;
  std::multiset<Point> justified_;
  std::multiset<std::pair<Point, std::string>> measured_;
};

// Carries out random plans under every policy; what comes before is of the plan before anything was started.
template <class Check>
void ForExecutions(Disturbances disturbances, const Check& check) {
  for (const std::string_view policy : {"critical_path", "breadth_first", "throughput"}) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      CAPTURE(policy, seed);
      Execution execution(RandomPlanMaker(seed).Make(), policy, disturbances, seed);
      const std::set<Point> work = AllWork(execution.plan(), {});
      execution.Run();
      REQUIRE(execution.plan().waiting.empty());
      for (const auto& measured : execution.measured()) REQUIRE(execution.measured().count(measured) == 1);
      check(execution, work);
    }
  }
}

bool IsEachOnce(const std::multiset<Point>& trained, const std::set<Point>& work) {
  return std::equal(trained.begin(), trained.end(), work.begin(), work.end());
}

}  // namespace

TEST_CASE(
    "every policy settles every claim, training each step that is needed exactly once, however long uploads take") {
  ForExecutions({}, [](const Execution& execution, const std::set<Point>& work) {
    REQUIRE(IsEachOnce(execution.trained(), work));
  });
}

TEST_CASE("a preempted run loses no step: each that is needed is still trained exactly once") {
  ForExecutions({.preemptions = 4}, [](const Execution& execution, const std::set<Point>& work) {
    REQUIRE(IsEachOnce(execution.trained(), work));
  });
}

TEST_CASE("after losses every claim is settled, and only the steps are trained again that were lost") {
  std::size_t again = 0;
  ForExecutions({.preemptions = 2, .losses = 4}, [&again](const Execution& execution, const std::set<Point>& work) {
    const std::set<Point> trained(execution.trained().begin(), execution.trained().end());
    REQUIRE(trained == work);
    for (const Point point : trained) {
      REQUIRE(execution.trained().count(point) <= 1 + execution.justified().count(point));
    }
    again += execution.trained().size() - trained.size();
  });
  CHECK(again > 0);
}

}  // namespace espalier
