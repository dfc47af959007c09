// Random plans carried out to the end by a scheduler in a loop: derive targets, hand out paths, go one step.
#include <catch2/catch.hpp>

#include "scheduler/cost_model.h"
#include "scheduler/policy.h"
#include "searchplan/plan/record_result.h"
#include "tests/support/random_plan.h"

namespace espalier {
namespace {

constexpr std::uint64_t kSeeds = 1000;

class Execution {
 public:
  Execution(RandomPlan made, std::string_view policy, std::uint64_t seed)
      : plan_(std::move(made.plan)),
        open_(std::move(made.open)),
        policy_(std::move(MakePolicy(policy).value())),
        random_(seed) {
    Settle();
  }

  // Until nothing is to be done, two slots working. Each point trained, as often as it was.
  std::multiset<Point> Run() {
    while (HandOut(), !runs_.empty()) {
      RunView& run = runs_[std::uniform_int_distribution<std::size_t>(0, runs_.size() - 1)(random_)];
      if (run.targets.front().step == run.at) {
        Meet(run, run.targets.front());
      } else {
        run.at = run.at + 1;
        trained_.insert(PointOnPath(run, run.at));
      }
      Settle();
      DeriveTargets();
    }
    return trained_;
  }

  const SearchPlan& plan() const { return plan_; }

 private:
  void Settle() {
    for (const PlanChange& change : SettleClaims(plan_)) plan_.Change(change);
  }

  void Meet(RunView& run, Target target) {
    const Point point = PointOnPath(run, target.step);
    if (target.evaluate) plan_.Measured(point.node.value, point.step.value);
    if (target.save) plan_.Checkpoint(point.node.value, point.step.value);
    run.targets.erase(run.targets.begin());
  }

  void DeriveTargets() {
    const auto needed = NeededTargets(plan_, runs_, open_);
    for (RunView& run : runs_) run.targets = needed.at(run.id);
    std::erase_if(runs_, [](const RunView& run) { return run.targets.empty(); });
  }

  void HandOut() {
    View view;
    const StageTree tree = BuildStageTree(plan_, runs_);
    view.trees = {{tree, StageTimes(CostModel::FromPlan(plan_), plan_, tree)}};
    for (int i = static_cast<int>(runs_.size()); i < 2; ++i) view.idle_slots.push_back({"server", i});
    for (const Action& action : policy_->Decide(view, Time{})) Start(tree, std::get<StartRun>(action));
  }

  void Start(const StageTree& tree, const StartRun& start) {
    const Stage& first = tree.stages[start.stages.front()];
    RunView run{.id = RunId{++last_run_}, .start = {}, .path = {}, .at = first.from, .targets = {}};
    if (const auto* from = std::get_if<FromCheckpoint>(&first.source)) run.start = from->point;
    for (const std::size_t index : start.stages) {
      const Stage& stage = tree.stages[index];
      if (stage.from < stage.to) run.path.push_back({stage.node, stage.from, stage.to});
    }
    const Step end = PathEnd(run);
    run.targets = {{.step = end}};
    runs_.push_back(run);
    DeriveTargets();
    REQUIRE(runs_.back().id == run.id);  // a path handed out is needed, to its end
    REQUIRE(runs_.back().targets.back().step == end);
  }

  TestPlan plan_;
  std::vector<OpenLineage> open_;
  std::unique_ptr<Policy> policy_;
  std::mt19937_64 random_;
  std::vector<RunView> runs_;
  std::int64_t last_run_ = 0;
  std::multiset<Point> trained_;
};

// The points on the ways of waiting claims, from the nearest checkpoint on.
std::multiset<Point> WorkOf(const SearchPlan& plan) {
  std::set<Point> work;
  for (const ClaimId id : plan.waiting) {
    Point point = plan.claims.at(id).point;
    for (; point.step.value >= 1; point.step = point.step - 1) {
      point = PointOn(plan, point.node, point.step);
      const PointRecord* record = plan.FindPoint(point);
      if (record != nullptr && record->checkpoint) break;
      work.insert(point);
    }
  }
  return {work.begin(), work.end()};
}

}  // namespace

TEST_CASE("every policy settles every claim, training each point that is needed exactly once") {
  for (const std::string_view policy : {"critical_path", "breadth_first", "throughput"}) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      CAPTURE(policy, seed);
      Execution execution(RandomPlanMaker(seed).Make(), policy, seed);
      const std::multiset<Point> work = WorkOf(execution.plan());
      REQUIRE(execution.Run() == work);
      REQUIRE(execution.plan().waiting.empty());
    }
  }
}

}  // namespace espalier
