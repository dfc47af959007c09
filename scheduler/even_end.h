// The default policy: critical path, and an even end. By critical path alone a run trains on to its path's end; so some
// slots come to paths that have little left, while much longer ones wait, and at last these are alone, with idle slots
// beside them. Here a run that has little left is preempted in favour of a path that has much more before it; what it
// has left waits its turn. Of trees that is the shortest end there is (R. R. Muntz and E. G. Coffman, 1970), if a
// change of runs cost nothing; since it does, a path has to be longer by a tenth of its length and by ten times what a
// change takes. Nothing is preempted while all that waits is at its end in time though it begins as runs end by
// themselves: before all work is done, were it spread evenly over the slots.
#pragma once

#include <vector>

#include "scheduler/policy.h"

namespace espalier {

class EvenEnd : public Policy {
 public:
  std::string_view name() const override { return kDefaultPolicy; }
  Ranking ranking() const override { return Ranking::kLongest; }
  // Looks for runs to preempt once a second at most, for all of them at once.
  std::optional<Action> Decide(const View& view, Time now) override;

 private:
  Time looked_at_{};
  std::vector<RunId> to_preempt_;  // by this look, the next one last; empty between events
};

}  // namespace espalier
