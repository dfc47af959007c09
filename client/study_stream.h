// A study's events, read by one thread from the first to the last: it settles the futures of claims in the events'
// order and keeps the latest progress. A broken stream is opened again from the next event. Any thread may call.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "client/connection.h"
#include "client/evaluation.h"
#include "client/future.h"

namespace espalier {

class StudyStream {
 public:
  StudyStream(std::shared_ptr<Connection> connection, StudyId study);
  // Ends the stream; futures that wait for it get kAborted.
  ~StudyStream();
  StudyStream(const StudyStream&) = delete;
  StudyStream& operator=(const StudyStream&) = delete;

  // The future of a claim, whether its event has come already or not.
  Future<Evaluation> FutureOf(ClaimId claim);

  std::optional<v1::StudyProgress> Progress() const;

  // Waits for the event that finishes the study. False: not within `patience`. Error: the stream's.
  Result<bool> WaitUntilFinished(Seconds patience) const;

 private:
  void Run();
  // Reads one stream to its end. Error: why it ended.
  Result<void> ReadOnce();
  void Take(const v1::WatchResponse& response);
  void Settle(const v1::ClaimSettled& settled, std::int64_t order);
  void End(const Error& error);
  // Waits before trying again; false: the stream shall end.
  bool Pause(Seconds pause);

  const std::shared_ptr<Connection> connection_;
  const StudyId study_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::unordered_map<ClaimId, Promise<Evaluation>> promises_;  // of claims asked for or settled
  std::optional<v1::StudyProgress> progress_;
  std::optional<Error> ended_;  // no more events will come, though the study is not finished
  bool finished_ = false;
  bool stopping_ = false;
  std::int64_t next_event_ = 1;
  int attempt_ = 0;                  // since the last response
  std::unique_ptr<WatchCall> call_;  // replaced by the reading thread only
  std::thread thread_;
};

}  // namespace espalier
