// Search plans and runs in one line each, for tests. Ids are plain numbers.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/run_view.h"
#include "searchplan/plan/plan_edit.h"

namespace espalier {

inline Point At(int node, int step) { return {PlanNodeId{node}, Step{step}}; }

// A plan that grows by what each call says; every change goes through Apply.
class TestPlan {
 public:
  // Constant hyper-parameters; without values one of its own, so that no two nodes are alike. Parent 0: a root.
  TestPlan& Node(int id, int parent, int start, std::vector<Value> values = {}) {
    if (values.empty()) values.push_back(std::int64_t{id});
    AddPlanNode change;
    change.id = PlanNodeId{id};
    if (parent != 0) change.parent = PlanNodeId{parent};
    change.start = Step{start};
    Configuration configuration;
    for (Value& value : values) configuration.functions.push_back({Constant{std::move(value)}, Step{0}});
    change.configuration = configuration;
    return Change(change);
  }
  TestPlan& Checkpoint(int node, int step) {
    return Change(
        SetCheckpoint{At(node, step), {.file = "file", .bytes = 1, .run = {}, .stored_at = {}}, {.sha256 = "state"}});
  }
  TestPlan& Measured(int node, int step, const std::string& evaluation = "evaluation") {
    return Change(AddMetrics{At(node, step), evaluation, {{"loss", 0.5}}});
  }
  // A waiting claim of the trial of the same number, unless another is named.
  TestPlan& Claim(int id, int node, int step, int trial = 0, const std::string& evaluation = "evaluation") {
    const TrialId of{trial == 0 ? id : trial};
    return Change(AddClaim{{.id = ClaimId{id}, .trial = of, .point = At(node, step), .evaluation = evaluation}});
  }
  TestPlan& Settle(int claim, ClaimState state = ClaimState::kCancelled) {
    return Change(SettleClaim{ClaimId{claim}, state});
  }
  TestPlan& Trained(int node, int run, int from, int to, double seconds) {
    return Change(SetTrainedRange{PlanNodeId{node}, {RunId{run}, Step{from}, Step{to}, Seconds{seconds}}});
  }
  TestPlan& Change(const PlanChange& change) {
    Apply(plan_, change);
    return *this;
  }

  operator const SearchPlan&() const { return plan_; }
  const SearchPlan& plan() const { return plan_; }

 private:
  SearchPlan plan_{.id = PlanId{1}};
};

// A run that trains and measures what TestPlan's claims ask for; it stands at its start until Stands says otherwise.
struct TestRun : RunView {
  explicit TestRun(int run_id) {
    id = RunId{run_id};
    evaluation = "evaluation";
  }
  TestRun& From(int node, int step) {
    start = At(node, step);
    at = Step{step};
    return *this;
  }
  TestRun& Train(int node, int from, int to) {
    path.push_back({PlanNodeId{node}, Step{from}, Step{to}});
    return *this;
  }
  TestRun& Stands(int step) {
    at = Step{step};
    return *this;
  }
  TestRun& Measures(const std::string& identity) {
    evaluation = identity;
    return *this;
  }
  TestRun& Stopped() {
    training = false;
    return *this;
  }
  // Open promises.
  TestRun& State(int step) { return Promises({Step{step}, Owed::kState}); }
  TestRun& Metrics(int step) { return Promises({Step{step}, Owed::kMetrics}); }
  TestRun& Both(int step) { return State(step).Metrics(step); }

 private:
  TestRun& Promises(PromisedAt promise) {
    promises.insert(std::upper_bound(promises.begin(), promises.end(), promise), promise);
    return *this;
  }
};

// Runs as the scheduler takes them.
inline std::vector<RunView> Runs(const std::vector<TestRun>& runs) { return {runs.begin(), runs.end()}; }

}  // namespace espalier
