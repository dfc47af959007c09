// What one event costs the master's core: reports, the end of a run with the order that follows, a submission, with
// many trials that wait and many slots that train. The core alone, in this thread: no database, no network.
#include <time.h>

#include <algorithm>
#include <random>

#include "base/clock.h"
#include "bench/benches.h"
#include "bench/finished_run.h"
#include "bench/service.h"
#include "master/core/reactor.h"
#include "master/core/state/index_keeper.h"

namespace espalier::bench {
namespace {

using namespace master;

constexpr int kSlotsAServer = 8;
constexpr char kStubMetric[] = "accuracy";

double ThreadMilliseconds() { return ThreadTime().count() * 1e3; }

Offer StubOffer() {
  const auto declare = [](const char* name, const Value& value) {
    return HyperParameter{name, TypeOf(value), value, false};
  };
  return {.trainer = "stub",
          .code_digest = "stub-code",
          .data_digest = "stub-data",
          .evaluation_digest = "stub-evaluation",
          .schema = {{declare("bs", std::int64_t{32}), declare("lr", 0.1), declare("momentum", 0.9)}},
          .metrics = {kStubMetric}};
}

// Half of the trials part from one beginning at step 10; the others share one of four first values, and part later.
NewTrial TrialNumber(std::int64_t number, std::mt19937_64& random) {
  const std::string own = "0.0" + std::to_string(1'000'000'000 + number);
  if (number % 2 == 0) {
    return {{{"lr", "Piecewise([0.5, " + own + "], [10])"}, {"momentum", "0.8"}}, Step{80}, Step{80}};
  }
  const std::string first = "0." + std::to_string(1 + random() % 4);
  const std::string second = std::to_string(11 + random() % 40);
  return {{{"lr", "MultiStep(" + first + ", [" + second + "], gamma=0.1)"},
           {"momentum", "Piecewise([0.9, " + own + "], [" + std::to_string(20 + random() % 40) + "])"}},
          Step{80},
          Step{80}};
}

// Parts from all others at step 10, and changes every ten steps: ten plan nodes of its own.
NewTrial LongTrialNumber(std::int64_t number, std::mt19937_64&) {
  std::string values = "0.5";
  std::string steps;
  for (int i = 0; i < 10; ++i) {
    values += ", 0." + std::to_string(1 + i % 2) + std::to_string(1'000'000'000 + number);
    steps += (i == 0 ? "" : ", ") + std::to_string(10 * (i + 1));
  }
  return {{{"lr", "Piecewise([" + values + "], [" + steps + "])"}}, Step{110}, Step{110}};
}

// A value of its own at every step, after 10 steps that all share: `kSegments` plan nodes of its own.
template <std::int64_t kSegments>
NewTrial EveryStepAnother(std::int64_t number, std::mt19937_64&) {
  std::string values = "0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5";
  for (std::int64_t i = 0; i < kSegments; ++i) values += "," + std::to_string(i % 2 == 0 ? number + 1 : 0);
  return {{{"lr", "Table([" + values + "])"}}, Step{kSegments + 10}, Step{kSegments + 10}};
}

// Master and servers. What the servers were told last is kept, as they would.
class Cluster {
 public:
  using TrialMaker = NewTrial (*)(std::int64_t number, std::mt19937_64& random);

  Cluster(std::int64_t trials, int slots, TrialMaker make_trial, std::string_view policy = kDefaultPolicy)
      : make_trial_(make_trial), policy_(MakePolicy(policy).value()) {
    state_.leadership = LeadershipId{1};
    Do(Recovered{});
    for (int first = 0; first < slots; first += kSlotsAServer) {
      const int number = first / kSlotsAServer;
      Registration registration{.server = "server-" + std::to_string(number),
                                .incarnation = "1",
                                .devices = {{.name = "cores-0", .slots = std::min(kSlotsAServer, slots - first)}},
                                .offers = {{StubOffer(), "stub"}}};
      Do(NodeMessage{.session = SessionId{number + 1}, .registration = std::move(registration)});
    }
    Do(Call("study", CreateStudy{{.name = "study",
                                  .trainer = "stub",
                                  .metric = kStubMetric,
                                  .definition = "{}",
                                  .policy = {.may_stop = true}}}));
    while (submitted_ < trials) Submit(std::min<std::int64_t>(1000, trials - submitted_), {});
  }

  // Each returns the CPU time of this thread in milliseconds.
  double Submit(std::int64_t count, std::vector<TrialId> close) {
    const std::string request_id = std::to_string(submitted_);
    SubmitBatch batch{.study = StudyId{1}, .close = std::move(close)};
    for (std::int64_t i = 0; i < count; ++i) batch.new_trials.push_back(make_trial_(submitted_++, random_));
    return Do(Call(request_id, std::move(batch)));
  }

  // Of a run that trains, drawn at random: metrics; the end of training; the state, once it is stored.
  struct Life {
    double metrics_ms = 0;
    double end_ms = 0;
    double stored_ms = 0;
    std::vector<TrialId> done;
  };
  Life RunToItsEnd() {
    auto active = orders_.begin();
    std::advance(active, static_cast<std::int64_t>(random_() % orders_.size()));
    const Order order = active->second;
    if (order.terms.promises.empty()) GiveUp("a run owes nothing");
    FinishedRun run = Finish(order, 0.5);
    Life life{.done = ClaimingAt(order)};
    life.metrics_ms = Report(order, std::move(run.measured));
    orders_.erase(active);
    life.end_ms = Report(order, std::move(run.ended));
    life.stored_ms = Report(order, std::move(run.stored));
    return life;
  }

  double Tick() { return Do(master::Tick{Moment(Seconds(1))}); }
  // Of the index of needs, from nothing, as at the start; CPU time in seconds.
  double BuildIndexAgain() {
    state_.index.needs.clear();
    const double begun = ThreadMilliseconds();
    IndexKeeper(state_).RankBy(state_.index.ranking);
    return (ThreadMilliseconds() - begun) / 1e3;
  }
  std::size_t plan_nodes() const { return state_.plans.at(PlanId{1}).nodes.size(); }

 private:
  static ClientCall Call(std::string request_id, decltype(ClientCall::what) what) {
    return {CallId{1}, {.user = "ann", .team = "ml"}, std::move(request_id), std::move(what)};
  }

  // The trials that wait for the run's metrics.
  std::vector<TrialId> ClaimingAt(const Order& order) const {
    std::vector<TrialId> trials;
    const SearchPlan& plan = state_.plans.at(order.plan);
    for (const OrderedPromise& promise : order.terms.promises) {
      if (promise.owed != Owed::kMetrics) continue;
      for (const ClaimId claim : plan.ClaimsAt(PointAt(order, promise.step).point)) {
        trials.push_back(plan.claims.at(claim).trial);
      }
    }
    return trials;
  }

  double Report(const Order& order, std::vector<ReportKind> kinds) {
    const std::int64_t session = state_.servers.at(state_.runs.at(order.run.run).slot.server).session->value;
    NodeMessage message{.session = SessionId{session}};
    for (ReportKind& kind : kinds) message.reports.push_back({++reported_[session], order.run, std::move(kind)});
    return Do(std::move(message));
  }

  double Do(const Event& event) {
    now_ += std::chrono::milliseconds(1);
    const double begun = ThreadMilliseconds();
    const Transition transition = React(state_, event, *policy_, settings_, now_);
    const double took = ThreadMilliseconds() - begun;
    for (const Effect& effect : transition.effects) {
      if (const auto* send = std::get_if<SendOrders>(&effect)) {
        for (const Order& order : send->orders.orders) orders_[order.run] = order;
      }
      if (const auto* reply = std::get_if<Reply>(&effect)) {
        if (const auto* error = std::get_if<Error>(&reply->answer)) GiveUp(error->message);
      }
    }
    return took;
  }

  const TrialMaker make_trial_;
  MasterState state_;
  std::unique_ptr<Policy> policy_;
  ReactorSettings settings_;
  Time now_{std::chrono::seconds(1'000'000)};
  std::mt19937_64 random_{1};
  std::int64_t submitted_ = 0;
  std::map<std::int64_t, std::int64_t> reported_;  // by session
  std::map<RunKey, Order> orders_;
};

void AddFigures(Figures& figures, const std::string& name, const std::vector<double>& milliseconds) {
  figures.Add(name + "_ms_p50", Median(milliseconds), "<= 0.1");
  figures.Add(name + "_ms_p99", Percentile99(milliseconds), "<= 1");
}

void Measure(Figures& figures, Cluster& cluster, const std::string& suffix, int rounds) {
  std::vector<double> metrics;
  std::vector<double> ends;
  std::vector<double> stored;
  std::vector<double> submissions;
  for (int i = 0; i < rounds; ++i) {
    Cluster::Life life = cluster.RunToItsEnd();
    metrics.push_back(life.metrics_ms);
    ends.push_back(life.end_ms);
    stored.push_back(life.stored_ms);
    submissions.push_back(cluster.Submit(1, std::move(life.done)));
    if (i % 100 == 0) cluster.Tick();
  }
  AddFigures(figures, "metrics" + suffix, metrics);
  AddFigures(figures, "run_end" + suffix, ends);
  AddFigures(figures, "stored" + suffix, stored);
  AddFigures(figures, "submission" + suffix, submissions);
}

void MeasureLargePlan(Figures& figures, std::int64_t trials, int rounds) {
  Cluster cluster(trials, 2, LongTrialNumber);
  std::vector<double> submissions;
  for (int i = 0; i < rounds; ++i) submissions.push_back(cluster.Submit(1, {}));
  figures.Add("large_plan_nodes", static_cast<double>(cluster.plan_nodes()));
  figures.Add("submission_large_plan_ms_p50", Median(submissions), "<= 1");
  figures.Add("submission_large_plan_ms_p99", Percentile99(submissions));
  figures.Add("index_of_large_plan_seconds", cluster.BuildIndexAgain(), "<= 2");
}

// One run trains a trial of many segments; others are submitted, one by one.
template <std::int64_t kSegments>
void MeasureLongTrial(Figures& figures) {
  Cluster cluster(0, 1, EveryStepAnother<kSegments>);
  const std::string suffix = "_" + std::to_string(kSegments) + "_segments_ms";
  figures.Add("submission" + suffix, cluster.Submit(1, {}));
  figures.Add("second_submission" + suffix, cluster.Submit(1, {}));
  figures.Add("tick" + suffix, cluster.Tick());
  Cluster::Life life = cluster.RunToItsEnd();
  figures.Add("metrics" + suffix, life.metrics_ms);
  figures.Add("run_end" + suffix, life.end_ms);
  figures.Add("stored" + suffix, life.stored_ms);
}

}  // namespace

void RunDecide(Figures& figures, Size size) {
  MeasureLongTrial<1000>(figures);
  MeasureLongTrial<20'000>(figures);
  MeasureLargePlan(figures, size.Of(100'000, 100), static_cast<int>(size.Of(1000, 30)));
  for (const std::int64_t trials : {size.Of(1000, 100), size.Of(10'000, 200), size.Of(100'000, 400)}) {
    for (const int slots : {2, static_cast<int>(size.Of(1000, 20))}) {
      Cluster cluster(trials, slots, TrialNumber);
      const std::string suffix = "_" + std::to_string(trials) + "_trials_" + std::to_string(slots) + "_slots";
      Measure(figures, cluster, suffix, static_cast<int>(size.Of(3000, 30)));
    }
  }
  for (const KnownPolicy& policy : KnownPolicies()) {
    Cluster cluster(size.Of(10'000, 200), static_cast<int>(size.Of(1000, 20)), TrialNumber, policy.name);
    Measure(figures, cluster, "_by_" + policy.name, static_cast<int>(size.Of(3000, 30)));
  }
}

}  // namespace espalier::bench
