// One training on this worker, behind the protocol: checks that requests come in order and name what the trainer has,
// counts steps, writes the step log, and turns what the trainer throws into failures.
// After a failure that does not say that the state is intact, the object is not used again. Not thread-safe.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "worker/protocol/step_log.h"
#include "worker/trainer/failure.h"
#include "worker/trainer/peak_memory.h"
#include "worker/trainer/state.h"
#include "worker/trainer/trainer.h"

namespace espalier::trainer {

struct TrainingRequest {
  std::string trainer;
  std::string data;
  StepMeaning step;
  HyperParameterValues values;  // of all hyper-parameters at step 0
  std::int64_t run_id = 0;
  std::string step_log;  // empty: none is written
};

struct Measured {
  Metrics metrics;
  double seconds = 0;
  std::int64_t peak_bytes = 0;  // of a step: held at most since Begin or Proceed; 0: not known
};

class Training {
 public:
  // From scratch. `kinds` must live as long.
  static Outcome<Training> Begin(const std::vector<TrainerKind>& kinds, const TrainingRequest& request);

  // The training goes on for another run, of which lines are written into its own step log; empty: none are.
  Outcome<void> Proceed(std::int64_t run_id, const std::string& step_log);
  Outcome<void> Setup(const HyperParameterValues& values);
  // One step, to the step `step`.
  Outcome<Measured> Train(std::int64_t step);
  // Leaves the state as it was, generators and modes included. A failure says that the state is intact where the
  // trainer itself failed (not memory, the library or the device) and the generators could be put back.
  Outcome<Measured> Evaluate();
  // The complete state at `step`, which must be the one reached: the trainer's own, the step and who trains.
  Outcome<State> Save(std::int64_t step);
  // Takes over a checkpoint file of this training, or, if `of_other_code`, of any. After the first step it may change
  // bits, unless the kind reloads.
  Outcome<void> Load(const std::filesystem::path& path, bool of_other_code);

 private:
  Training(const TrainerKind& kind, const TrainingRequest& request);

  // Runs one call of the trainer. `otherwise` is the kind of failure unless memory did not suffice.
  template <class Call>
  auto Guarded(Call call, FailureKind otherwise = FailureKind::kTrainer) -> Outcome<decltype(call())>;
  Outcome<void> BeginRun(std::int64_t run_id, const std::string& path);
  Outcome<void> CheckSetUp(const char* request) const;

  const TrainerKind* kind_;
  // What decides bits besides the sequences: a state of another training is refused.
  std::string identity_;
  std::unique_ptr<Trainer> trainer_;
  worker::StepLog step_log_;
  PeakMemory peak_memory_;
  bool set_up_ = false;
  std::int64_t step_ = 0;
};

}  // namespace espalier::trainer
