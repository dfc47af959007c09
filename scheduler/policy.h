// The plug-in interface of scheduling policies. No clock, I/O or randomness: what a policy does follows from what it is
// shown.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "scheduler/action.h"
#include "scheduler/need_index.h"
#include "scheduler/policy_event.h"
#include "scheduler/view.h"

namespace espalier {

class Policy {
 public:
  virtual ~Policy() = default;
  virtual std::string_view name() const = 0;
  // By what the engine keeps ready paths in order for it.
  virtual Ranking ranking() const = 0;
  // Whether it starts what is due first (View::BestStart); then runs are preempted for those who have less than their
  // share, too.
  virtual bool is_fair() const { return true; }
  // Told of everything that happens, before it is asked; the view is as it is then. What the policy remembers of it is
  // of its memory alone: after a restart, and when it is chosen, it begins with none, finds in the view what is stored,
  // and must decide then as if it had been told all.
  virtual void Take(const PolicyEvent& /*event*/, const View& /*view*/) {}
  // Asked after every event, ticks included, also when no slot is idle; and again, with the view as it is then, until
  // it wants nothing more. None: nothing now.
  virtual std::optional<Action> Decide(const View& view, Time now) = 0;
};

// What decides where nobody has chosen another.
inline constexpr std::string_view kDefaultPolicy = "critical_path";

// A policy as people choose it.
struct KnownPolicy {
  std::string name;
  std::string summary;  // what it does, for them
};

// All that there are, the default first.
std::vector<KnownPolicy> KnownPolicies();

// One of those, as it begins. Error: kInvalidArgument of the field `policy`, listing them.
Result<std::unique_ptr<Policy>> MakePolicy(std::string_view name);

}  // namespace espalier
