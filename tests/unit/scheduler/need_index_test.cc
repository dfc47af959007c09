// The index of needs against its oracles after every random edit: the stage tree built from scratch, its longest paths,
// and what each ranking says, while estimates of step times change.
#include "scheduler/need_index.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "scheduler/critical_path.h"
#include "tests/support/need_oracle.h"
#include "tests/support/plan_builder.h"
#include "tests/support/rounds.h"

namespace espalier {
namespace {

// By node, in microseconds.
using StepTimes = std::map<PlanNodeId, std::int64_t>;

// A promise of a run of its own, whose path leads from Init to it.
struct TestPromise {
  RunId run;
  Point point;
  Owed owed = Owed::kState;
  std::string evaluation;
};

RunView ViewOf(const SearchPlan& plan, const TestPromise& promise) {
  RunView view;
  view.id = promise.run;
  view.evaluation = promise.evaluation;
  view.training = false;
  Step to = promise.point.step;
  for (std::optional<PlanNodeId> id = promise.point.node; id; id = plan.Node(*id).parent) {
    const Step from = plan.Node(*id).start;
    view.path.insert(view.path.begin(), {*id, from, to});
    to = from;
  }
  view.promises = {{promise.point.step, promise.owed}};
  return view;
}

// What the index keeps of a place's stages, from scratch.
StageTotals TotalsFromScratch(const NeedIndex& index, const SearchPlan& plan, const StepTimes& times, Point point) {
  StageTotals totals;
  const Place& place = *index.Find(point);
  const std::int64_t own = times.at(point.node) * (point.step - index.Above(plan, point)->step);
  totals.work = own;
  totals.stages = 1;
  for (const auto& [evaluation, waiting] : place.waiting) {
    if (!waiting.covered_by.empty()) continue;
    totals.claims += static_cast<std::int64_t>(waiting.claims.size());
    for (const ClaimId claim : waiting.claims)
      totals.studies.Add(StudyId{plan.claims.at(claim).trial.value % 3 + 1}, 1);
  }
  WideCount longest = 0;
  for (const auto& [id, node] : index.nodes()) {
    for (const auto& [step, below] : node.places) {
      if (!below.hangs || index.Above(plan, {id, step}) != point) continue;
      const StageTotals each = TotalsFromScratch(index, plan, times, {id, step});
      longest = std::max(longest, each.longest);
      totals.work += each.work;
      totals.stages += each.stages;
      totals.children += 1;
      totals.claims += each.claims;
      totals.studies.Add(each.studies, 1);
    }
  }
  totals.longest = own + longest;
  return totals;
}

// As scheduler/need_index.h says of each.
Rank RankFromScratch(Ranking ranking, const StageTotals& totals, Step from) {
  if (ranking == Ranking::kBreadthFirst) return {-from.value, 0};
  if (ranking == Ranking::kMostBelow) return {totals.stages, totals.claims};
  if (ranking == Ranking::kMostChildren) return {totals.children, 0};
  return {totals.longest, 0};
}

// What is kept of all that hangs from each place, and in which order.
void CheckTotals(const NeedIndex& index, const SearchPlan& plan, const StepTimes& times, Ranking ranking) {
  for (const auto& [id, node] : index.nodes()) {
    for (const auto& [step, place] : node.places) {
      std::set<RankedSuccessor> order;
      WideCount longest = 0;
      for (const auto& [successor, totals] : place.successors) {
        order.insert({RankFromScratch(ranking, totals, step), successor});
        longest = std::max(longest, totals.longest);
      }
      REQUIRE(place.order == order);
      REQUIRE(place.below.longest == longest);
      if (!place.hangs) continue;
      const Place& above = *index.Find(*index.Above(plan, {id, step}));
      REQUIRE(above.successors.contains(id));
      REQUIRE((above.successors.at(id) == TotalsFromScratch(index, plan, times, {id, step})));
    }
  }
}

// Where a path begins, and under which node it leads on.
using PathHead = std::pair<Point, PlanNodeId>;

Point SourceOf(const Stage& root) {
  if (const auto* checkpoint = std::get_if<FromCheckpoint>(&root.source)) return checkpoint->point;
  if (const auto* promise = std::get_if<FromPromise>(&root.source)) return promise->point;
  return {root.node, Step{0}};
}

// The stage tree with the time of each stage.
PlannedTree Planned(const StageTree& tree, const StepTimes& times) {
  PlannedTree planned{tree, {}};
  for (const Stage& stage : tree.stages) {
    const bool trains = stage.from < stage.to;
    planned.stage_times.emplace_back(trains ? static_cast<double>(times.at(stage.node) * (stage.to - stage.from)) : 0);
  }
  return planned;
}

class RandomEdits {
 public:
  RandomEdits(std::uint64_t seed, Ranking ranking) : random_(seed), ranking_(ranking) {
    plan_.Node(1, 0, 0);
    starts_ = {0};
    thought_[PlanNodeId{1}] = AnyStepTime();
  }

  void Do() {
    DoOne();
    std::erase_if(used_, [&](const auto& entry) { return !index_.nodes().contains(entry.first); });
    for (const auto& [id, node] : index_.nodes()) used_.try_emplace(id, thought_.at(id));
  }

  void Check() const {
    const SearchPlan& plan = plan_;
    std::vector<RunView> views;
    for (const TestPromise& promise : promises_) views.push_back(ViewOf(plan, promise));
    const StageTree tree = BuildStageTree(plan, views);
    INFO(espalier::Print(tree));
    REQUIRE(WorkOf(index_, plan) == WorkOf(tree));
    for (const auto& [id, time] : used_) REQUIRE(index_.StepTimeOf(id) == time);
    CheckTotals(index_, plan, used_, ranking_);
    CheckReady(plan);
    CheckPaths(plan, Planned(tree, used_));
    CheckEvaluations();
  }

 private:
  void DoOne() {
    switch (Below(12)) {
      case 10:
        return ThinkAgain();
      case 11:
        return Reestimate();
      case 0:
        return AddNode();
      case 1:
      case 2:
      case 3:
        return AddClaim();
      case 4:
        return RemoveClaim();
      case 5:
        return Below(3) == 0 ? DropCheckpoint() : AddCheckpoint();
      case 6:
      case 7:
        return AddPromise();
      default:
        return RemovePromise();
    }
  }

  int Below(int bound) { return static_cast<int>(random_() % static_cast<std::uint64_t>(bound)); }
  NeedEditor Edit() { return NeedEditor(index_, plan_.plan(), ranking_, step_time_); }
  static StudyId StudyOf(TrialId trial) { return StudyId{trial.value % 3 + 1}; }
  NeedEditor::StudyOf StudyOfClaim() const {
    return [this](ClaimId claim) { return StudyOf(plan_.plan().claims.at(claim).trial); };
  }
  std::string AnyEvaluation() { return Below(2) == 0 ? "one" : "other"; }

  Point AnyPoint() {
    const int node = 1 + Below(static_cast<int>(starts_.size()));
    return At(node, starts_[node - 1] + 1 + Below(6));
  }

  void AddNode() {
    if (starts_.size() == 12) return;
    const int parent = Below(static_cast<int>(starts_.size()) + 1);
    const int start = parent == 0 ? 0 : starts_[parent - 1] + 1 + Below(5);
    starts_.push_back(start);
    plan_.Node(static_cast<int>(starts_.size()), parent, start);
    thought_[PlanNodeId{std::ssize(starts_)}] = AnyStepTime();
  }

  // Some are within the sixteenth that changes nothing.
  std::int64_t AnyStepTime() { return 1000 + 50 * Below(8); }

  // Measurements have come: what is thought of all nodes changes, and what the index uses does not.
  void ThinkAgain() {
    for (auto& [node, time] : thought_) time = AnyStepTime();
  }

  // The turn of one node, as the engine takes some after each event.
  void Reestimate() {
    const PlanNodeId node{1 + Below(static_cast<int>(starts_.size()))};
    Edit().Reestimate(node);
    const auto used = used_.find(node);
    if (used == used_.end()) return;
    if (std::abs(thought_.at(node) - used->second) > used->second / 16) used->second = thought_.at(node);
  }

  void AddClaim() {
    const Claim claim{.id = ClaimId{++last_claim_},
                      .trial = TrialId{1 + Below(5)},
                      .point = AnyPoint(),
                      .evaluation = Below(5) == 0 ? std::string(kStateAlone) : AnyEvaluation()};
    plan_.Change(espalier::AddClaim{claim});
    Edit().AddClaim(claim, claim.point, StudyOf(claim.trial));
  }

  void RemoveClaim() {
    const SearchPlan& plan = plan_;
    if (plan.waiting.empty()) return;
    const Claim claim = plan.claims.at(*std::next(plan.waiting.begin(), Below(static_cast<int>(plan.waiting.size()))));
    plan_.Change(SettleClaim{claim.id, ClaimState::kCancelled});
    Edit().RemoveClaim(claim, claim.point, StudyOf(claim.trial));
  }

  void AddCheckpoint() {
    const Point point = AnyPoint();
    if (plan_.plan().FindCheckpoint(point) != nullptr) return;
    plan_.Checkpoint(static_cast<int>(point.node.value), static_cast<int>(point.step.value));
    Edit().AddCheckpoint(point);
    checkpoints_.push_back(point);
  }

  void DropCheckpoint() {
    if (checkpoints_.empty()) return;
    const std::size_t at = static_cast<std::size_t>(Below(static_cast<int>(checkpoints_.size())));
    plan_.Change(espalier::DropCheckpoint{checkpoints_[at], "file"});
    Edit().RemoveCheckpoint(checkpoints_[at]);
    checkpoints_.erase(checkpoints_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void AddPromise() {
    TestPromise promise{RunId{++last_run_}, AnyPoint(), Below(3) == 0 ? Owed::kMetrics : Owed::kState, AnyEvaluation()};
    if (promise.owed == Owed::kState) {
      Edit().AddPromise(promise.point, promise.run);
    } else {
      Edit().Cover(promise.point, promise.evaluation, promise.run, StudyOfClaim());
    }
    promises_.push_back(std::move(promise));
  }

  void RemovePromise() {
    if (promises_.empty()) return;
    const std::size_t at = static_cast<std::size_t>(Below(static_cast<int>(promises_.size())));
    const TestPromise promise = promises_[at];
    promises_.erase(promises_.begin() + static_cast<std::ptrdiff_t>(at));
    if (promise.owed == Owed::kState) {
      Edit().RemovePromise(promise.point, promise.run);
    } else {
      Edit().Uncover(promise.point, promise.evaluation, promise.run, StudyOfClaim());
    }
  }

  // The ready paths are those of the sources that stand, each of the rank of its best way; the ready stages all that
  // begin there, for each study that wants them.
  void CheckReady(const SearchPlan& plan) const {
    std::set<ReadyPath> expected;
    std::set<ReadyStage> stages;
    for (const auto& [id, node] : index_.nodes()) {
      for (const auto& [step, place] : node.places) {
        if (!place.stored || place.successors.empty()) continue;
        for (const auto& [head, totals] : place.successors) {
          for (const auto& [study, count] : totals.studies.counts()) {
            stages.insert({study, RankFromScratch(ranking_, totals, step), {id, step}, head});
          }
        }
        const PlanNodeId first = place.order.begin()->node;
        expected.insert({RankFromScratch(ranking_, place.successors.at(first), step), {id, step}});
        const std::vector<PathStage> path = index_.BestPath(plan, {id, step}, first);
        REQUIRE(path.front().from == step);
        if (ranking_ == Ranking::kLongest) REQUIRE(TimeOf(path) == index_.Find({id, step})->below.longest);
      }
    }
    REQUIRE(index_.ready_paths() == expected);
    REQUIRE(index_.ready_stages() == stages);
  }

  std::int64_t TimeOf(const std::vector<PathStage>& path) const {
    std::int64_t time = 0;
    for (const PathStage& stage : path) time += used_.at(stage.node) * (stage.to - stage.from);
    return time;
  }

  // The way that the index would hand out from each state is as long as the one that the longest-path decomposition of
  // the stage tree takes there (TreeML 4.3); whatever the ranking, so is the longest of all, and what is left in all.
  void CheckPaths(const SearchPlan& plan, const PlannedTree& planned) const {
    const std::vector<Stage>& stages = planned.tree.stages;
    std::map<PathHead, std::int64_t> expected;
    std::int64_t longest = 0;
    for (const StagePath& path : DecomposeByLongestPath(planned)) {
      const Stage& first = stages[path.stages.front()];
      if (first.parent || first.from == first.to) continue;
      const auto time = static_cast<std::int64_t>(path.time.count());
      expected[{SourceOf(first), first.node}] = time;
      longest = std::max(longest, time);
    }
    Seconds work{0};
    for (const Seconds time : planned.stage_times) work += time;
    REQUIRE(index_.longest_left() == longest);
    REQUIRE(index_.work_left() == static_cast<std::int64_t>(work.count()));
    std::map<PathHead, std::int64_t> found;
    for (const auto& [id, node] : index_.nodes()) {
      for (const auto& [step, place] : node.places) {
        if (!place.has_state()) continue;
        for (const auto& [successor, totals] : place.successors) {
          const Point source{id, step};
          const bool follows_longest = ranking_ == Ranking::kLongest;
          found[{source, successor}] =
              follows_longest ? TimeOf(index_.BestPath(plan, source, successor)) : totals.longest;
        }
      }
    }
    REQUIRE(found == expected);
  }

  // States that stand are evaluated for the claims there that no promise covers, and for no claim to a state alone; all
  // that hangs from a state is left.
  void CheckEvaluations() const {
    std::set<ReadyEvaluation> ready;
    std::int64_t claims_left = 0;
    for (const auto& [id, node] : index_.nodes()) {
      for (const auto& [step, place] : node.places) {
        if (place.has_state()) claims_left += place.below.claims;
        for (const auto& [evaluation, waiting] : place.waiting) {
          if (waiting.claims.empty() || !waiting.covered_by.empty()) continue;
          if (place.has_state()) claims_left += std::ssize(waiting.claims);
          if (place.stored && evaluation != kStateAlone) ready.insert({evaluation, {id, step}});
        }
      }
    }
    REQUIRE(index_.ready_evaluations() == ready);
    REQUIRE(index_.claims_left() == claims_left);
  }

  std::mt19937_64 random_;
  TestPlan plan_;
  std::vector<int> starts_;
  std::vector<Point> checkpoints_;
  std::vector<TestPromise> promises_;
  int last_claim_ = 0;
  int last_run_ = 0;
  const Ranking ranking_;
  StepTimes thought_;  // of every node
  StepTimes used_;     // of the nodes in the index: as it was thought when each was first needed, or last looked at
  const NeedEditor::StepTime step_time_ = [this](const PlanNode& node) { return thought_.at(node.id); };
  NeedIndex index_;
};

}  // namespace

TEST_CASE(
    "the index of needs is what the stage tree from scratch says, for every ranking and while estimates change, after "
    "each of 100,000 random edits",
    "[property]") {
  const Ranking rankings[] = {Ranking::kLongest, Ranking::kBreadthFirst, Ranking::kMostBelow, Ranking::kMostChildren};
  for (std::uint64_t seed = 1; seed <= Rounds(850); ++seed) {
    INFO("seed " << seed);
    RandomEdits edits(seed, rankings[seed % 4]);
    for (int i = 0; i < 120; ++i) {
      edits.Do();
      edits.Check();
    }
  }
}

}  // namespace espalier
