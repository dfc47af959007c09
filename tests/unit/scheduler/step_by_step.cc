#include "tests/unit/scheduler/step_by_step.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace espalier {
namespace {

// The claims that wait for each step, or for the evaluation of a state.
struct Wanted {
  std::map<Point, std::vector<ClaimId>> training;
  std::map<std::pair<Point, std::string>, std::vector<ClaimId>> evaluations;
};

Wanted WantedOf(const SearchPlan& plan, const std::vector<RunView>& runs) {
  Wanted wanted;
  for (const ClaimId id : plan.waiting) {
    const Claim& claim = plan.claims.at(id);
    if (IsCovered(runs, claim)) continue;
    const std::set<Point> work = WorkOf(plan, runs, claim);
    if (work.empty()) wanted.evaluations[{claim.point, claim.evaluation}].push_back(id);
    for (const Point point : work) wanted.training[point].push_back(id);
  }
  return wanted;
}

void BeginAtState(const SearchPlan& plan, const std::vector<RunView>& runs, std::optional<Point> begin,
                  StageFact& fact) {
  if (!begin) {
    fact.source = FromInit{};
  } else if (plan.FindCheckpoint(*begin) != nullptr) {
    fact.source = FromCheckpoint{*begin};
  } else {
    fact.source = FromPromise{FirstToOwe(runs, *begin, Owed::kState)->id, *begin};
  }
  fact.ready = !std::holds_alternative<FromPromise>(*fact.source);
}

std::vector<TrialId> TrialsOf(const SearchPlan& plan, const std::vector<ClaimId>& claims) {
  std::set<TrialId> trials;
  for (const ClaimId id : claims) trials.insert(plan.claims.at(id).trial);
  return {trials.begin(), trials.end()};
}

// The points where a stage ends: where a claim waits, or the way does not go on under the same node alone.
std::set<Point> CutsOf(const SearchPlan& plan, const Wanted& wanted) {
  std::map<Point, int> ways_on;  // one under another node counts as several
  for (const auto& [point, claims] : wanted.training) {
    if (const auto before = Before(plan, point)) ways_on[*before] += before->node == point.node ? 1 : 2;
  }
  std::set<Point> cuts;
  for (const auto& [point, claims] : wanted.training) {
    bool cut = ways_on[point] != 1;
    for (const ClaimId id : claims) cut |= plan.claims.at(id).point == point;
    if (cut) cuts.insert(point);
  }
  return cuts;
}

void Sort(std::vector<StageFact>& facts) {
  std::sort(facts.begin(), facts.end(), [](const StageFact& a, const StageFact& b) {
    return std::tie(a.end, a.evaluation) < std::tie(b.end, b.evaluation);
  });
}

}  // namespace

std::optional<Point> Before(const SearchPlan& plan, Point point) {
  const PlanNode& node = plan.Node(point.node);
  if (point.step - 1 > node.start) return Point{node.id, point.step - 1};
  if (node.parent) return Point{*node.parent, node.start};
  return std::nullopt;
}

bool Trains(const RunView& run, Point point) {
  return std::any_of(run.path.begin(), run.path.end(), [point](const PathStage& stage) {
    return stage.node == point.node && stage.from < point.step && point.step <= stage.to;
  });
}

bool Owes(const RunView& run, Point point, Owed owed) {
  if (!Trains(run, point) && run.start != point) return false;
  return std::count(run.promises.begin(), run.promises.end(), PromisedAt{point.step, owed}) > 0;
}

const RunView* FirstToOwe(const std::vector<RunView>& runs, Point point, Owed owed) {
  const RunView* first = nullptr;
  for (const RunView& run : runs) {
    const auto rank = [point](const RunView& one) {
      return std::pair(one.at < point.step ? point.step - one.at : 0, one.id);
    };
    if (Owes(run, point, owed) && (first == nullptr || rank(run) < rank(*first))) first = &run;
  }
  return first;
}

bool HasState(const SearchPlan& plan, const std::vector<RunView>& runs, Point point) {
  return plan.FindCheckpoint(point) != nullptr || FirstToOwe(runs, point, Owed::kState) != nullptr;
}

bool IsCovered(const std::vector<RunView>& runs, const Claim& claim) {
  return std::any_of(runs.begin(), runs.end(), [&claim](const RunView& run) {
    return run.evaluation == claim.evaluation && Owes(run, claim.point, Owed::kMetrics);
  });
}

std::set<Point> WorkOf(const SearchPlan& plan, const std::vector<RunView>& runs, const Claim& claim) {
  std::set<Point> work;
  if (IsCovered(runs, claim)) return work;
  for (std::optional<Point> point = claim.point; point; point = Before(plan, *point)) {
    if (HasState(plan, runs, *point)) break;
    work.insert(*point);
  }
  return work;
}

std::set<Point> AllWork(const SearchPlan& plan, const std::vector<RunView>& runs) {
  std::set<Point> work;
  for (const ClaimId id : plan.waiting) work.merge(WorkOf(plan, runs, plan.claims.at(id)));
  return work;
}

std::vector<StageFact> ExpectedStages(const SearchPlan& plan, const std::vector<RunView>& runs) {
  const Wanted wanted = WantedOf(plan, runs);
  const std::set<Point> cuts = CutsOf(plan, wanted);
  std::vector<StageFact> facts;
  for (const Point end : cuts) {
    std::optional<Point> begin = Before(plan, end);
    while (begin && wanted.training.contains(*begin) && !cuts.contains(*begin)) begin = Before(plan, *begin);
    StageFact fact{.end = end, .evaluation = {}, .from = begin ? begin->step : Step{0}};
    if (begin && cuts.contains(*begin)) {
      fact.parent = begin;
    } else {
      BeginAtState(plan, runs, begin, fact);
    }
    const std::vector<ClaimId>& claims = wanted.training.at(end);
    for (const ClaimId id : claims) {
      if (plan.claims.at(id).point == end) fact.claims.push_back(id);
    }
    fact.trials = TrialsOf(plan, claims);
    facts.push_back(std::move(fact));
  }
  for (const auto& [what, claims] : wanted.evaluations) {
    const auto& [point, evaluation] = what;
    StageFact fact{.end = point, .evaluation = evaluation, .from = point.step};
    BeginAtState(plan, runs, point, fact);
    fact.claims = claims;
    fact.trials = TrialsOf(plan, claims);
    facts.push_back(std::move(fact));
  }
  Sort(facts);
  return facts;
}

std::vector<StageFact> FactsOf(const StageTree& tree) {
  std::vector<StageFact> facts;
  for (std::size_t i = 0; i < tree.stages.size(); ++i) {
    const Stage& stage = tree.stages[i];
    StageFact fact{.end = {stage.node, stage.to}, .evaluation = stage.evaluation, .from = stage.from};
    if (stage.parent) {
      const Stage& parent = tree.stages[*stage.parent];
      fact.parent = Point{parent.node, parent.to};
    } else {
      fact.source = stage.source;
    }
    fact.ready = IsReady(tree, i);
    fact.claims = stage.claims;
    fact.trials = stage.trials;
    facts.push_back(std::move(fact));
  }
  Sort(facts);
  return facts;
}

bool IsLinkedWell(const StageTree& tree) {
  std::vector<std::vector<std::size_t>> children(tree.stages.size());
  for (std::size_t i = 0; i < tree.stages.size(); ++i) {
    const std::optional<std::size_t>& parent = tree.stages[i].parent;
    if (parent && *parent >= i) return false;
    if (parent) children[*parent].push_back(i);
  }
  for (std::size_t i = 0; i < tree.stages.size(); ++i) {
    if (tree.stages[i].children != children[i]) return false;
  }
  return true;
}

}  // namespace espalier
