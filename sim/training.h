// What simulated trainers compute. A training's state is a number folded over the configuration's values at each step,
// so that what is measured at a point is a function of the point's lineage alone; and so is what goes wrong in training
// or evaluation by the trainer's own fault. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/claim_state.h"
#include "protocol/offer.h"
#include "searchplan/sequence/configuration.h"
#include "worker/protocol/worker_message.h"

namespace espalier::sim {

// "code-1", "code-2", ... and "evaluation-1", ...: what differs between two versions of the simulated trainer.
// Evaluation 0 never goes wrong.
Offer OfferOf(int code, int evaluation);

// Of a trainer that takes any hyper-parameters, never goes wrong, and whose metrics all follow one formula, or tables.
Offer FormulaOffer(const std::string& trainer, const std::string& data, std::vector<std::string> metrics);
bool IsFormula(const Offer& offer);
// Its state is the sum of what the steps' values were worth, each from a half to 1 as they and the seed decide.
std::uint64_t FormulaStateAfterStep(std::uint64_t state, const worker::Values& values, std::uint64_t seed);
// Grows with the steps, the less the more there were, towards what the values in force were worth on average: from 0 to
// 1.
double FormulaScore(std::uint64_t state, Step step);

std::uint64_t StateAfterInit(const Offer& offer, const worker::Values& initial);
// `values`: of all hyper-parameters that are sequences.
std::uint64_t StateAfterStep(std::uint64_t state, const worker::Values& values);

// What training does in the step that led to `state`. One that crashes does so whenever it is tried; one that finishes
// is never trained: the trainer ends its training before it; one that outgrows takes more slots than any device has.
enum class StepFate { kGoesOn, kDiverges, kRaises, kCrashes, kFinishes, kOutgrows };
StepFate FateOf(std::uint64_t state, const worker::Values& values);

// What the step that led to `state` returned as its loss.
double LossOf(std::uint64_t state);

// How many slots of a device that step takes: with less, its worker is out of memory.
int SlotsNeeded(std::uint64_t state, const worker::Values& values);
// That any simulated device has.
inline constexpr int kDeviceSlots = 2;

struct EvaluationFate {
  bool crashes = false;  // whenever it is tried
  bool raises = false;
  bool state_intact = true;  // of one that raises
  double score = 0;          // of one that does not; may be NaN
};
EvaluationFate Evaluate(std::uint64_t state, const std::string& evaluation);

// As the digest of a checkpoint's content.
std::string Sha256Of(std::uint64_t state);

// A trial trained alone, without any service: the oracle of every result.
class TrainedAlone {
 public:
  // REQUIRES: the sequences are valid under the offer's schema up to `horizon` >= 1.
  TrainedAlone(const Offer& offer, const std::map<std::string, std::string>& sequences, Step horizon);

  struct Answer {
    ClaimState state = ClaimState::kDone;
    bool by_crashes = false;  // of one that failed: only after it was tried often enough
    double score = 0;         // of one that is done
  };
  // REQUIRES: 1 <= step <= horizon.
  Answer At(Step step, const std::string& evaluation) const;

  // The state after so many steps, even where it diverged before. REQUIRES: 0 <= step <= horizon.
  std::uint64_t StateAt(Step step) const { return states_.at(static_cast<std::size_t>(step.value)); }

  // The functions that gave it its values. REQUIRES: 1 <= step <= horizon.
  std::vector<JointSegment> SegmentsBefore(Step step) const;

  // The last step that is ever trained: the horizon, or where it diverges, raises or crashes, or was finished.
  Step last() const;
  // Where a claim at the step is measured: there, or where training was finished before.
  Step MeasuredAt(Step step) const;
  bool finishes() const { return fate_ == StepFate::kFinishes; }

 private:
  std::vector<JointSegment> segments_;
  std::vector<std::uint64_t> states_;
  Step fate_at_{0};  // Step{0}: it goes on to the horizon
  StepFate fate_ = StepFate::kGoesOn;
};

}  // namespace espalier::sim
