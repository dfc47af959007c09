// Properties of stage trees and needed targets on random plans, against references that go step by step.
#include <catch2/catch.hpp>

#include "scheduler/needed_targets.h"
#include "scheduler/stage_tree.h"
#include "tests/support/random_plan.h"

namespace espalier {
namespace {

constexpr std::uint64_t kSeeds = 5000;

bool Stands(const SearchPlan& plan, Point point) {
  const PointRecord* record = plan.FindPoint(point);
  return record != nullptr && record->checkpoint;
}

bool Promises(const RunView& run, Point point, bool Target::*what) {
  return std::any_of(run.targets.begin(), run.targets.end(), [&](const Target& target) {
    return target.*what && target.step == point.step && PointOnPath(run, target.step) == point;
  });
}

bool AnyPromises(const std::vector<RunView>& runs, Point point, bool Target::*what) {
  return std::any_of(runs.begin(), runs.end(), [&](const RunView& run) { return Promises(run, point, what); });
}

bool HasState(const SearchPlan& plan, const std::vector<RunView>& runs, Point point) {
  return Stands(plan, point) || AnyPromises(runs, point, &Target::save);
}

// The points whose training the claim waits for, step by step from its end.
std::set<Point> WorkOf(const SearchPlan& plan, const std::vector<RunView>& runs, const Claim& claim) {
  std::set<Point> work;
  if (AnyPromises(runs, claim.point, &Target::evaluate)) return work;
  for (Step step = claim.point.step; step.value >= 1; step = step - 1) {
    const Point point = PointOn(plan, claim.point.node, step);
    if (HasState(plan, runs, point)) break;
    work.insert(point);
  }
  return work;
}

std::set<Point> AllWork(const SearchPlan& plan, const std::vector<RunView>& runs) {
  std::set<Point> work;
  for (const ClaimId id : plan.waiting) work.merge(WorkOf(plan, runs, plan.claims.at(id)));
  return work;
}

// Where the stage begins; none: Init.
std::optional<Point> BeginOf(const SearchPlan& plan, const Stage& stage) {
  if (stage.from.value == 0) return std::nullopt;
  return PointOn(plan, stage.node, stage.from);
}

void CheckBegin(const SearchPlan& plan, const std::vector<RunView>& runs, const StageTree& tree, std::size_t index) {
  const Stage& stage = tree.stages[index];
  const std::optional<Point> begin = BeginOf(plan, stage);
  if (stage.parent) {
    REQUIRE(*stage.parent < index);
    const Stage& parent = tree.stages[*stage.parent];
    CHECK(begin == Point{parent.node, parent.to});
    CHECK_FALSE(HasState(plan, runs, *begin));
    CHECK(std::count(parent.children.begin(), parent.children.end(), index) == 1);
  } else if (const auto* checkpoint = std::get_if<FromCheckpoint>(&stage.source)) {
    CHECK(begin == checkpoint->point);
    CHECK(Stands(plan, checkpoint->point));
  } else if (const auto* promise = std::get_if<FromPromise>(&stage.source)) {
    CHECK(begin == promise->point);
    CHECK_FALSE(Stands(plan, promise->point));
    const auto run = std::find_if(runs.begin(), runs.end(), [&](const RunView& one) { return one.id == promise->run; });
    REQUIRE(run != runs.end());
    CHECK(Promises(*run, promise->point, &Target::save));
  } else {
    CHECK_FALSE(begin);
  }
}

void CheckTrials(const SearchPlan& plan, const std::vector<RunView>& runs, const Stage& stage) {
  std::set<TrialId> trials;
  for (const ClaimId id : plan.waiting) {
    const Claim& claim = plan.claims.at(id);
    const bool trained = stage.from < stage.to && WorkOf(plan, runs, claim).contains({stage.node, stage.to});
    const bool evaluated = std::count(stage.claims.begin(), stage.claims.end(), id) > 0;
    if (trained || evaluated) trials.insert(claim.trial);
  }
  CHECK(stage.trials == std::vector<TrialId>(trials.begin(), trials.end()));
}

std::set<Point> CheckStages(const SearchPlan& plan, const std::vector<RunView>& runs, const StageTree& tree) {
  std::set<Point> trained;
  std::multiset<ClaimId> claims;
  for (std::size_t i = 0; i < tree.stages.size(); ++i) {
    const Stage& stage = tree.stages[i];
    CheckBegin(plan, runs, tree, i);
    CheckTrials(plan, runs, stage);
    claims.insert(stage.claims.begin(), stage.claims.end());
    for (const ClaimId id : stage.claims) CHECK(plan.claims.at(id).point == Point{stage.node, stage.to});
    CHECK(stage.from >= plan.Node(stage.node).start);
    for (Step step = stage.from + 1; step <= stage.to; step = step + 1) {
      CHECK(trained.insert({stage.node, step}).second);  // stages do not overlap
    }
    bool ends_for_a_reason = !stage.claims.empty();
    for (const std::size_t child : stage.children) ends_for_a_reason |= tree.stages[child].node != stage.node;
    CHECK(ends_for_a_reason);
    if (stage.from == stage.to) CHECK((stage.children.empty() && !stage.parent && stage.from.value > 0));
  }
  std::multiset<ClaimId> unpromised;
  for (const ClaimId id : plan.waiting) {
    if (!AnyPromises(runs, plan.claims.at(id).point, &Target::evaluate)) unpromised.insert(id);
  }
  CHECK(claims == unpromised);
  return trained;
}

using Answer = std::map<RunId, std::vector<Target>>;

// The header's rules, step by step and claim by claim.
class Reference {
 public:
  Reference(const RandomPlan& made) : plan_(made.plan), runs_(made.runs), open_(made.open) {}

  Answer Targets() {
    for (const ClaimId id : plan_.waiting) Serve(plan_.claims.at(id));
    Answer answer;
    for (const RunView& run : runs_) {
      std::map<Step, Target>& targets = needed_[run.id];
      Mark(run, targets);
      for (const Target& target : run.targets) {
        const Point point = PointOnPath(run, target.step);
        if (!target.save || run.path.empty() || Stands(plan_, point)) continue;
        if (targets.contains(target.step) || IsUnderWay(run, point)) Add(targets, target.step).save = true;
      }
      for (const auto& [step, target] : targets) answer[run.id].push_back(target);
      answer[run.id];
    }
    return answer;
  }

 private:
  static Target& Add(std::map<Step, Target>& targets, Step step) {
    return targets.try_emplace(step, Target{step, false, false}).first->second;
  }

  static bool Passes(const RunView& run, Point point) {
    return std::any_of(run.path.begin(), run.path.end(), [&](const PathStage& stage) {
      return stage.node == point.node && stage.from < point.step && point.step <= stage.to;
    });
  }

  bool IsUnderWay(const RunView& run, Point point) const {
    const PointRecord* record = plan_.FindPoint(point);
    const bool evaluated = record != nullptr && !record->metrics.empty();
    return !run.training || point.step < run.at || (point.step == run.at && evaluated);
  }

  void Serve(const Claim& claim) {
    for (std::int64_t id = 1; id <= 9; ++id) {
      for (const RunView& run : runs_) {
        const bool there = !run.training || run.path.empty() || run.at >= claim.point.step;
        const bool evaluates = Promises(run, claim.point, &Target::evaluate) ||
                               (run.path.empty() && Promises(run, claim.point, &Target::save));
        if (run.id.value != id || !there || !evaluates) continue;
        Add(needed_[run.id], claim.point.step).evaluate = true;
        return;
      }
    }
    for (Step step = claim.point.step; step.value >= 1; step = step - 1) {
      const Point point = PointOn(plan_, claim.point.node, step);
      if (Stands(plan_, point)) return;
      const RunView* first = nullptr;
      for (const RunView& run : runs_) {
        if (!Passes(run, point) || run.targets.empty() || run.targets.back().step < step) continue;
        if (!(run.training && run.at <= step) && !Promises(run, point, &Target::save)) continue;
        const auto rank = [step](const RunView& one) {
          return std::pair(std::max(Step{0}, Step{step - one.at}), one.id);
        };
        if (first == nullptr || rank(run) < rank(*first)) first = &run;
      }
      if (first == nullptr) continue;
      Target& target = Add(needed_[first->id], step);
      target.save = true;
      if (point == claim.point && first->training && first->at <= step) target.evaluate = true;
      return;
    }
  }

  void Mark(const RunView& run, std::map<Step, Target>& targets) const {
    if (targets.empty() || !run.training) return;
    const Step end = targets.rbegin()->first;
    for (const OpenLineage& lineage : open_) {
      std::optional<Point> last_common;
      for (Step step{1}; step <= lineage.horizon; step = step + 1) {
        const Point point = PointOn(plan_, lineage.leaf, step);
        if (Passes(run, point)) last_common = point;
      }
      if (!last_common || last_common->step < run.at || last_common->step >= end) continue;
      if (!Stands(plan_, *last_common)) Add(targets, last_common->step).save = true;
    }
  }

  const SearchPlan& plan_;
  const std::vector<RunView>& runs_;
  const std::vector<OpenLineage>& open_;
  std::map<RunId, std::map<Step, Target>> needed_;
};

std::vector<RunView> WithTargets(std::vector<RunView> runs, const Answer& answer) {
  for (RunView& run : runs) run.targets = answer.at(run.id);
  return runs;
}

}  // namespace

TEST_CASE("the stage tree holds exactly the claimed, unfinished, unpromised work") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    const RandomPlan made = RandomPlanMaker(seed).Make();
    const StageTree tree = BuildStageTree(made.plan, made.runs);
    CAPTURE(Print(tree));
    REQUIRE(CheckStages(made.plan, made.runs, tree) == AllWork(made.plan, made.runs));
  }
}

TEST_CASE("the stage tree does not depend on the order in which claims and runs came") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    RandomPlan made = RandomPlanMaker(seed).Make();
    const StageTree tree = BuildStageTree(made.plan, made.runs);
    std::reverse(made.runs.begin(), made.runs.end());
    REQUIRE(BuildStageTree(made.plan, made.runs) == tree);
  }
}

TEST_CASE("needed targets are those that going step by step finds") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    const RandomPlan made = RandomPlanMaker(seed).Make();
    REQUIRE(NeededTargets(made.plan, made.runs, made.open) == Reference(made).Targets());
  }
}

TEST_CASE("needed targets stay when asked for again, never lie beyond the present end, and promise something each") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    const RandomPlan made = RandomPlanMaker(seed).Make();
    const Answer needed = NeededTargets(made.plan, made.runs, made.open);
    REQUIRE(NeededTargets(made.plan, WithTargets(made.runs, needed), made.open) == needed);
    for (const RunView& run : made.runs) {
      const std::vector<Target>& targets = needed.at(run.id);
      for (const Target& target : targets) REQUIRE((target.evaluate || target.save));
      if (!targets.empty()) REQUIRE(targets.back().step <= run.targets.back().step);
    }
  }
}

TEST_CASE("withdrawing promises that nobody needs never makes more to train") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    const RandomPlan made = RandomPlanMaker(seed).Make();
    const Answer needed = NeededTargets(made.plan, made.runs, made.open);
    const std::set<Point> before = AllWork(made.plan, made.runs);
    const std::set<Point> after = AllWork(made.plan, WithTargets(made.runs, needed));
    REQUIRE(std::includes(before.begin(), before.end(), after.begin(), after.end()));
  }
}

}  // namespace espalier
