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
  std::vector<double> alone;
  std::vector<double> saving;
  std::vector<double> beside;
  for (std::int64_t turn = 0; turn < training.turns; ++turn) {
    alone.push_back(TrainThreeSteps(worker));
    const Seconds begin = MonotonicNow();
    worker.AwaitSave(worker.BeginSave(folder + "/alone"));
    saving.push_back((MonotonicNow() - begin).count());
    const std::int64_t id = worker.BeginSave(folder + "/beside");
    beside.push_back(TrainThreeSteps(worker));
    worker.AwaitSave(id);
  }
  figures.Add(name + "_save_seconds", Median(saving));
  figures.Add(name + "_save_hidden_percent", (1 - (Median(beside) - Median(alone)) / Median(saving)) * 100, ">= 90");
}

}  // namespace espalier::bench
