// What a policy may look at when it decides. It shows the state as it is at that moment, and is cheap to make: what it
// says is found when it is asked for.
#pragma once

#include <optional>
#include <vector>

#include "scheduler/action.h"
#include "scheduler/run_view.h"

namespace espalier {

class View {
 public:
  virtual ~View() = default;

  // What an idle slot can best begin: the evaluation of a state that stands, for others wait for it and it is short;
  // else the first path in the policy's ranking that a server with an idle slot offers. None: nothing waits, or nothing
  // fits. O(kinds of offers that are wanted), and more only where failures pause the best.
  virtual std::optional<StartPath> BestStart() const = 0;

  // Runs that can be preempted: they train, and are not being preempted; not one that begins where another lost the
  // state for which it was preempted, and none has stored one since. By id. O(runs under way).
  virtual std::vector<RunView> Preemptible() const = 0;
};

}  // namespace espalier
