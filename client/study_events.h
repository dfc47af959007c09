// The events of all the studies that a client waits for, on one stream, which one thread reads. A study is added to the
// stream that is open; a broken one is opened again with growing pauses, each study from its own next event, for as
// long as the policy allows since the last response. Open while there is something to wait for. Any thread may call.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/study_event.h"
#include "client/connection.h"

namespace espalier {

// What waits for a study's events. Called by the thread that reads, one call at a time for all studies.
class StudyListener {
 public:
  virtual ~StudyListener() = default;
  // The next ones, in order, each once.
  virtual void Take(const std::vector<StudyEvent>& events) = 0;
  // No more will come, and the study is not finished. Nothing is called any more.
  virtual void End(const Error& error) = 0;
};

class StudyEvents {
 public:
  // REQUIRES: the connection outlives it.
  explicit StudyEvents(Connection& connection) : connection_(connection) {}
  // REQUIRES: every listener was removed; not on the thread that reads.
  ~StudyEvents();
  StudyEvents(const StudyEvents&) = delete;
  StudyEvents& operator=(const StudyEvents&) = delete;

  // From the study's first event on; the number that removes it. The listener may be called before this returns.
  std::int64_t Add(StudyId study, StudyListener* listener);

  // The listener is not called any more once this returns. REQUIRES: not on the thread that reads.
  void Remove(std::int64_t number);

  // Whether the caller is the thread that reads.
  bool IsRead() const { return std::this_thread::get_id() == reading_; }

 private:
  struct Listening {
    StudyId study;
    StudyListener* listener;
    std::int64_t next = 1;
    google::protobuf::Timestamp previous_happened_at = {};  // of the event before, if there is one
  };
  using Lock = std::unique_lock<std::mutex>;

  static v1::WatchStudiesRequest BeginOf(std::int64_t number, const Listening& listening);
  void Run();
  // Opens the stream, with all that is waited for.
  std::shared_ptr<StudiesCall> Open(const Lock& lock);
  void Take(const v1::WatchStudiesResponse& response);
  // Where nobody waits any more. REQUIRES: mutex_ is held, and the stream is open.
  void EndIfIdle();
  // Waits before the stream is opened again, or gives up.
  void AfterEnd(Lock& lock, const Result<void>& outcome);
  void EndAll(Lock& lock, const Error& error);
  // Without the lock, and known to Remove.
  template <class Call>
  void CallListener(Lock& lock, std::int64_t number, const Call& call);

  Connection& connection_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::int64_t, Listening> listening_;
  std::int64_t last_number_ = 0;
  std::optional<std::int64_t> called_;  // whose listener is called now
  std::shared_ptr<StudiesCall> call_;   // replaced by the reading thread only
  bool is_idle_ = false;                // the call was ended since nobody waits
  bool stopped_ = false;
  int attempt_ = 0;                 // since the last response
  std::optional<Seconds> lost_at_;  // none: a response was the last that came
  std::thread thread_;
  std::atomic<std::thread::id> reading_{};
};

}  // namespace espalier
