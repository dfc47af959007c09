// What a trainer is: training code that can stop after any step and go on elsewhere as if it had not.
// A trainer declares every hyper-parameter it has. One object is one training: Init (the values at step 0), then Setup
// with all that are sequences, then steps. At step s the order is Evaluate, Save, Setup (the values that change at s),
// Train. To resume at s: Init and Setup (all values of s - 1) on a new object, or, if the kind reloads, Setup alone on
// one that had the same values at step 0; Load, Setup (those that change at s). The law: metrics and states are the
// same, bit for bit, however often a training was saved, loaded into another process and evaluated in between. So Save
// must return everything: model, optimizer, random generators, place in the data. All methods are called by one thread.
// They report failure by throwing what derives from std::exception; but for Evaluate, the object is not used after
// that.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "base/units.h"
#include "worker/protocol/worker_message.h"
#include "worker/trainer/state.h"

namespace espalier::trainer {

using HyperParameterValue = Value;
using HyperParameterValues = worker::Values;

struct DeclaredHyperParameter {
  std::string name;
  // What a study gets that leaves it out; its type is the hyper-parameter's.
  HyperParameterValue default_value;
  // True: fixed at step 0. False: a sequence, which may change at any step.
  bool initial = false;
};

class Trainer {
 public:
  virtual ~Trainer() = default;

  // Begins from scratch, with the values of all hyper-parameters at step 0, those of sequences too, on resume as well:
  // what follows from them alone may be made here; what holds from now on is said by Setup.
  virtual void Init(const HyperParameterValues& values) = 0;

  // New values of sequences: of all the first time, then of those that change. Called before any Train, Evaluate or
  // Load.
  virtual void Setup(const HyperParameterValues& changed_values) = 0;

  // One step; one that may take minutes calls Heartbeat() (heartbeat.h) now and then. Returns at least "loss" (the mean
  // over the samples) and "samples" (how many were trained on). One that is NaN or infinite: the training has diverged.
  virtual Metrics Train() = 0;

  // Returns the declared metrics and leaves the state unchanged, modes included, also when it throws: then training may
  // go on. Only the random generators of LibTorch are put back by the caller.
  virtual Metrics Evaluate() = 0;

  // A copy of everything that the next steps depend on, besides the hyper-parameters' values.
  virtual State Save() = 0;

  // Takes over what Save returned. Throws if it is not a state of such a training. Before any Train, but for a kind
  // that reloads: there also after steps, which must then be as if they had not been.
  virtual void Load(const State& state) = 0;
};

// What is known of a trainer before it runs, and how to make one.
struct TrainerKind {
  // As study files name it.
  std::string name;
  // Of the code. A built-in trainer declares a version here, raised when its bits change, so that rebuilding keeps
  // sharing.
  std::string code_digest;
  // As study files name it; empty if the trainer brings its own.
  std::string data;
  std::string data_digest;
  // Of the validation data and the evaluation settings.
  std::string evaluation_digest;
  // Sorted by name.
  std::vector<DeclaredHyperParameter> hyper_parameters;
  // What Evaluate returns, sorted.
  std::vector<std::string> metrics;
  // True: also sequences under any other name, of any type. Setup is given those that a study names; one that it was
  // never given, and one that is false, 0 or empty, must be the same to the training.
  bool takes_any = false;
  // True: an object that has trained may Load a state of the same training.
  bool reloads = false;
  std::function<std::unique_ptr<Trainer>(StepMeaning)> make;
};

}  // namespace espalier::trainer
