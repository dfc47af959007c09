// What the check has workers do: passes over the same training, the first straight, the others disturbed in ways that
// must not show. Values; check.h carries them out. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"

namespace espalier::trainer_check {

enum class Deed {
  kBegin,            // from scratch, in a new process
  kBeginAgain,       // from scratch, in the process that trained last
  kTrain,            // one step
  kEvaluate,         //
  kSave,             //
  kResume,           // what was saved at this step is loaded in a new process
  kResumeInProcess,  // the same in the process that trained last, after Init
  kReload,           // the same, without Init
  kProceed,          // goes on for another run, where the worker can be told so
};

struct Action {
  Deed deed = Deed::kBegin;
  Step step;  // at which it is done; of kTrain, the one that is reached
  friend bool operator==(const Action&, const Action&) = default;
};

struct Pass {
  std::string name;
  std::vector<Action> actions;
};

// "saved at step 3", "resumed at step 3 in a new process".
std::string Print(const Action& action);

// Training that is saved and measured at its end alone.
Pass Straight(Step end);

// The passes behind the straight one, the smallest disturbance first, so that the first one to differ says most:
// saving, and going on for another run; evaluating, in a process that has trained before; two orders of evaluating,
// saving and going on in a new process, at steps before and after the first change of values; and going on in a process
// that has trained. `change`: the first step at which values change; step 0: none. REQUIRES: `end` >= 4.
std::vector<Pass> Disturbed(Step end, Step change);

// The straight training once more, in the process that trained last, saved at every step.
Pass BegunAgain(Step end);

// Loading in a process that has trained on, without Init.
Pass Reloaded(Step end);

// What is to blame for a difference that was seen after these actions: the last of the heaviest deeds among them, since
// passes come by the weight of what disturbs them, and those before it showed no difference. REQUIRES: not empty.
Action Suspect(const std::vector<Action>& done);

// So many of the passes' actions need a new process.
int ProcessCount(const std::vector<Pass>& passes);

}  // namespace espalier::trainer_check
