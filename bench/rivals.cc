// The same trials, one by one, here and in Optuna on the same PostgreSQL server: create, two values, four reports,
// finish.
#include <cstdio>
#include <utility>

#include "base/clock.h"
#include "bench/benches.h"
#include "bench/copy_rate.h"
#include "bench/finished_run.h"
#include "bench/output_of.h"
#include "bench/service.h"
#include "bench/stub_node.h"
#include "bench/trials.h"
#include "client/connection.h"

namespace espalier::bench {
namespace {

constexpr Step kReportSteps[] = {Step{20}, Step{40}, Step{60}, kTrialSteps};

// The program that does it in Optuna: prints one number, the median of milliseconds a trial.
double OptunaMilliseconds(const std::string& database, std::int64_t stored, std::int64_t trials) {
  return std::stod(OutputOfScript("ESPALIER_OPTUNA_PYTHON", "ESPALIER_OPTUNA_SCRIPT",
                                  {database, std::to_string(stored), std::to_string(trials)}));
}

// One client and one worker that take turns, as Optuna's one process does both.
class OneByOne {
 public:
  explicit OneByOne(const Service& service)
      : node_(service, 1, 1),
        client_(Need(Client::Connect(service.address()))),
        study_(Need(client_.CreateStudy(StubStudy("rivals")))) {}

  // So many trials that are done.
  void Fill(std::int64_t trials) {
    Submit(client_, study_.id(), Shape::kOneNode, 0, trials, 1);
    for (; count_ < trials; ++count_) node_.ReportFinished(node_.AwaitOrder(), 0.5);
  }

  // Submits a trial, reports its metric four times as its run passes, ends that, and waits until the client knows the
  // trial's result: all is durable then. A trial is closed in the call that submits the next one, as a tuner does it.
  // Reports go out as a node manager sends them; `each_report_waits`: none before the one before it is stored.
  Seconds Trial(bool each_report_waits) {
    const Seconds begun = MonotonicNow();
    const tuners::StartTrial trial = TrialOf(Shape::kOneNode, count_++);
    Batch batch;
    batch.new_trials.push_back(trial);
    batch.close = std::exchange(open_, {});
    BatchAnswer answer = Need(study_.SubmitBatch(batch, "trial-" + std::to_string(count_)));
    const Order order = node_.AwaitOrder();
    for (const Step step : kReportSteps) {
      node_.Report(order, {MeasuredAt(order, step, 0.5)});
      if (each_report_waits) node_.WaitUntilStored();
    }
    FinishedRun run = Finish(order, 0.5);
    node_.Report(order, std::move(run.ended));
    node_.Report(order, std::move(run.stored));
    Need(answer.evaluations.front().Get());
    open_ = answer.trials;
    return MonotonicNow() - begun;
  }

  double Milliseconds(std::int64_t trials, bool each_report_waits) {
    std::vector<double> milliseconds;
    for (std::int64_t i = 0; i < trials; ++i) milliseconds.push_back(Trial(each_report_waits).count() * 1000);
    return Median(milliseconds);
  }

 private:
  StubNodes node_;
  Client client_;
  Study study_;
  std::int64_t count_ = 0;
  std::vector<TrialId> open_;  // the trial before
};

}  // namespace

// Both take turns, so that the machine's better and worse moments are shared: figures are medians over the turns.
void RunRivals(Figures& figures, Size size) {
  const std::int64_t turns = size.Of(5, 2);
  const std::int64_t ours = size.Of(200, 20);
  const std::int64_t theirs = size.Of(40, 5);
  for (const std::int64_t stored : {std::int64_t{0}, size.Of(10'000, 1000)}) {
    const std::string name = std::to_string(stored) + "_stored";
    Service service;
    OneByOne one_by_one(service);
    one_by_one.Fill(stored);
    CopyDatabase(service.Database("postgres"), "template0", "optuna");
    std::vector<double> optuna;
    std::vector<double> espalier;
    std::vector<double> waiting;
    std::vector<double> faster;
    std::vector<double> faster_waiting;
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      optuna.push_back(OptunaMilliseconds(service.Database("optuna"), stored, theirs));
      espalier.push_back(one_by_one.Milliseconds(ours, false));
      waiting.push_back(one_by_one.Milliseconds(ours, true));
      faster.push_back(optuna.back() / espalier.back());
      faster_waiting.push_back(optuna.back() / waiting.back());
    }
    figures.Add("optuna_ms_a_trial_" + name, Median(optuna));
    figures.Add("espalier_ms_a_trial_" + name, Median(espalier));
    figures.Add("times_faster_" + name, Median(faster), ">= 15");
    figures.Add("espalier_ms_a_trial_each_report_waited_for_" + name, Median(waiting));
    figures.Add("times_faster_each_report_waited_for_" + name, Median(faster_waiting));
  }
}

}  // namespace espalier::bench
