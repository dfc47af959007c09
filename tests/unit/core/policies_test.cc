// What policies may order, and that nothing is lost by it (TreeML 4.3 and 6.3; row "preempted" of what may fail).
#include <catch2/catch.hpp>

#include "tests/support/toy_cluster.h"

namespace espalier::master {
namespace {

// Preempts and starts what it is told to, and then as critical path.
class Obedient : public Policy {
 public:
  std::string_view name() const override { return "obedient"; }
  Ranking ranking() const override { return Ranking::kLongest; }
  std::optional<Action> Decide(const View& view, Time) override {
    ++asked;
    preemptible.clear();
    for (const RunView& run : view.Preemptible()) preemptible.push_back(run.id);
    if (next) return std::exchange(next, std::nullopt);
    return view.BestStart();
  }

  std::optional<Action> next;
  int asked = 0;
  std::vector<RunId> preemptible;  // when it was asked last
};

// One slot, one server; messages of its node manager are said by the test.
struct OneSlot {
  OneSlot() { cluster.policy = std::move(owned); }

  void Hear() { cluster.Handle(NodeMessage{.session = cluster.nodes[0].session}); }
  void Order(Action action) {
    policy.next = std::move(action);
    Hear();
  }
  void Report(RunId run, ReportKind kind) {
    const RunKey key{cluster.state.runs.at(run).leadership, run};
    cluster.Handle(NodeMessage{.session = cluster.nodes[0].session, .reports = {{++reports, key, std::move(kind)}}});
  }
  void Store(RunId run, Point point) {
    const SearchPlan& plan = cluster.state.plans.at(cluster.state.runs.at(run).plan);
    Report(run, StateStored{.plan = plan.id,
                            .point = point,
                            .lineage = plan.Node(point.node).lineage,
                            .file = "file-" + std::to_string(reports),
                            .bytes = 1,
                            .state_sha256 = std::string(32, 's')});
  }
  const Run& RunOf(std::int64_t id) const { return cluster.state.runs.at(RunId{id}); }

  std::unique_ptr<Obedient> owned = std::make_unique<Obedient>();
  Obedient& policy = *owned;
  ToyCluster cluster{1, 1, 1};
  StudyId study = cluster.CreateStudy("policies");
  std::int64_t reports = 0;
};

// The steps at which runs end, in the order of their starts, while trials wait for the one slot: of 30 steps, of 10,
// and two of 20 that part at step 15. A trial of 5 has the slot before them.
std::vector<std::int64_t> EndsInOrder(std::string_view policy) {
  ToyCluster cluster(1, 1, 1);
  cluster.policy = MakePolicy(policy).value();
  const StudyId study = cluster.CreateStudy("order");
  cluster.Submit(study, {{"lr", "0.5"}}, 5);
  cluster.Submit(study, {{"lr", "0.1"}}, 30);
  cluster.Submit(study, {{"lr", "0.2"}}, 10);
  cluster.Submit(study, {{"lr", "Piecewise([0.3, 0.03], [15])"}}, 20);
  cluster.Submit(study, {{"lr", "Piecewise([0.3, 0.01], [15])"}}, 20);
  cluster.RunToRest();
  std::vector<std::int64_t> ends;
  for (const auto& [id, run] : cluster.state.runs) {
    if (!run.path.empty()) ends.push_back(run.path.back().to.value);
  }
  return ends;
}

}  // namespace

TEST_CASE("critical path starts the longest way down first") {
  CHECK(EndsInOrder("critical_path") == std::vector<std::int64_t>{5, 30, 20, 10, 20});
}

TEST_CASE("throughput starts first what most stages wait for") {
  CHECK(EndsInOrder("throughput") == std::vector<std::int64_t>{5, 20, 30, 10, 20});
}

TEST_CASE("breadth first starts at the earliest step, however short") {
  CHECK(EndsInOrder("breadth_first") == std::vector<std::int64_t>{5, 30, 10, 20, 20});
}

TEST_CASE("a policy is asked after every event, also while no slot is idle") {
  OneSlot one;
  one.cluster.Submit(one.study, {{"lr", "0.1"}}, 10);
  one.Hear();
  const int before = one.policy.asked;
  one.Hear();
  CHECK(one.policy.asked == before + 1);
  one.cluster.Handle(Tick{Moment(Seconds(1))});
  CHECK(one.policy.asked == before + 2);
}

TEST_CASE("a preempted run's last state is promised as its slot becomes free, and what follows starts from it") {
  OneSlot one;
  one.cluster.Submit(one.study, {{"lr", "0.1"}}, 50);
  one.Order(PreemptRun{RunId{1}});
  CHECK(one.RunOf(1).preempt);
  CHECK(one.policy.preemptible.empty());  // it is being preempted already
  const PlanNodeId node = one.RunOf(1).path.front().node;

  one.Report(RunId{1}, RunEnded{.step = Step{7}, .saves_under_way = {Step{7}}});
  CHECK(one.RunOf(1).FindOpen(Step{7}, Owed::kState) != nullptr);
  CHECK(one.cluster.state.runs.size() == 1);  // nothing starts before the state is there

  one.Store(RunId{1}, {node, Step{7}});
  REQUIRE(one.cluster.state.runs.size() == 2);
  CHECK(one.RunOf(2).start == Point{node, Step{7}});
  CHECK(one.policy.preemptible == std::vector{RunId{2}});
}

TEST_CASE("a path whose preempted run lost its state is not preempted again before it has stored one") {
  OneSlot one;
  one.cluster.Submit(one.study, {{"lr", "0.1"}}, 50);
  one.Order(PreemptRun{RunId{1}});
  const PlanNodeId node = one.RunOf(1).path.front().node;
  one.Report(RunId{1}, RunEnded{.step = Step{7}, .saves_under_way = {Step{7}}});
  one.Report(RunId{1}, PromiseLost{.promise = one.RunOf(1).FindOpen(Step{7}, Owed::kState)->id, .step = Step{7}});
  REQUIRE(one.cluster.state.runs.size() == 2);
  CHECK_FALSE(one.RunOf(2).start.has_value());
  CHECK(one.policy.preemptible.empty());

  SECTION("a policy that wants it all the same is refused") {
    one.Order(PreemptRun{RunId{2}});
    CHECK_FALSE(one.RunOf(2).preempt);
  }
  SECTION("after a restart, too") {
    one.cluster.RestartMaster();
    one.Hear();
    CHECK(one.policy.preemptible.empty());
  }
  SECTION("once it has stored a state it may be") {
    one.Store(RunId{2}, {node, one.RunOf(2).promises.begin()->second.step});
    CHECK(one.cluster.state.index.preempted_in_vain.empty());
  }
}

TEST_CASE("what a policy cannot have changes nothing") {
  ToyCluster cluster(1, 1, 2);
  auto owned = std::make_unique<Obedient>();
  Obedient& policy = *owned;
  cluster.policy = std::move(owned);
  const StudyId study = cluster.CreateStudy("impossible");
  const TrialId trunk = cluster.Submit(study, {{"lr", "0.1"}}, 50);
  const TrialId branch = cluster.Submit(study, {{"lr", "Piecewise([0.1, 0.01], [20])"}}, 30);
  REQUIRE(cluster.state.runs.size() == 1);  // the branch waits for what the trunk's run promises; slot 1 is idle
  const PlanId plan = cluster.state.trials.at(trunk).plan;
  const PlanNodeId root = cluster.state.trials.at(trunk).leaf;
  const PlanNodeId leaf = cluster.state.trials.at(branch).leaf;
  const Action impossible =
      GENERATE_COPY(Action(PreemptRun{RunId{9}}),                                            // there is none
                    Action(StartPath{plan, {root, Step{20}}, leaf, {"node-0", 1}}),          // promised, not stored
                    Action(StartPath{plan, {root, Step{0}}, root, {"node-0", 1}}),           // nobody needs it now
                    Action(StartPath{plan, {root, Step{20}}, std::nullopt, {"node-0", 1}}),  // nothing to evaluate
                    Action(StartPath{PlanId{9}, {root, Step{0}}, root, {"node-0", 1}}),      // no such plan
                    Action(StartPath{plan, {root, Step{0}}, root, {"node-0", 2}}),           // no such slot
                    Action(StartPath{plan, {root, Step{0}}, root, {"elsewhere", 0}}));       // no such server
  policy.next = impossible;
  cluster.Handle(NodeMessage{.session = cluster.nodes[0].session});
  CHECK(cluster.state.runs.size() == 1);
  CHECK_FALSE(cluster.state.runs.at(RunId{1}).preempt);
}

}  // namespace espalier::master
