// Keeps an event whose changes the store refuses from harming all others. A refusal (not an unknown outcome, which may
// pass) can have two reasons: memory was not what is stored, which loading mends, or the event itself. So the first
// time everybody is told to try again, and for a while each event is committed alone, a node manager's message report
// by report. What is then refused alone, for the same kind of reason, is isolated: a call is told so; a report counts
// as acknowledged and is not applied when it comes again, a registration is passed over, and ticks pause for a while.
// Pure; one thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "master/loop/origin.h"

namespace espalier::master {

class Isolation {
 public:
  // `alone_for`: how long events are committed alone after a refusal, and ticks pause that were isolated.
  explicit Isolation(Seconds alone_for) : alone_for_(alone_for) {}

  // Whether each event must be committed alone now.
  bool IsAlone(Moment now) const { return now < alone_until_; }

  // What is to be handled in the event's stead, in this order; mostly the event itself.
  std::vector<Event> Parts(Event event, const MasterState& state, Moment now) const;

  // A commit failed. `only`: of the one event whose changes it held. Gives it back if it is isolated from now on.
  std::optional<Origin> Failed(const Error& error, const std::optional<Origin>& only, Moment now);

 private:
  struct Refused {
    bool registration = false;
    std::set<std::int64_t> reports;
  };
  using NodeKey = std::pair<std::string, std::string>;  // server, incarnation

  void Isolate(const FromNode& node);

  const Seconds alone_for_;
  Moment alone_until_{};
  Moment no_ticks_until_{};
  std::optional<ErrorCode> last_refusal_;
  std::map<NodeKey, Refused> refused_;
};

}  // namespace espalier::master
