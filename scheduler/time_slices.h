// Policies that let trainings take turns: a run trains for a slice of time, then gives its slot to whoever is more
// urgent, and waits its own turn. Nothing is cancelled; what promises much shows it early.
//
// - `hermes` (J. Son et al., Hermes, Electronics 10(3), 2021, algorithm 3): who converges fastest (convergence.h), in
//   slices of 10 s that double with each milestone.
// - `hermes_pinned`: the same as in the paper, where states lie on a machine's own disk: each training stays on the
// slot
//   that it was given when it came, the one with the fewest (algorithms 1 and 2).
// - `slaq`: who has the highest loss, in slices of 30 s; `round_robin`: who has waited longest, in slices of 30 s.
// Hermes
//   is compared with these (its section 4.1).
//
// A training that has never run goes first, the earliest submitted first, as long as no more than four a slot have
// begun: these compete for all slots. A slice ends with the first training metric past its length, and is at least five
// times what it takes to store one state and load another. Equally urgent: whoever trains goes on, else the earlier
// submitted is next. A training whose state is on its way to the store has begun, too. The loss is the training metric
// of that name, else the first whose name ends so; trainings that report none are never interrupted.
//
// All that is remembered stands on trials as labels (slice_marks.h): a label is rewritten with each report, so that a
// restart changes no decision.
#pragma once

#include <memory>
#include <string_view>

#include "scheduler/policy.h"
#include "scheduler/slice_marks.h"

namespace espalier {

struct SliceRule {
  std::string_view name;
  Seconds length{0};
  bool grows = false;                             // doubles with each milestone
  bool pinned = false;                            // a training stays on the slot on which it began
  double (*urgency)(const SliceMark&) = nullptr;  // the highest first. REQUIRES: a slice has ended
};

extern const SliceRule kHermes;
extern const SliceRule kHermesPinned;
extern const SliceRule kSlaq;
extern const SliceRule kRoundRobin;

std::unique_ptr<Policy> MakeTimeSlices(const SliceRule& rule);

}  // namespace espalier
