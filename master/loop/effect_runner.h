// Carries effects out: answers calls, sends to node managers, wakes watchers. The event loop's view of the outside.
#pragma once

#include "master/core/effect.h"

namespace espalier::master {

class EffectRunner {
 public:
  virtual ~EffectRunner() = default;
  // Called by one thread at a time, in order, when all that came before is durable. Must not wait for the event loop,
  // and should be quick: the next commit waits. Never given a LogLine: the event loop logs those itself.
  virtual void Run(const Effect& effect) = 0;
};

}  // namespace espalier::master
