// The signals that ask `up` to stop (Ctrl-C, SIGTERM, a closed terminal) and those that tell of a child's end, received
// by waiting for them instead of by a handler. While this lives they are blocked in the thread that made it. A signal
// that our parent had us ignore (`nohup`, a script's background) stays ignored.
// Not thread-safe: made, used and destroyed by the one thread that also starts the children.
#pragma once

#include <signal.h>

#include "base/result.h"
#include "base/units.h"
#include "client/cli/up/file_descriptor.h"

namespace espalier {

class StopSignals {
 public:
  static Result<StopSignals> Create();
  StopSignals(StopSignals&&) = default;
  ~StopSignals();

  // Returns when a signal came or the time is over: how often a stop was asked for meanwhile.
  int Wait(Seconds longest);
  // Can be read while a signal waits, for those who wait for other things as well.
  int Descriptor() const { return signals_.Get(); }

 private:
  StopSignals(FileDescriptor signals, const sigset_t& before) : signals_(std::move(signals)), before_(before) {}

  FileDescriptor signals_;
  sigset_t before_;
};

}  // namespace espalier
