// How the changes of runs in one edit end: a run's promises move within an edit, so that only what they were before and
// after it can be written. Pure.
#pragma once

#include <map>
#include <vector>

#include "master/core/state/state_edit.h"

namespace espalier::master {

// The runs that have not ended, as the database has them.
class StoredRuns {
 public:
  StoredRuns() = default;
  explicit StoredRuns(const MasterState& loaded);

  struct Change {
    std::optional<Run> before;  // none: added by this edit
    Run after;
  };

  // Takes the changes of runs out of an edit; others are passed over. Nothing is kept until Accept.
  // Error: kAborted for a change of a run that is unknown or has ended, or of a promise that is not open.
  Result<std::vector<Change>> Follow(const StateEdit& edit) const;

  // The changes are durable.
  void Accept(const std::vector<Change>& changes);

 private:
  std::map<RunId, Run> active_;
};

struct PromiseChanges {
  std::vector<Promise> settled;  // open before
  std::vector<Promise> made;
};

// What became of the promises. Promises are never removed, and a settled one never changes.
PromiseChanges ComparePromises(const std::vector<Promise>& before, const std::vector<Promise>& after);

}  // namespace espalier::master
