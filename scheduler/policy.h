// The plug-in interface of scheduling policies. No clock, I/O or randomness: what a policy does follows from what it is
// shown.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "scheduler/action.h"
#include "scheduler/need_index.h"
#include "scheduler/view.h"

namespace espalier {

class Policy {
 public:
  virtual ~Policy() = default;
  virtual std::string_view name() const = 0;
  // By what the engine keeps ready paths in order for it.
  virtual Ranking ranking() const = 0;
  // Asked after every event, ticks included, also when no slot is idle; and again, with the view as it is then, until
  // it wants nothing more. None: nothing now.
  virtual std::optional<Action> Decide(const View& view, Time now) = 0;
};

// "critical_path" (TreeML 4.3), "breadth_first" (TreeML 6.3), "throughput", by all stages below, or
// "throughput_children", by those right behind a stage (TreeML 6.3): each starts the best of its ranking as soon as a
// slot is idle, and preempts nothing; "critical_path_preempting" does (even_end.h). With "_unbatched" behind the name
// of one of the others each run is one stage, as in TreeML 6.3: the stage that follows begins once the state is stored,
// wherever a slot is idle. Error: kInvalidArgument of the field `policy`, listing them.
Result<std::unique_ptr<Policy>> MakePolicy(std::string_view name);

}  // namespace espalier
