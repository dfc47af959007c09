#include "bench/hidden_save.h"

#include "base/clock.h"
#include "bench/led_worker.h"
#include "bench/service.h"

namespace espalier::bench {
namespace {

constexpr int kStepsBeside = 3;
constexpr int kStepsBetween = 36;

double SecondsSince(Seconds begin) { return (MonotonicNow() - begin).count(); }

// Of a step.
double TrainAlone(LedWorker& worker) {
  const Seconds begin = MonotonicNow();
  for (int i = 0; i < kStepsBetween; ++i) worker.Train();
  return SecondsSince(begin) / kStepsBetween;
}

}  // namespace

void MeasureHiding(Figures& figures, const std::string& name, const std::vector<std::string>& command,
                   const SavedTraining& training) {
  const Folder made;
  const std::string& folder = made.path();
  LedWorker worker(command, folder);
  worker.Begin({.updates = training.updates}, {{"hidden", training.hidden}, {"momentum", 0.9}});
  worker.Train();
  std::vector<double> saving;
  std::vector<double> beside;
  std::vector<double> longer;  // all steps beside a save, to its end, than as many of those before and after it
  for (std::int64_t turn = 0; turn < training.turns; ++turn) {
    const Seconds begin = MonotonicNow();
    worker.AwaitSave(worker.BeginSave(folder + "/alone"));
    saving.push_back(SecondsSince(begin));
    const double before = TrainAlone(worker);
    const Seconds begun = MonotonicNow();
    const std::int64_t id = worker.BeginSave(folder + "/beside");
    int steps = 0;
    for (; steps < kStepsBeside || !worker.HasAnswered(id); ++steps) worker.Train();
    const double trained = SecondsSince(begun);
    beside.push_back(worker.AwaitSave(id).time.count());
    const double after = TrainAlone(worker);
    longer.push_back(trained - steps * (before + after) / 2);
  }
  figures.Add(name + "_save_seconds", Median(saving));
  figures.Add(name + "_save_beside_training_seconds", Median(beside));
  figures.Add(name + "_save_hidden_percent", (1 - Median(longer) / Median(saving)) * 100, ">= 90");
}

}  // namespace espalier::bench
