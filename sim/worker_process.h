// A simulated worker: answers the trainer protocol's requests in order, and trains numbers. A value with no time in it:
// its node manager's shell says when a request is over. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "sim/files.h"
#include "sim/recorded_trainings.h"
#include "sim/training.h"
#include "sim/world.h"

namespace espalier::sim {

// A step that a worker trained, and wrote into its step log; or that its trainer would not train.
struct TrainedStep {
  RunKey run;
  Step step;                 // reached
  std::uint64_t before = 0;  // state
  std::uint64_t after = 0;
  bool is_finished = false;  // it was not trained: the trainer has ended its training before it
};

class WorkerProcess {
 public:
  // `slots`: of its device, that it may use. `offers`: one at least, each another trainer or other data. `measures`:
  // as in World; they must live as long.
  WorkerProcess(std::int64_t number, int slots, std::vector<Offer> offers, const Measures* measures)
      : number_(number), slots_(slots), offers_(std::move(offers)), measures_(measures) {}

  std::int64_t number() const { return number_; }
  // What it is at, whatever of that it has still to be told: the run, and the state that the next step begins from.
  struct Work {
    RunKey run;
    std::uint64_t state = 0;
  };
  Work WorkAsked(const CheckpointFiles& files) const;

  // How long the request takes on a device of that speed; a save is written beside what follows it.
  Seconds DurationOf(const worker::RequestKind& request, World& world, double speed) const;

  // What the step that it trains takes of a GPU; none: it trains nothing, or that is not told.
  std::optional<StepDemand> DemandNow() const;

  // Whether it dies of the request instead of answering it.
  bool DiesOf(const worker::RequestKind& request) const;

  // What it answers once that time is over, and does to itself, to the disk, and to `trained` if it trained a step.
  // REQUIRES: it is no Save, and does not die of it.
  worker::ReplyKind Answer(const worker::RequestKind& request, Disk& disk, const CheckpointFiles& files,
                           std::optional<TrainedStep>& trained);

  // The state as it is now, under the identity.
  StateFile Snapshot(const worker::CheckpointIdentity& identity) const;

  std::deque<worker::WorkerRequest> asked;  // the first is being worked at
  bool hangs = false;
  bool is_spoilt = false;  // its device has failed
  Seconds takes{0};        // the first of them, in all

 private:
  worker::ReplyKind Do(const worker::Describe&);
  worker::ReplyKind Do(const worker::Init& init);
  worker::ReplyKind Do(const worker::Proceed& proceed);
  worker::ReplyKind Do(const worker::Setup& setup);
  worker::ReplyKind Do(const worker::Train& train, Disk& disk, std::optional<TrainedStep>& trained);
  worker::ReplyKind Do(const worker::Evaluate&);
  worker::ReplyKind Do(const worker::Load& load, const CheckpointFiles& files);

  const Offer& offer() const { return offers_[at_]; }
  const RecordedTrainings* recorded() const { return measures_ == nullptr ? nullptr : measures_->recorded; }
  std::size_t PlaceOf(const worker::Init& init) const;
  std::optional<double> LossHere() const;  // of the step that was trained last; none: it returns none
  Result<Metrics> Measure() const;
  std::uint64_t NextState() const;
  // None: nothing is recorded that tells.
  std::optional<Seconds> RecordedDurationOf(const worker::RequestKind& request, World& world) const;
  // Of the step that led to `state`.
  StepFate FateHere(std::uint64_t state) const;

  std::int64_t number_;
  int slots_;
  std::vector<Offer> offers_;
  const Measures* measures_;
  std::size_t at_ = 0;  // of the offers, the one that it was initialized for
  RunKey run_;
  TrainingName name_;      // of the training
  worker::Values values_;  // in force: of all that are sequences
  std::uint64_t state_ = 0;
  Step step_;
};

}  // namespace espalier::sim
