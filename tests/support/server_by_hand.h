// The real master core with one server, whose node manager's words the test says itself: nothing is trained, and
// nothing happens that the test does not say. For tests of what one message after another leads to.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/toy_cluster.h"

namespace espalier::master {

struct ServerByHand {
  // The study's own settings but for its trainer and metric, which are the cluster's.
  explicit ServerByHand(int slots = 2, StudySpecification settings = {.name = "study"})
      : cluster(1, 1, slots), study(AddStudy(std::move(settings))) {}

  StudyId AddStudy(StudySpecification settings) {
    settings.trainer = "toy";
    settings.metric = "score";
    cluster.Call(CreateStudy{std::move(settings)});
    return std::get<StudyCreated>(cluster.last_reply.answer).study;
  }

  const MasterState& state() const { return cluster.state; }
  const Run& RunOf(RunId id) const { return cluster.state.runs.at(id); }
  // Ordered last.
  const Run& Last() const { return cluster.state.runs.rbegin()->second; }
  const SearchPlan& Plan() const { return cluster.state.plans.begin()->second; }
  const espalier::Claim& LastClaim(TrialId trial) const {
    const Trial& its = cluster.state.trials.at(trial);
    return cluster.state.plans.at(its.plan).claims.at(its.claims.back());
  }
  // The newest orders for the run. REQUIRES: there are some.
  OrderTerms TermsOf(RunId id) const {
    for (const Order& order : cluster.nodes[0].inbox.back().orders) {
      if (order.run.run == id) return order.terms;
    }
    throw std::out_of_range("the server was told nothing of run " + std::to_string(id.value));
  }

  void Report(const Run& run, ReportKind kind) {
    cluster.Handle(NodeMessage{.session = cluster.nodes[0].session,
                               .reports = {{next_report++, {run.leadership, run.id}, std::move(kind)}}});
  }
  void Stand(const Run& run, Step step) {
    cluster.Handle(NodeMessage{.session = cluster.nodes[0].session,
                               .runs = {{.run = {run.leadership, run.id}, .generation = 1, .step = step}}});
  }
  void Store(const Run& run, Point point, const std::string& file = "file", const std::string& digest = "state") {
    Report(run, StateStored{.plan = run.plan,
                            .point = point,
                            .lineage = cluster.state.plans.at(run.plan).Node(point.node).lineage,
                            .file = file,
                            .bytes = 100,
                            .state_sha256 = digest});
  }
  void Measure(const Run& run, Point point) {
    const Digest128 lineage = cluster.state.plans.at(run.plan).Node(point.node).lineage;
    Report(run, MetricsMeasured{run.plan, point, lineage, run.evaluation, {{"score", 1}}, Seconds(1)});
  }
  void End(const Run& run, Step step, std::vector<Step> saves_under_way = {}) {
    Report(run, RunEnded{.step = step, .saves_under_way = std::move(saves_under_way), .refused = {}});
  }
  // Training crashes as the run goes to `point`.
  void Crash(const Run& run, Point point) {
    Report(run, RunFailed{RunFailed::Kind::kCrash, point, "crashed"});
    End(run, Step{point.step.value - 1});
  }
  // The run reaches its end, where its state is stored and measured.
  void Complete(const Run& run) {
    const Point end = PointOf(run, run.path.back().to);
    Store(run, end);
    Measure(run, end);
    End(run, end.step);
  }
  // Time passes until something is ordered, ten seconds at most; whether something was.
  bool AwaitOrder() {
    const std::size_t before = cluster.state.runs.size();
    for (int i = 0; i < 10'000 && cluster.state.runs.size() == before; ++i) cluster.Handle(Tick{});
    return cluster.state.runs.size() > before;
  }

  ToyCluster cluster;
  StudyId study;
  std::int64_t next_report = 1;
};

}  // namespace espalier::master
