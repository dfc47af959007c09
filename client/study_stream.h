// The futures of a study's claims, settled by its events as the client's thread reads them. The study's events are
// asked for with the first question. Any thread may call.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "client/connection.h"
#include "client/evaluation.h"
#include "client/future.h"
#include "client/study_events.h"

namespace espalier {

class StudyStream : private StudyListener {
 public:
  StudyStream(std::shared_ptr<Connection> connection, StudyId study)
      : connection_(std::move(connection)), study_(study) {}
  // No more is read; futures that wait get kAborted. REQUIRES: not on the thread that reads.
  ~StudyStream() override;
  StudyStream(const StudyStream&) = delete;
  StudyStream& operator=(const StudyStream&) = delete;

  // The future of a claim, whether its event has come already or not. `cancel`: what withdraws it.
  Future<Evaluation> FutureOf(ClaimId claim, std::function<Result<void>()> cancel);

  // Whether the caller is the thread that reads, in a future's callback.
  bool IsRead() const { return connection_->events().IsRead(); }

  // Waits for the event that finishes the study. False: not within `patience`. Error: the stream's.
  Result<bool> WaitUntilFinished(Seconds patience);

 private:
  void Begin();  // REQUIRES: mutex_ is held
  // Futures are settled by one thread, and without the lock: their callbacks may ask for more.
  void Take(const std::vector<StudyEvent>& events) override;
  void End(const Error& error) override;

  const std::shared_ptr<Connection> connection_;
  const StudyId study_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::int64_t> number_;                         // among the client's studies; none: nobody has asked
  std::unordered_map<ClaimId, Promise<Evaluation>> promises_;  // of claims asked for or settled
  std::optional<Error> ended_;  // no more events will come, though the study is not finished
  bool finished_ = false;
  std::int64_t settled_count_ = 0;
};

}  // namespace espalier
