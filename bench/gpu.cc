// What trainings on a GPU take: a residual network on images, by the built-in trainer, by a trainer in Python and in
// plain PyTorch with the same settings; what these settings cost; and what two workers get out of one GPU.
#include <algorithm>
#include <sstream>

#include "base/clock.h"
#include "base/log.h"
#include "bench/benches.h"
#include "bench/hidden_save.h"
#include "bench/led_worker.h"
#include "bench/output_of.h"
#include "bench/service.h"
#include "bench/subjects.h"

namespace espalier::bench {
namespace {

struct GpuLoad {
  std::int64_t depth = 0;
  std::int64_t updates = 1;  // a step, of 128 images each
  std::int64_t steps = 0;
};

// Seconds an update, of each step.
using Measured = std::vector<double>;

Measured TrainPlainly(const std::vector<std::string>& plain, const std::string& how, const GpuLoad& load) {
  std::vector<std::string> command = plain;
  command.push_back(how);
  for (const std::int64_t number : {load.depth, load.updates, load.steps}) command.push_back(std::to_string(number));
  const auto printed = OutputOf(command);
  if (!printed) GiveUp("plain PyTorch failed: " + how);
  std::istringstream lines(*printed);
  Measured measured;
  for (double seconds = 0; lines >> seconds;) measured.push_back(seconds / static_cast<double>(load.updates));
  return measured;
}

void Train(LedWorker& worker, const GpuLoad& load, Measured& measured) {
  for (std::int64_t step = 0; step < load.steps; ++step) {
    const Seconds begin = MonotonicNow();
    worker.Train();
    measured.push_back((MonotonicNow() - begin).count() / static_cast<double>(load.updates));
  }
}

// Both at once; of an update of either.
void TrainBoth(LedWorker& one, LedWorker& other, const GpuLoad& load, Measured& measured) {
  for (std::int64_t step = 0; step < load.steps; ++step) {
    const Seconds begin = MonotonicNow();
    const std::int64_t id = one.BeginTrain();
    other.Train();
    one.Await(id);
    measured.push_back((MonotonicNow() - begin).count() / static_cast<double>(2 * load.updates));
  }
}

void Append(Measured& all, const Measured& more) { all.insert(all.end(), more.begin(), more.end()); }

double Percent(double value, double of) { return (value / of - 1) * 100; }

}  // namespace

void RunGpu(Figures& figures, Size size) {
  const GpuLoad load{.depth = size.Of(56, 8), .updates = size.Of(25, 1), .steps = size.Of(4, 1)};
  const Subject cpp = ResNetInCpp();
  const Subject python = ResNetInPython();
  const Folder folder;
  const worker::Values values{{"depth", load.depth}};
  LedWorker built_in(cpp.runtime.command, folder.path());
  if (!size.small && !built_in.device_kind().starts_with("cuda")) GiveUp("there is no GPU: " + built_in.device_kind());
  LedWorker second(cpp.runtime.command, folder.path());
  LedWorker in_python(python.runtime.command, folder.path());
  for (LedWorker* const worker : {&built_in, &second, &in_python}) {
    worker->Begin({.updates = load.updates}, values);
    worker->Train();  // the libraries choose their ways
  }
  MeasureHiding(figures, "cpp_400_megabytes", WideInCpp().runtime.command,
                {.updates = size.Of(125, 2), .hidden = size.Of(7168, 64), .turns = size.Of(7, 1)});
  Measured plain;
  Measured default_settings;
  Measured fast;
  Measured by_cpp;
  Measured by_python;
  Measured by_two;
  for (std::int64_t turn = 0; turn < size.Of(2, 1); ++turn) {
    Append(plain, TrainPlainly(python.bare_loop, "deterministic", load));
    Train(built_in, load, by_cpp);
    Train(in_python, load, by_python);
    Append(default_settings, TrainPlainly(python.bare_loop, "default", load));
    Append(fast, TrainPlainly(python.bare_loop, "fast", load));
    TrainBoth(built_in, second, load, by_two);
    Log(LogLevel::kInfo, "seconds an update",
        {{"plain", Median(plain)},
         {"default", Median(default_settings)},
         {"fast", Median(fast)},
         {"cpp", Median(by_cpp)},
         {"python", Median(by_python)},
         {"two", Median(by_two)}});
  }
  figures.Add("plain_update_ms", Median(plain) * 1000);
  figures.Add("cpp_over_plain_percent", Percent(Median(by_cpp), Median(plain)), "<= 3");
  figures.Add("python_over_plain_percent", Percent(Median(by_python), Median(plain)), "<= 3");
  figures.Add("determinism_percent", Percent(Median(plain), Median(default_settings)));
  figures.Add("determinism_against_fast_percent", Percent(Median(plain), Median(fast)));
  figures.Add("two_workers_times_as_fast", Median(by_cpp) / Median(by_two));
}

}  // namespace espalier::bench
