// Small random search plans with runs on them, by seed: few nodes, short ways and two evaluations, so that everything
// meets everything.
#pragma once

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "scheduler/needed_promises.h"
#include "searchplan/plan/record_result.h"
#include "tests/support/plan_builder.h"

namespace espalier {

struct RandomPlan {
  TestPlan plan;
  std::vector<RunView> runs;
  std::vector<OpenLineage> open;
};

class RandomPlanMaker {
 public:
  explicit RandomPlanMaker(std::uint64_t seed) : random_(seed) {}

  RandomPlan Make() {
    AddNodes();
    for (int count = Between(0, 4); count > 0; --count) AddCheckpoint(AnyPoint());
    for (int id = 1, count = Between(1, 7); id <= count; ++id) {
      const Point point = AnyPoint();
      made_.plan.Claim(id, point.node.value, point.step.value, Between(1, 4), AnyEvaluation());
      if (Between(0, 4) == 0) made_.plan.Measured(point.node.value, point.step.value, AnyEvaluation());
    }
    for (const PlanChange& change : SettleClaims(made_.plan)) made_.plan.Change(change);
    for (int id = 1, count = Between(0, 4); id <= count; ++id) AddRun(id);
    for (int count = Between(0, 3); count > 0; --count) {
      const Point end = AnyPoint();
      made_.open.push_back({end.node, end.step, Step{Between(0, end.step.value)}});
    }
    std::shuffle(made_.runs.begin(), made_.runs.end(), random_);
    return std::move(made_);
  }

 private:
  int Between(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }

  const char* AnyEvaluation() { return Between(0, 2) == 0 ? "another" : "evaluation"; }

  void AddNodes() {
    for (int id = 1, count = Between(1, 7); id <= count; ++id) {
      const int parent = Between(0, 9) < 8 ? Between(0, id - 1) : 0;
      starts_.push_back(parent == 0 ? 0 : starts_[parent - 1] + Between(1, 5));
      made_.plan.Node(id, parent, starts_.back());
    }
  }

  Point AnyPoint() {
    const int node = Between(1, starts_.size());
    return At(node, starts_[node - 1] + Between(1, 8));
  }

  void AddCheckpoint(Point point) { made_.plan.Checkpoint(point.node.value, point.step.value); }

  void AddRun(int id) {
    const Point end = AnyPoint();
    const int from = Between(0, end.step.value);
    TestRun run(id);
    if (from > 0) {
      const Point start = PointOn(made_.plan, end.node, Step{from});
      if (from == end.step.value || Between(0, 9) > 0) AddCheckpoint(start);
      run.From(start.node.value, from);
    }
    for (int step = from + 1; step <= end.step.value; ++step) {
      const PlanNodeId node = PointOn(made_.plan, end.node, Step{step}).node;
      const bool goes_on = !run.path.empty() && run.path.back().node == node && Between(0, 5) > 0;
      if (goes_on) {
        run.path.back().to = Step{step};
      } else {
        run.Train(node.value, step - 1, step);
      }
    }
    run.Stands(Between(from, end.step.value)).Measures(AnyEvaluation());
    if (Between(0, 4) == 0) run.Stopped();
    AddPromises(run, from, end.step.value);
    made_.runs.push_back(run);
  }

  void AddPromises(TestRun& run, int from, int end) {
    if (from == end) {
      if (Between(0, 3) > 0) run.Metrics(end);
      return;
    }
    std::set<int> steps;
    for (int count = Between(0, 4); count > 0; --count) steps.insert(Between(from + 1, end));
    for (const int step : steps) {
      const int kind = Between(0, 4);
      kind == 0 ? run.Metrics(step) : kind == 1 ? run.State(step) : run.Both(step);
    }
  }

  std::mt19937_64 random_;
  RandomPlan made_;
  std::vector<int> starts_;  // of the nodes, by id
};

}  // namespace espalier
