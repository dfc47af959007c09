// The index of needs against its oracle, the stage tree built from scratch, after every random edit.
#include "scheduler/need_index.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "tests/support/need_oracle.h"
#include "tests/support/plan_builder.h"

namespace espalier {
namespace {

constexpr std::int64_t kStepTime = 1000;

std::string Print(Point point) { return std::to_string(point.node.value) + "@" + std::to_string(point.step.value); }

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
StageTotals TotalsFromScratch(const NeedIndex& index, const SearchPlan& plan, Point point) {
  StageTotals totals;
  const Place& place = *index.Find(point);
  totals.work = kStepTime * (point.step - index.Above(plan, point)->step);
  totals.stages = 1;
  for (const auto& [evaluation, waiting] : place.waiting) {
    if (!waiting.covered_by.empty()) continue;
    totals.claims += static_cast<std::int64_t>(waiting.claims.size());
    for (const ClaimId claim : waiting.claims)
      totals.studies.Add(StudyId{plan.claims.at(claim).trial.value % 3 + 1}, 1);
  }
  std::int64_t longest = 0;
  for (const auto& [id, node] : index.nodes()) {
    for (const auto& [step, below] : node.places) {
      if (!below.hangs || index.Above(plan, {id, step}) != point) continue;
      const StageTotals each = TotalsFromScratch(index, plan, {id, step});
      longest = std::max(longest, each.longest);
      totals.work += each.work;
      totals.stages += each.stages;
      totals.claims += each.claims;
      totals.studies.Add(each.studies, 1);
    }
  }
  totals.longest = kStepTime * (point.step - index.Above(plan, point)->step) + longest;
  return totals;
}

void CheckTotals(const NeedIndex& index, const SearchPlan& plan) {
  for (const auto& [id, node] : index.nodes()) {
    for (const auto& [step, place] : node.places) {
      if (!place.hangs) continue;
      const Place& above = *index.Find(*index.Above(plan, {id, step}));
      REQUIRE(above.successors.contains(id));
      REQUIRE((above.successors.at(id) == TotalsFromScratch(index, plan, {id, step})));
    }
  }
}

class RandomEdits {
 public:
  explicit RandomEdits(std::uint64_t seed) : random_(seed) {
    plan_.Node(1, 0, 0);
    starts_ = {0};
  }

  void Do() {
    switch (Below(10)) {
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

  void Check() const {
    const SearchPlan& plan = plan_;
    std::vector<RunView> views;
    for (const TestPromise& promise : promises_) views.push_back(ViewOf(plan, promise));
    const StageTree tree = BuildStageTree(plan, views);
    INFO(espalier::Print(tree));
    REQUIRE(WorkOf(index_, plan) == WorkOf(tree));
    CheckTotals(index_, plan);
    CheckReady(plan);
    CheckEvaluations();
  }

 private:
  int Below(int bound) { return static_cast<int>(random_() % static_cast<std::uint64_t>(bound)); }
  NeedEditor Edit() { return NeedEditor(index_, plan_.plan(), Ranking::kLongest, step_time_); }
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
  }

  void AddClaim() {
    const Claim claim{.id = ClaimId{++last_claim_},
                      .trial = TrialId{1 + Below(5)},
                      .point = AnyPoint(),
                      .evaluation = Below(5) == 0 ? std::string(kStateAlone) : AnyEvaluation()};
    plan_.Change(espalier::AddClaim{claim});
    Edit().AddClaim(claim, StudyOf(claim.trial));
  }

  void RemoveClaim() {
    const SearchPlan& plan = plan_;
    if (plan.waiting.empty()) return;
    const Claim claim = plan.claims.at(*std::next(plan.waiting.begin(), Below(static_cast<int>(plan.waiting.size()))));
    plan_.Change(SettleClaim{claim.id, ClaimState::kCancelled});
    Edit().RemoveClaim(claim, StudyOf(claim.trial));
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

  // The ready paths are those of the sources that stand, the longest first, and each begins with its longest way down.
  void CheckReady(const SearchPlan& plan) const {
    std::size_t sources = 0;
    for (const auto& [id, node] : index_.nodes()) {
      for (const auto& [step, place] : node.places) sources += place.stored && !place.successors.empty() ? 1 : 0;
    }
    REQUIRE(index_.ready_paths().size() == sources);
    for (const ReadyPath& ready : index_.ready_paths()) {
      std::int64_t time = 0;
      const PlanNodeId first = index_.Find(ready.source)->order.begin()->node;
      for (const PathStage& stage : index_.BestPath(plan, ready.source, first))
        time += kStepTime * (stage.to - stage.from);
      INFO(Print(ready.source));
      REQUIRE(time == ready.rank.first);
    }
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
  const NeedEditor::StepTime step_time_ = [](const PlanNode&) { return kStepTime; };
  NeedIndex index_;
};

}  // namespace

TEST_CASE("the index of needs is what the stage tree from scratch says, after each of 100,000 random edits",
          "[property]") {
  for (std::uint64_t seed = 1; seed <= 850; ++seed) {
    INFO("seed " << seed);
    RandomEdits edits(seed);
    for (int i = 0; i < 120; ++i) {
      edits.Do();
      edits.Check();
    }
  }
}

}  // namespace espalier
