// The futures of a study's claims, settled by its events as one thread reads them; and the latest progress. The thread
// begins with the first question. Any thread may call.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "client/connection.h"
#include "client/evaluation.h"
#include "client/event_reader.h"
#include "client/future.h"

namespace espalier {

class StudyStream {
 public:
  StudyStream(std::shared_ptr<Connection> connection, StudyId study)
      : connection_(std::move(connection)), reader_(*connection_, study) {}
  // Ends the stream; futures that wait for it get kAborted. REQUIRES: not on the thread that reads.
  ~StudyStream();
  StudyStream(const StudyStream&) = delete;
  StudyStream& operator=(const StudyStream&) = delete;

  // The future of a claim, whether its event has come already or not. `cancel`: what withdraws it.
  Future<Evaluation> FutureOf(ClaimId claim, std::function<Result<void>()> cancel);

  // Whether the caller is the thread that reads, in a future's callback.
  bool IsRead() const { return std::this_thread::get_id() == thread_.get_id(); }

  // Waits for the event that finishes the study. False: not within `patience`. Error: the stream's.
  Result<bool> WaitUntilFinished(Seconds patience);

 private:
  void Begin();  // REQUIRES: mutex_ is held
  void Run();
  // Futures are settled by one thread, and without the lock: their callbacks may ask for more.
  void Take(const EventsRead& read);
  void End(const Error& error);

  const std::shared_ptr<Connection> connection_;
  EventReader reader_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<ClaimId, Promise<Evaluation>> promises_;  // of claims asked for or settled
  std::optional<Error> ended_;  // no more events will come, though the study is not finished
  bool finished_ = false;
  std::int64_t settled_count_ = 0;
  std::thread thread_;
};

}  // namespace espalier
