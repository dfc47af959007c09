// What carrying a study on takes of a master: as the study's user, or as a tuner host for him. Any thread may call.
#pragma once

#include <memory>

#include "base/result.h"
#include "base/units.h"
#include "espalier/v1/study.pb.h"

namespace espalier {

struct RetryPolicy {
  Seconds first_connection_patience{3};
  Seconds call_patience = Seconds::max();  // how long one call is tried again, and events waited for once they are lost
  Seconds first_pause{0.05};               // doubled after each attempt
  Seconds longest_pause{2};
};

// One stream of a study's events.
class WatchCall {
 public:
  virtual ~WatchCall() = default;
  // Blocks. False: the stream has ended; Finish says why.
  virtual bool Read(v1::WatchResponse& response) = 0;
  // REQUIRES: Read returned false.
  virtual Result<void> Finish() = 0;
  // From any thread: ends the stream soon.
  virtual void Cancel() = 0;
};

class StudyPort {
 public:
  virtual ~StudyPort() = default;

  // Tried again as the policy says. Errors: the master's, with the field that it names.
  virtual Result<v1::SubmitResponse> Submit(const v1::SubmitRequest& request) = 0;

  // One attempt: who reads it starts the next from the next event.
  virtual std::unique_ptr<WatchCall> Watch(const v1::WatchRequest& request) = 0;

  virtual const RetryPolicy& policy() const = 0;
};

}  // namespace espalier
