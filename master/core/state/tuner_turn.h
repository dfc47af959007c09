// How the service and a study's tuner stand, as the study's events tell it: which batches were taken, and whether the
// tuner may be asked for work. It is asked once at a time; and if it had nothing to ask for, not again before a claim
// is settled: one that was settled before its answer came may have been news to it.
#pragma once

#include <cstdint>

#include "base/study_event.h"

namespace espalier::master {

struct TunerTurn {
  std::int64_t batch_count = 0;  // taken; so the number of the next one
  bool asked = false;            // of a slot that would be idle, and has not answered yet
  bool claimed = false;          // something, since its last batch
  bool settled = false;          // a claim, since it was asked
  bool rests = false;            // until a claim is settled

  bool MayBeAsked() const { return !asked && !rests; }

  void Take(const StudyEvent& event) {
    if (std::holds_alternative<ClaimMade>(event)) claimed = true;
    if (std::holds_alternative<ClaimSettled>(event)) {
      rests = false;
      settled = asked;
    }
    if (std::holds_alternative<SlotIdle>(event)) asked = true;
    if (const auto* taken = std::get_if<BatchTaken>(&event)) {
      batch_count = taken->number + 1;
      rests = asked && !claimed && !settled;
      asked = claimed = settled = false;
    }
  }

  friend bool operator==(const TunerTurn&, const TunerTurn&) = default;
};

}  // namespace espalier::master
