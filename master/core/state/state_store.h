// The port to the database. Called by one thread at a time.
#pragma once

#include "base/result.h"
#include "master/core/state/master_state.h"
#include "master/core/state/state_edit.h"

namespace espalier::master {

class StateStore {
 public:
  virtual ~StateStore() = default;

  // What is stored, with the derived parts filled in. Error: kUnavailable (database away), kInternal (contents break a
  // rule).
  virtual Result<MasterState> Load() = 0;

  // Stores the edit in one transaction, all or nothing; returns once it is durable. Changes that are not stored are
  // passed over. Error: any means that memory must be dropped and the state recovered: the outcome is unknown
  // (kUnavailable), or the database held other than the edit expects (kAborted), or another master leads
  // (kFailedPrecondition).
  virtual Result<void> Commit(const StateEdit& edit) = 0;
};

}  // namespace espalier::master
