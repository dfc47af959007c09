#include "scheduler/critical_path.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dag_shortest_paths.hpp>
#include <catch2/catch.hpp>
#include <functional>
#include <random>

#include "scheduler/lower_bound.h"
#include "tests/support/forest.h"

namespace espalier {
namespace {

using Path = std::vector<std::size_t>;

double TimeOf(const PlannedTree& planned, const Path& path) {
  double time = 0;
  for (const std::size_t stage : path) time += planned.stage_times[stage].count();
  return time;
}

// All chains downwards from a stage.
void Chains(const PlannedTree& planned, Path& path, const std::function<void(const Path&)>& visit) {
  visit(path);
  for (const std::size_t child : planned.tree.stages[path.back()].children) {
    path.push_back(child);
    Chains(planned, path, visit);
    path.pop_back();
  }
}

// The definition, word for word: tries every path that may be taken next.
std::vector<Path> TakeLongestRepeatedly(const PlannedTree& planned) {
  const std::vector<Stage>& stages = planned.tree.stages;
  std::vector<bool> taken(stages.size());
  std::vector<Path> paths;
  while (std::count(taken.begin(), taken.end(), false) > 0) {
    Path longest;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if (taken[i] || (stages[i].parent && !taken[*stages[i].parent])) continue;
      Path path{i};
      Chains(planned, path, [&](const Path& one) {
        if (longest.empty() || TimeOf(planned, one) > TimeOf(planned, longest)) longest = one;
      });
    }
    for (const std::size_t stage : longest) taken[stage] = true;
    paths.push_back(longest);
  }
  return paths;
}

// Boost.Graph's longest way from a source before all roots.
double LongestByGraph(const PlannedTree& planned) {
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                      boost::property<boost::edge_weight_t, double>>;
  const std::size_t count = planned.tree.stages.size();
  Graph graph(count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    boost::add_edge(planned.tree.stages[i].parent.value_or(count), i, -planned.stage_times[i].count(), graph);
  }
  std::vector<double> distances(count + 1);
  boost::dag_shortest_paths(graph, count, boost::distance_map(distances.data()));
  return -*std::min_element(distances.begin(), distances.end());
}

// Calls `visit` for all forests of up to `stages_max` stages, with times 1 to 3 drawn by `seed`.
void ForSmallForests(int stages_max, std::uint64_t seed, const std::function<void(const PlannedTree&)>& visit) {
  std::mt19937_64 random(seed);
  for (int count = 1; count <= stages_max; ++count) {
    std::vector<int> parents(count, -1);
    do {
      std::vector<double> times(count);
      for (double& time : times) time = std::uniform_int_distribution<int>(1, 3)(random);
      visit(Forest(parents, times));
    } while (NextForest(parents));
  }
}

// The makespan of starting stages in random order, each as soon as its parent is done and a slot is free.
double MakespanOfRandomOrder(const PlannedTree& planned, int slots, std::mt19937_64& random) {
  const std::vector<Stage>& stages = planned.tree.stages;
  std::vector<double> free_at(slots, 0);
  std::vector<double> done_at(stages.size(), -1);
  for (std::size_t started = 0; started < stages.size(); ++started) {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if (done_at[i] < 0 && (!stages[i].parent || done_at[*stages[i].parent] >= 0)) ready.push_back(i);
    }
    const std::size_t stage = ready[std::uniform_int_distribution<std::size_t>(0, ready.size() - 1)(random)];
    double& slot = *std::min_element(free_at.begin(), free_at.end());
    const double parent_done = stages[stage].parent ? done_at[*stages[stage].parent] : 0;
    slot = done_at[stage] = std::max(slot, parent_done) + planned.stage_times[stage].count();
  }
  return *std::max_element(done_at.begin(), done_at.end());
}

// The definition at every whole second up to the deepest end; times are whole, so the maximum is at one of them.
double LowerBoundBySeconds(const PlannedTree& planned, int slots) {
  double bound = 0;
  for (int t = 0; t <= 30; ++t) {
    double deeper = 0;
    std::vector<double> ends;
    for (std::size_t i = 0; i < planned.tree.stages.size(); ++i) {
      const auto parent = planned.tree.stages[i].parent;
      const double start = parent ? ends[*parent] : 0;
      ends.push_back(start + planned.stage_times[i].count());
      deeper += std::max(0.0, ends.back() - std::max<double>(t, start));
    }
    if (t <= *std::max_element(ends.begin(), ends.end())) bound = std::max(bound, t + deeper / slots);
  }
  return bound;
}

}  // namespace

TEST_CASE("no stages make no paths and no lower bound") {
  CHECK(DecomposeByLongestPath({}).empty());
  CHECK(MakespanLowerBound({}, 2) == Seconds{0});
}

TEST_CASE("the longest path goes through the slower child, the other hangs off it") {
  const auto paths = DecomposeByLongestPath(Forest({-1, 0, 0, 1, -1}, {10, 5, 7, 1, 12}));
  REQUIRE(paths.size() == 3);
  CHECK(paths[0].stages == Path{0, 2});
  CHECK(paths[0].time == Seconds{17});
  CHECK(paths[1].stages == Path{4});
  CHECK(paths[2].stages == Path{1, 3});
  CHECK(paths[2].time == Seconds{6});
}

TEST_CASE("of equally long paths the one with the smaller first stage comes first") {
  const auto paths = DecomposeByLongestPath(Forest({-1, -1, 0, 0}, {1, 2, 1, 1}));
  REQUIRE(paths.size() == 3);
  CHECK(paths[0].stages == Path{0, 2});
  CHECK(paths[1].stages == Path{1});
  CHECK(paths[2].stages == Path{3});
}

TEST_CASE("many equally long paths keep the order of their first stages") {
  const auto paths = DecomposeByLongestPath(Forest(std::vector<int>(100, -1), std::vector<double>(100, 1)));
  REQUIRE(paths.size() == 100);
  for (std::size_t i = 0; i < paths.size(); ++i) CHECK(paths[i].stages == Path{i});
}

TEST_CASE("the decomposition equals trying every path, on all small trees") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    ForSmallForests(6, seed, [](const PlannedTree& planned) {
      const std::vector<StagePath> paths = DecomposeByLongestPath(planned);
      std::vector<Path> stages;
      for (const StagePath& path : paths) {
        stages.push_back(path.stages);
        REQUIRE(path.time.count() == TimeOf(planned, path.stages));
      }
      REQUIRE(stages == TakeLongestRepeatedly(planned));
      REQUIRE(paths.front().time.count() == LongestByGraph(planned));
    });
  }
}

TEST_CASE("the lower bound is the definition's, and no schedule beats it, on all small trees") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    ForSmallForests(6, seed, [&random](const PlannedTree& planned) {
      for (int slots = 1; slots <= 3; ++slots) {
        const double bound = MakespanLowerBound(planned, slots).count();
        REQUIRE(bound == Approx(LowerBoundBySeconds(planned, slots)));
        REQUIRE(bound <= MakespanOfRandomOrder(planned, slots, random) + 1e-9);
      }
    });
  }
}

TEST_CASE("the lower bound knows that a narrow trunk keeps slots idle") {
  // 10 s alone, then four branches of 10 s on two slots.
  const PlannedTree planned = Forest({-1, 0, 0, 0, 0}, {10, 10, 10, 10, 10});
  CHECK(MakespanLowerBound(planned, 2) == Seconds{30});
  CHECK(MakespanLowerBound(planned, 4) == Seconds{20});
  CHECK(MakespanLowerBound(planned, 100) == Seconds{20});
}

}  // namespace espalier
