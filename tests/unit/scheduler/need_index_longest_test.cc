// The longest ways that the index of needs ranks by, against Boost.Graph's on the stage tree from scratch.
#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dag_shortest_paths.hpp>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <random>

#include "scheduler/need_index.h"
#include "scheduler/stage_tree.h"
#include "tests/support/random_plan.h"
#include "tests/support/random_seed.h"

namespace espalier {
namespace {

constexpr int kPlans = 3000;

// By where it begins: the longest way down, in microseconds.
using Longest = std::map<Point, std::int64_t>;

// Of each node its own, so that the longest way is not the one of the most steps.
std::int64_t StepTime(const PlanNode& node) { return 1 + node.id.value * 7919 % 23; }

Point RootOf(const SearchPlan& plan, PlanNodeId node) { return {LineageTo(plan, node).front(), Step{0}}; }

Point SourceOf(const SearchPlan& plan, const Stage& stage) {
  if (const auto* stored = std::get_if<FromCheckpoint>(&stage.source)) return stored->point;
  if (const auto* promised = std::get_if<FromPromise>(&stage.source)) return promised->point;
  return RootOf(plan, stage.node);
}

// A graph of stages, each an edge from the vertex where it begins to its own.
Longest LongestByGraph(const SearchPlan& plan, const StageTree& tree) {
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                      boost::property<boost::edge_weight_t, std::int64_t>>;
  std::map<Point, std::size_t> sources;
  Graph graph(tree.stages.size());
  for (std::size_t i = 0; i < tree.stages.size(); ++i) {
    const Stage& stage = tree.stages[i];
    if (stage.from == stage.to) continue;  // evaluates
    std::size_t before = stage.parent.value_or(0);
    if (!stage.parent) {
      const auto [source, is_new] = sources.try_emplace(SourceOf(plan, stage), boost::num_vertices(graph));
      if (is_new) boost::add_vertex(graph);
      before = source->second;
    }
    boost::add_edge(before, i, -StepTime(plan.Node(stage.node)) * (stage.to - stage.from), graph);
  }
  Longest longest;
  for (const auto& [point, vertex] : sources) {
    std::vector<std::int64_t> distances(boost::num_vertices(graph));
    boost::dag_shortest_paths(graph, vertex,
                              boost::distance_map(distances.data()).distance_inf(std::numeric_limits<int>::max()));
    longest[point] = -*std::min_element(distances.begin(), distances.end());
  }
  return longest;
}

// Entered in an order drawn at random.
NeedIndex IndexOf(const RandomPlan& made, std::mt19937_64& random) {
  const SearchPlan& plan = made.plan;
  NeedIndex index;
  const NeedEditor::StepTime step_time = StepTime;
  NeedEditor editor(index, plan, Ranking::kLongest, step_time);
  const auto study_of = [](ClaimId) { return StudyId{1}; };
  std::vector<std::function<void()>> edits;
  for (const ClaimId id : plan.waiting) {
    edits.emplace_back([&, id] { editor.AddClaim(plan.claims.at(id), plan.claims.at(id).point, StudyId{1}); });
  }
  for (const auto& [id, node] : plan.nodes) {
    for (const auto& [step, checkpoint] : node.results->checkpoints) {
      edits.emplace_back([&editor, point = Point{id, step}] { editor.AddCheckpoint(point); });
    }
  }
  for (const RunView& run : made.runs) {
    for (const PromisedAt& promise : run.promises) {
      edits.emplace_back([&, promise] {
        const Point point = PointOnPath(run, promise.step);
        promise.owed == Owed::kState ? editor.AddPromise(point, run.id)
                                     : editor.Cover(point, run.evaluation, run.id, study_of);
      });
    }
  }
  std::shuffle(edits.begin(), edits.end(), random);
  for (const auto& edit : edits) edit();
  return index;
}

// Of the states from which something is to be trained.
Longest LongestByIndex(const NeedIndex& index) {
  Longest longest;
  for (const auto& [id, node] : index.nodes()) {
    for (const auto& [step, place] : node.places) {
      if (place.has_state() && !place.successors.empty()) longest[{id, step}] = place.below.longest;
    }
  }
  return longest;
}

std::int64_t TimeOf(const SearchPlan& plan, const std::vector<PathStage>& path) {
  std::int64_t time = 0;
  for (const PathStage& stage : path) time += StepTime(plan.Node(stage.node)) * (stage.to - stage.from);
  return time;
}

}  // namespace

TEST_CASE("the longest ways that the index ranks by are Boost.Graph's on the stage tree", "[property]") {
  const std::uint64_t first = RandomSeed("the longest ways of the index");
  for (std::uint64_t seed = first; seed < first + kPlans; ++seed) {
    INFO("seed " << seed);
    const RandomPlan made = RandomPlanMaker(seed).Make();
    const SearchPlan& plan = made.plan;
    const StageTree tree = BuildStageTree(plan, made.runs);
    INFO(Print(tree));
    std::mt19937_64 random(seed);
    const NeedIndex index = IndexOf(made, random);
    const Longest longest = LongestByGraph(plan, tree);
    REQUIRE(LongestByIndex(index) == longest);
    std::int64_t of_all = 0;
    for (const auto& [source, time] : longest) of_all = std::max(of_all, time);
    REQUIRE(index.longest_left() == of_all);
    std::int64_t before = std::numeric_limits<std::int64_t>::max();
    for (const ReadyPath& ready : index.ready_paths()) {
      const PlanNodeId head = index.Find(ready.source)->order.begin()->node;
      REQUIRE(ready.rank.first == longest.at(ready.source));
      REQUIRE(TimeOf(plan, index.BestPath(plan, ready.source, head)) == longest.at(ready.source));
      REQUIRE(ready.rank.first <= before);
      before = ready.rank.first;
    }
  }
}

}  // namespace espalier
