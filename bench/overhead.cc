// What the service costs a training of steps of about a second: time against a bare loop of the same training, how much
// of a save training hides, and memory in worker and node manager.
#include <algorithm>
#include <sstream>

#include "base/clock.h"
#include "bench/benches.h"
#include "bench/hidden_save.h"
#include "bench/led_worker.h"
#include "bench/output_of.h"
#include "bench/process_memory.h"
#include "bench/service.h"
#include "bench/subjects.h"
#include "client/client.h"
#include "worker/process/worker_process.h"

namespace espalier::bench {
namespace {

constexpr double kMegabyte = 1 << 20;

struct OverheadLoad {
  std::int64_t hidden = 0;
  std::int64_t updates = 1;  // a step
  std::int64_t steps = 0;
};

struct BareRun {
  Seconds time{0};  // of Init, the steps, and an evaluation
  double accuracy = 0;
};

// `memory`: a variable of its environment.
BareRun RunBare(const Subject& subject, const OverheadLoad& load, std::int64_t seed,
                const std::string& memory = worker::kMemorySettings) {
  std::vector<std::string> command{"env", memory};
  command.insert(command.end(), subject.bare_loop.begin(), subject.bare_loop.end());
  for (const std::int64_t number : {load.hidden, load.updates, load.steps, seed})
    command.push_back(std::to_string(number));
  const auto printed = OutputOf(command);
  if (!printed) GiveUp("the bare loop failed: " + command.front());
  double seconds = 0;
  BareRun run;
  std::istringstream(*printed) >> seconds >> run.accuracy;
  run.time = Seconds(seconds);
  return run;
}

// So many updates that a step takes about a second. The first run warms the machine up: fresh memory takes time.
std::int64_t UpdatesOfASecond(const Subject& subject, std::int64_t hidden) {
  RunBare(subject, {hidden, 1, 2}, 1);
  const Seconds few = RunBare(subject, {hidden, 1, 2}, 1).time;
  const Seconds more = RunBare(subject, {hidden, 1, 42}, 1).time;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(40 / std::max(0.1, (more - few).count())));
}

// The same as one trial: from its submission until its metric is known.
BareRun RunTrial(Client& client, const Subject& subject, const OverheadLoad& load, std::int64_t seed) {
  const StudySpecification specification{.name = subject.name + " " + std::to_string(seed),
                                         .trainer = subject.trainer,
                                         .data = subject.data,
                                         .step = {.updates = load.updates},
                                         .metric = "test_acc",
                                         .definition = "{}"};
  Study study = Need(client.CreateStudy(specification));
  const tuners::StartTrial trial{
      .sequences = {{"hidden", std::to_string(load.hidden)}, {"momentum", "0.9"}, {"seed", std::to_string(seed)}},
      .steps = Step{load.steps},
      .horizon = Step{load.steps}};
  Batch batch;
  batch.new_trials.push_back(trial);
  const Seconds begin = MonotonicNow();
  BatchAnswer answer = Need(study.SubmitBatch(batch, "trial"));
  const Evaluation evaluation = Need(answer.evaluations.front().Get());
  const Seconds time = MonotonicNow() - begin;
  if (evaluation.state != ClaimState::kDone) GiveUp("the trial failed: " + evaluation.message);
  Need(study.Finish());
  Need(study.WaitUntilFinished());  // the state is stored
  return {time, evaluation.metrics.at("test_acc")};
}

// In turns, so that the machine's better and worse moments are shared.
void MeasureTime(Figures& figures, const Subject& subject, Size size) {
  OverheadLoad load{.hidden = size.Of(4096, 64), .updates = 1, .steps = size.Of(20, 3)};
  load.updates = size.small ? 2 : UpdatesOfASecond(subject, load.hidden);
  Service service;
  service.StartNodeManager(1, {subject.runtime});
  Client client = Need(Client::Connect(service.address()));
  const std::int64_t resident_before = ResidentBytes(service.NodeProcess());
  std::vector<double> overheads;
  std::vector<double> steps;
  for (std::int64_t turn = 1; turn <= size.Of(5, 1); ++turn) {
    const BareRun bare = RunBare(subject, load, turn);
    const BareRun trial = RunTrial(client, subject, load, turn);
    if (bare.accuracy != trial.accuracy) GiveUp("the bare loop trains something else");
    overheads.push_back((trial.time / bare.time - 1) * 100);
    steps.push_back(bare.time.count() / static_cast<double>(load.steps));
  }
  const Seconds without_settings = RunBare(subject, load, 1, "GLIBC_TUNABLES=").time;
  figures.Add(subject.name + "_step_seconds", Median(steps), "about 1");
  figures.Add(subject.name + "_step_seconds_without_memory_settings",
              without_settings.count() / static_cast<double>(load.steps));
  figures.Add(subject.name + "_overhead_percent", Median(overheads), "<= 2");
  figures.Add(subject.name + "_node_manager_grew_megabytes",
              static_cast<double>(PeakBytes(service.NodeProcess()) - resident_before) / kMegabyte, "<= 64");
}

// What saving and loading take beside what the training itself holds, in shares of the state's size. What is let go is
// handed back at once here: blocks that are kept for later would count as the training's.
void MeasureMemory(Figures& figures, const Subject& subject, Size size) {
  const std::int64_t hidden = size.Of(7168, 512);
  const Folder made;
  const std::string& folder = made.path();
  const auto share = [&](std::int64_t bytes, std::int64_t of) {
    return static_cast<double>(bytes) / static_cast<double>(of);
  };
  std::vector<std::string> command{"env", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"};
  command.insert(command.end(), subject.runtime.command.begin(), subject.runtime.command.end());
  LedWorker worker(command, folder);
  const worker::Values values{{"hidden", hidden}, {"momentum", 0.9}};
  worker.Begin({.updates = 1}, values);
  worker.Train();
  worker.Train();
  const std::int64_t before = ResidentBytes(worker.pid());
  ForgetPeak(worker.pid());
  // Two at once: the second is asked for while the first is being written.
  const std::int64_t first = worker.BeginSave(folder + "/first");
  const std::int64_t second = worker.BeginSave(folder + "/second");
  const std::int64_t bytes = worker.AwaitSave(first).bytes;
  worker.AwaitSave(second);
  figures.Add(subject.name + "_state_megabytes", static_cast<double>(bytes) / kMegabyte, "400");
  figures.Add(subject.name + "_saving_takes_states", share(PeakBytes(worker.pid()) - before, bytes), "<= 1.2");
  LedWorker other(command, folder);
  other.Begin({.updates = 1}, values);
  ForgetPeak(other.pid());
  other.Ask(worker::Load{folder + "/first"});
  const std::int64_t peak = PeakBytes(other.pid());
  figures.Add(subject.name + "_loading_takes_states", share(peak - ResidentBytes(other.pid()), bytes), "<= 1.2");
}

}  // namespace

void RunOverhead(Figures& figures, Size size) {
  for (const Subject& subject : {WideInCpp(), WideInPython()}) {
    MeasureTime(figures, subject, size);
    const std::int64_t hidden = size.Of(4096, 64);
    const std::int64_t updates = size.small ? 2 : std::max<std::int64_t>(1, UpdatesOfASecond(subject, hidden) / 12);
    MeasureHiding(figures, subject.name, subject.runtime.command,
                  {.updates = updates, .hidden = hidden, .turns = size.Of(15, 1)});
    MeasureMemory(figures, subject, size);
  }
}

}  // namespace espalier::bench
