#include "bench/hidden_save.h"

#include "base/clock.h"
#include "bench/led_worker.h"
#include "bench/service.h"

namespace espalier::bench {
namespace {

double TrainThreeSteps(LedWorker& worker) {
  const Seconds begin = MonotonicNow();
  for (int i = 0; i < 3; ++i) worker.Train();
  return (MonotonicNow() - begin).count();
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
  std::vector<double> longer;  // three steps beside a save, than those before and after it
  double before = TrainThreeSteps(worker);
  for (std::int64_t turn = 0; turn < training.turns; ++turn) {
    const Seconds begin = MonotonicNow();
    worker.AwaitSave(worker.BeginSave(folder + "/alone"));
    saving.push_back((MonotonicNow() - begin).count());
    const std::int64_t id = worker.BeginSave(folder + "/beside");
    const double beside = TrainThreeSteps(worker);
    worker.AwaitSave(id);
    const double after = TrainThreeSteps(worker);
    longer.push_back(beside - (before + after) / 2);
    before = after;
  }
  figures.Add(name + "_save_seconds", Median(saving));
  figures.Add(name + "_save_hidden_percent", (1 - Median(longer) / Median(saving)) * 100, ">= 90");
}

}  // namespace espalier::bench
