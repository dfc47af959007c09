// What policies of time slices remember of trainings: a *mark* stands on a trial, at a point of its way, and is written
// as that trial's label. So all that is remembered is stored, and found again after a restart.
//
// What is known of a point is the deepest mark on the way to it behind which a slice has ended: a branch begins with
// what its parent knew. One thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/point.h"
#include "scheduler/convergence.h"
#include "scheduler/slot_id.h"

namespace espalier {

struct SliceMark {
  PlanId plan;
  Point at;                                // trained so far, as was reported
  std::optional<Convergence> convergence;  // as of the end of the last slice; none: there was none yet
  SliceLosses losses;                      // of the slice that goes on
  Time since{};                            // when it began, or the last one ended
  std::optional<SlotId> slot;              // on which it stays; none: on any
  friend bool operator==(const SliceMark&, const SliceMark&) = default;
};

// "plan 1 at 3@40, rate 0.18 loss 1.05 of 1.6 milestones 1, since 1764200000000000 losses 3 1.2 0.9 0.9 1.2, on slot 2
// of server-1"; read back bit for bit.
std::string Print(const SliceMark& mark);
// None: it is no such text.
std::optional<SliceMark> ParseSliceMark(std::string_view text);

class SliceMarks {
 public:
  // O(log).
  void Set(TrialId trial, const SliceMark& mark);
  void Erase(TrialId trial);
  const SliceMark* Of(TrialId trial) const;  // null: none

  // Of those behind which a slice has ended.
  // Exactly there; of several that of the first trial. Null: none. O(log).
  const SliceMark* At(PlanId plan, Point point) const;

  // What is known of the point to which `way` leads: of each node the last point, the first first. Null: nothing. Of
  // several marks at one point that of the first trial. O(depth log).
  const SliceMark* Known(PlanId plan, const std::vector<Point>& way) const;
  // The first mark beyond the point, on its node: of a training that has passed it. Null: none. O(log).
  const SliceMark* Beyond(PlanId plan, Point point) const;

 private:
  using AtSteps = std::map<Step, std::set<TrialId>>;
  std::map<TrialId, SliceMark> marks_;
  std::map<std::pair<PlanId, PlanNodeId>, AtSteps> at_;  // of those behind which a slice has ended; none is empty
};

}  // namespace espalier
