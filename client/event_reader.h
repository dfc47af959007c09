// A study's events, read from the first to the last by one thread that waits for them. A broken stream is opened again
// from the next event, with growing pauses, for as long as the policy allows since the last response.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/study_event.h"
#include "client/study_port.h"

namespace espalier {

// What came at once.
struct EventsRead {
  std::vector<StudyEvent> events;             // the next ones, in order
  std::optional<v1::StudyProgress> progress;  // first after all events that were stored when reading began
};

class EventReader {
 public:
  // `tunes`: the reader carries the study's tuner on. `on_lost` is called in Next when the stream breaks, once until
  // the next response. REQUIRES: the port outlives it.
  EventReader(StudyPort& port, StudyId study, bool tunes = false, std::function<void()> on_lost = {})
      : port_(port), study_(study), tunes_(tunes), on_lost_(std::move(on_lost)) {}

  // Waits for more: events, or how far the study is. Nothing in it once the study's last event was given. Error: the
  // master's; kUnavailable when the policy's patience has ended; kAborted after Cancel. One thread.
  Result<EventsRead> Next();

  // From any thread: Next returns soon, for good.
  void Cancel();

 private:
  // Opens the stream. False: cancelled.
  bool Open();
  // Why the stream ended; nothing: it shall be opened again.
  std::optional<Error> AfterEnd();
  std::optional<EventsRead> Take(const v1::WatchResponse& response);

  StudyPort& port_;
  const StudyId study_;
  const bool tunes_;
  const std::function<void()> on_lost_;
  std::int64_t next_ = 1;
  google::protobuf::Timestamp previous_happened_at_;  // of the event before, if there is one
  bool finished_ = false;
  int attempt_ = 0;                 // since the last response
  std::optional<Seconds> lost_at_;  // none: a response was the last that came

  std::mutex mutex_;
  std::condition_variable cancelled_changed_;
  bool cancelled_ = false;
  std::unique_ptr<WatchCall> call_;  // replaced by the reading thread only
};

}  // namespace espalier
