// What servers should do: derives again what each run must promise (law 8), and lets the policy start paths and preempt
// runs. Each of its actions is checked: it can be unwise, never wrong.
#pragma once

#include "master/core/draft.h"
#include "master/core/state/demand.h"

namespace espalier::master {

// Asks the policy until it has no more to do, and then, of slots that stay idle, the tuners that want to know. An
// action that cannot be done is logged, and the policy is not asked again in this transition. O(what changed in the
// needs of touched plans + actions x (log plans + path x depth + idle servers that may not start it)).
void OrderRuns(Draft& draft);

// A stage is not ordered while a failure pauses it, nor again on the one server on which it crashed, if another can
// begin it; nor where it was refused lately. O(log), and where it crashed O(servers x devices).
bool MayStart(const Draft& draft, const Server& server, const SearchPlan& plan, const StageBeginning& beginning,
              const Demand& demand);

// Whether a server with an idle slot offers the trainer on such a device, whatever it evaluates by. O(log kinds).
bool HasIdleSlot(const MasterState& state, const OfferKind& kind);

}  // namespace espalier::master
