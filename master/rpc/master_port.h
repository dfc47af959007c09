// The event loop as the services see it. Thread-safe.
#pragma once

#include <functional>

#include "base/result.h"
#include "master/core/event.h"
#include "master/core/state/master_state.h"

namespace espalier::master {

class MasterPort {
 public:
  virtual ~MasterPort() = default;

  // Hands an event to the loop. Its effects come back through RpcServer::Carry.
  virtual void Post(Event event) = 0;

  // Runs `read` on the loop's thread and returns once everything that it saw is durable.
  // Error: kUnavailable when the loop stops or recovers before that; what `read` produced must then be dropped.
  virtual Result<void> Read(const std::function<void(const MasterState&)>& read) = 0;

  // The same, and does not wait: `done` is called instead, on a thread that it must not hold up.
  virtual void PostRead(std::function<void(const MasterState&)> read, std::function<void(Result<void>)> done) = 0;
};

}  // namespace espalier::master
