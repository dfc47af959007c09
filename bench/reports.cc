// Metrics, while all slots of many servers train: how fast they are stored, how fast the best trials are found, how
// soon a new client is at work.
#include <algorithm>
#include <cstdio>
#include <iostream>

#include "base/clock.h"
#include "bench/benches.h"
#include "bench/finished_run.h"
#include "bench/output_of.h"
#include "bench/service.h"
#include "bench/stub_node.h"
#include "bench/trials.h"
#include "client/connection.h"

namespace espalier::bench {
namespace {

constexpr char kStudyName[] = "reports";
constexpr int kReportingSlots = 8;
constexpr std::int64_t kOnTheWay = kTrialSteps.value - kShared.value - 1;

// Different for each trial, in no order.
double AccuracyOf(TrialId trial) { return static_cast<double>((trial.value * 7919) % 1'000'003) / 1'000'003; }

// For whom the run trains: behind the root, which all share, each trial has a plan node of its own, in their order.
TrialId TrialOf(const Order& order) { return TrialId{order.path.back().stage.node.value - 1}; }

// What all slots train. One run trains the steps that all trials share; from its state there the others start.
std::vector<Order> Begin(StubNodes& cluster, std::size_t slots) {
  std::vector<Order> orders = {cluster.AwaitOrder()};
  cluster.Report(orders.front(), {StoredAt(orders.front(), kShared)});
  while (orders.size() < slots) orders.push_back(cluster.AwaitOrder());
  return orders;
}

// Metrics at each step that the runs pass on their ways, where nobody waits for them; how many a second.
double ReportOnTheWay(StubNodes& cluster, const std::vector<Order>& orders) {
  const Seconds begun = MonotonicNow();
  for (Step step = kShared + 1; step < kTrialSteps; step = step + 1) {
    for (const Order& order : orders) cluster.Report(order, {MeasuredAt(order, step, AccuracyOf(TrialOf(order)))});
  }
  cluster.WaitUntilStored();
  return static_cast<double>(orders.size()) * kOnTheWay / (MonotonicNow() - begun).count();
}

// Runs end, and others take their places, until so many have ended; how many a second.
double EndRuns(StubNodes& cluster, const std::vector<Order>& orders, std::int64_t count) {
  const Seconds begun = MonotonicNow();
  for (const Order& order : orders) cluster.ReportFinished(order, AccuracyOf(TrialOf(order)));
  for (std::int64_t i = std::ssize(orders); i < count; ++i) {
    const Order order = cluster.AwaitOrder();
    cluster.ReportFinished(order, AccuracyOf(TrialOf(order)));
  }
  cluster.WaitUntilStored();
  return static_cast<double>(count) / (MonotonicNow() - begun).count();
}

// The next call after the last report sees it.
void CheckQueryable(Client& client, TrialId trial, std::int64_t count) {
  v1::GetTrialRequest request;
  request.set_trial_id(trial.value);
  const auto response = Need(client.connection().GetTrial(request));
  if (response.metrics_size() != count) GiveUp("reported metrics are not there");
}

// A client that comes back learns everything again: a batch, sent once more, gets its first answer, and each of
// its claims the evaluation that was stored.
void MeasureReplay(Figures& figures, const Service& service, StudyId id, std::int64_t first, std::int64_t trials) {
  Client client = Need(Client::Connect(service.address()));
  const Seconds begun = MonotonicNow();
  Study study = client.OpenStudy(id);
  const BatchAnswer answer =
      Need(study.SubmitBatch(BatchFrom(Shape::kOneNode, first, trials), BatchName(Shape::kOneNode, first)));
  for (std::size_t i = 0; i < answer.trials.size(); ++i) {
    const Result<Evaluation>& evaluation = answer.evaluations[i].Get();
    if (Need(evaluation).metrics.at("accuracy") != AccuracyOf(answer.trials[i])) GiveUp("a metric has changed");
  }
  figures.Add("replay_of_a_batch_ms", (MonotonicNow() - begun).count() * 1000);
}

void MeasureList(Figures& figures, Client& client, const std::string& trials, int calls) {
  v1::ListTrialsRequest request;
  request.set_study_name(kStudyName);
  request.set_order(v1::TRIAL_ORDER_METRIC);
  request.set_page_size(20);
  std::vector<double> milliseconds;
  for (int i = 0; i < calls; ++i) {
    const Seconds begun = MonotonicNow();
    const auto response = Need(client.connection().ListTrials(request));
    milliseconds.push_back((MonotonicNow() - begun).count() * 1000);
    if (response.trials_size() != 20 || response.trials(0).metric() < response.trials(19).metric()) {
      GiveUp("the best trials are not listed first");
    }
  }
  figures.Add("best_20_of_" + trials + "_ms_p50", Median(milliseconds), "<= 20");
  figures.Add("best_20_of_" + trials + "_ms_p99", Percentile99(milliseconds));
}

std::string Run(const std::vector<std::string>& command) {
  const std::optional<std::string> output = OutputOf(command);
  if (!output) GiveUp(command.front() + " failed");
  return *output;
}

void MeasureCommandLine(Figures& figures, const Service& service, const std::string& trials, int calls) {
  const std::vector<std::string> command = {ProgramBesideThisOne("espalier"),
                                            "trial",
                                            "list",
                                            kStudyName,
                                            "--sort",
                                            "metric",
                                            "--limit",
                                            "20",
                                            "--output",
                                            "json",
                                            "--server",
                                            service.address()};
  std::vector<double> milliseconds;
  for (int i = 0; i < calls; ++i) {
    const Seconds begun = MonotonicNow();
    Run(command);
    milliseconds.push_back((MonotonicNow() - begun).count() * 1000);
  }
  figures.Add("best_20_of_" + trials + "_command_ms_p50", Median(milliseconds));
}

void MeasureNewClients(Figures& figures, const Service& service, std::int64_t next_trial, int clients) {
  std::vector<double> milliseconds;
  for (int i = 0; i < clients; ++i) {
    milliseconds.push_back(std::stod(Run({ProgramBesideThisOne("espalier-bench"), "first-submission", service.address(),
                                          kStudyName, std::to_string(next_trial + i)})));
  }
  figures.Add("new_client_first_submission_ms_p50", Median(milliseconds), "<= 20");
  figures.Add("new_client_first_submission_ms_max", *std::max_element(milliseconds.begin(), milliseconds.end()));
}

}  // namespace

void RunReports(Figures& figures, Size size) {
  const std::int64_t trials = size.Of(100'000, 2000);
  const std::string name = size.small ? "2k" : "100k";
  const Service service;
  const int servers = static_cast<int>(size.Of(64, 3));
  const std::int64_t slots = servers * kReportingSlots;
  StubNodes cluster(service, servers, kReportingSlots);
  Client client = Need(Client::Connect(service.address()));
  const StudyId study = Need(client.CreateStudy(StubStudy(kStudyName))).id();
  Submit(client, study, Shape::kOneNode, 0, trials, 1);
  const std::vector<Order> orders = Begin(cluster, static_cast<std::size_t>(slots));
  figures.Add("intermediate_reports_per_second", ReportOnTheWay(cluster, orders), ">= 20,000");
  CheckQueryable(client, TrialOf(orders.back()), kOnTheWay);
  figures.Add("runs_ended_per_second", EndRuns(cluster, orders, trials));
  CheckQueryable(client, TrialOf(orders.back()), kOnTheWay + 1);
  Submit(client, study, Shape::kOneNode, trials, slots, 1);  // so that all slots train
  for (std::int64_t i = 0; i < slots; ++i) cluster.AwaitOrder();
  MeasureReplay(figures, service, study, kBatchSize, trials);
  MeasureList(figures, client, name, static_cast<int>(size.Of(500, 20)));
  MeasureCommandLine(figures, service, name, static_cast<int>(size.Of(20, 2)));
  MeasureNewClients(figures, service, trials + slots, static_cast<int>(size.Of(20, 2)));
}

void FirstSubmission(const std::string& address, const std::string& name, std::int64_t number) {
  const Seconds begun = MonotonicNow();
  Client client = Need(Client::Connect(address));
  Study study = Need(client.CreateStudy(StubStudy(name)));
  if (!study.attached()) GiveUp("there was no study " + name);
  const tuners::StartTrial trial = TrialOf(Shape::kOneNode, number);
  Need(study.Submit({trial.sequences}, {.steps = trial.steps, .horizon = trial.horizon}));
  std::cout << (MonotonicNow() - begun).count() * 1000 << std::endl;
}

}  // namespace espalier::bench
