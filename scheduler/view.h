// What a policy may look at when it decides. It shows the state as it is at that moment, and is cheap to make: what it
// says is found when it is asked for.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "scheduler/action.h"
#include "scheduler/run_view.h"

namespace espalier {

// Who would have slots of one trainer on one device kind, none of which is idle.
struct Contest {
  struct Left {
    RunId run;
    Seconds left{0};  // that it has still to train up to its end, estimated
  };
  std::vector<Seconds> waiting;  // the longest way down of each path that could start, estimated; the longest first
  std::vector<Left> runs;        // that can be preempted; the least first
  std::size_t leaving = 0;       // runs that are being preempted: so many of the waiting paths have their slots soon
  Seconds switching{0};          // about what it takes to store one state and load another
};

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

  // Where some paths wait, but fewer than runs train; runs and paths of one slot only. O(runs under way log).
  virtual std::vector<Contest> Contests() const = 0;
};

}  // namespace espalier
