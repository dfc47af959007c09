// What a policy may order. The engine checks each action: one that cannot be carried out changes nothing.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/point.h"
#include "protocol/device.h"
#include "scheduler/curve_forecast.h"
#include "scheduler/slot_id.h"

namespace espalier {

// Train on from a state that stands, along the best stages that follow, as one run, or the first of them alone; or
// evaluate that state.
struct StartPath {
  PlanId plan;
  Point source;                     // a checkpoint; step 0 of a root: from Init
  std::optional<PlanNodeId> first;  // under which the first stage trains; none: the state is evaluated
  SlotId slot;                      // free
  // Of the slot's device; none: an equal share of it, or as many as the path is known to take.
  std::optional<Reservation> reservation = std::nullopt;
  bool one_stage = false;  // the state at its end is stored before what follows begins, as a run of its own
  friend bool operator==(const StartPath&, const StartPath&) = default;
};

// Save at the next step's end and free the slot. Nothing is lost: what follows starts from that state.
struct PreemptRun {
  RunId run;
  friend bool operator==(const PreemptRun&, const PreemptRun&) = default;
};

// Its tuner hears that it was cancelled: its waiting claims are withdrawn, and it may ask for no more. What others need
// of its way is trained all the same. Only of a study that says that policies may stop its trials.
struct ReleaseTrial {
  TrialId trial;
  friend bool operator==(const ReleaseTrial&, const ReleaseTrial&) = default;
};

// The trial asks for its metric at this step, too, before the furthest for which it waits; and so its state there is
// stored. Only of a study that says that policies may stop its trials.
struct ClaimStep {
  TrialId trial;
  Step step;
  friend bool operator==(const ClaimStep&, const ClaimStep&) = default;
};

// Writes on the trial, for people and for the policy itself after a restart; instead of what was written before.
struct LabelTrial {
  TrialId trial;
  std::string text;  // not empty
  friend bool operator==(const LabelTrial&, const LabelTrial&) = default;
};

// Works the question beside the event loop; CurveAnalysed tells the answer. It is lost when the master ends before:
// then the policy asks again. Not of a trial whose curve up to there is being analysed.
struct AnalyseCurve {
  CurveQuestion question;
  friend bool operator==(const AnalyseCurve&, const AnalyseCurve&) = default;
};

using Action = std::variant<StartPath, PreemptRun, ReleaseTrial, ClaimStep, LabelTrial, AnalyseCurve>;

// "start plan 1 at 3@40 under 4 on server/0"
std::string Print(const Action& action);

}  // namespace espalier
