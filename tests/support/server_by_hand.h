// A master by hand with one study and one server, whose node manager's words the test says itself. For tests of what
// one message after another leads to.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/master_by_hand.h"

namespace espalier::master {

struct ServerByHand : MasterByHand {
  // The study's own settings but for its trainer and metric.
  explicit ServerByHand(int slots = 2, StudySpecification settings = {.name = "study"})
      : MasterByHand(1, slots), study(AddStudy(std::move(settings))) {}
  explicit ServerByHand(std::vector<Device> devices)
      : MasterByHand(0), study((Connect("server-0", std::move(devices)), AddStudy({.name = "study"}))) {}

  const Run& RunOf(RunId id) const { return state().runs.at(id); }
  // Ordered last.
  const Run& Last() const { return state().runs.rbegin()->second; }
  const SearchPlan& Plan() const { return state().plans.begin()->second; }
  // The newest orders for the run. REQUIRES: there are some.
  OrderTerms TermsOf(RunId id) const {
    for (const Order& order : servers[0].orders.value().orders) {
      if (order.run.run == id) return order.terms;
    }
    throw std::out_of_range("the server was told nothing of run " + std::to_string(id.value));
  }

  // As the node manager says it when something keeps checkpoints from the store, and when it does no more.
  void Say(const std::string& trouble) {
    const Server& server = state().servers.at(servers[0].name);
    Registration registration{.server = server.name,
                              .incarnation = server.incarnation,
                              .devices = server.devices,
                              .offers = {{state().offers.begin()->second.offer, "simulated"}},
                              .trouble = trouble};
    Handle(NodeMessage{.session = servers[0].session, .registration = std::move(registration)});
  }
  std::int64_t NextReport(SessionId session) { return ++reported[session]; }
  void Report(const Run& run, ReportKind kind) {
    Handle(NodeMessage{.session = servers[0].session,
                       .reports = {{NextReport(servers[0].session), {run.leadership, run.id}, std::move(kind)}}});
  }
  void Stand(const Run& run, Step step) {
    Handle(NodeMessage{.session = servers[0].session,
                       .runs = {{.run = {run.leadership, run.id}, .generation = 1, .step = step}}});
  }
  void Store(const Run& run, Point point, const std::string& file = "file", const std::string& digest = "state") {
    Report(run, StateStored{.plan = run.plan,
                            .point = point,
                            .lineage = state().plans.at(run.plan).Node(point.node).lineage,
                            .file = file,
                            .bytes = 100,
                            .state_sha256 = digest});
  }
  void Measure(const Run& run, Point point, double score = 1) {
    const Digest128 lineage = state().plans.at(run.plan).Node(point.node).lineage;
    Report(run, MetricsMeasured{run.plan, point, lineage, run.evaluation, {{"score", score}}, Seconds(1)});
  }
  void End(const Run& run, Step step, std::vector<Step> saves_under_way = {}) {
    Report(run, RunEnded{.step = step, .saves_under_way = std::move(saves_under_way), .refused = {}});
  }
  // The run has trained so far, within its first stage, a second each step.
  void Train(const Run& run, Step to) {
    Report(run, StepsTrained{run.path.front().node, Step{0}, to, Seconds(static_cast<double>(to.value))});
    Stand(run, to);
  }
  // Training fails for good as the run goes to `point`.
  void Fail(const Run& run, Point point, const std::string& message = "bad data") {
    Report(run, RunFailed{RunFailed::Kind::kTrainer, point, message});
    End(run, Step{point.step.value - 1});
  }
  // Training crashes as the run goes to `point`.
  void Crash(const Run& run, Point point, const std::string& message = "crashed") {
    Report(run, RunFailed{RunFailed::Kind::kCrash, point, message});
    End(run, Step{point.step.value - 1});
  }
  // The run reaches its end, where its state is stored and measured.
  void Complete(const Run& run, const std::string& file = "file") {
    const Point end = PointOf(run, run.path.back().to);
    Store(run, end, file);
    Measure(run, end);
    End(run, end.step);
  }
  // Nobody is heard any more, and another server comes.
  void LoseServer(const std::string& next) {
    LoseServers();
    Connect(next, 1);
  }
  // Time passes until something is ordered, ten seconds at most; whether something was.
  bool AwaitOrder() {
    const std::size_t before = state().runs.size();
    for (int i = 0; i < 10'000 && state().runs.size() == before; ++i) Handle(Tick{});
    return state().runs.size() > before;
  }

  StudyId study;
  std::map<SessionId, std::int64_t> reported;  // the number of the last report
};

}  // namespace espalier::master
