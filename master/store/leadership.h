// Which of several masters writes: the one whose epoch stands in the database. It renews its row every second; one that
// has not for three seconds, or has no connection left, is taken over from: its connections are ended, the epoch counts
// up. What a frozen master still has in hand when it thaws meets an epoch that is not its own, and is refused.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "base/result.h"

namespace espalier::master {

class Leadership {
 public:
  // Waits until this process leads. `holder` names it, for people. `lost` is called at most once, on a thread of its
  // own, when another master has taken over: the process must stop writing, and exit. Error: kUnavailable when the
  // database is away at the first try; kAborted when `stop` is requested meanwhile. Blocks for as long as another
  // leads; asks five times a second. REQUIRES: the database is migrated.
  static Result<std::unique_ptr<Leadership>> Acquire(const std::string& database_url, const std::string& holder,
                                                     std::stop_token stop, std::function<void(const Error&)> lost);

  // Ends renewing; waits for one that is under way. The row stays: a successor finds no connection of this epoch and
  // takes over at once.
  ~Leadership();

  std::int64_t epoch() const { return epoch_; }

 private:
  class Row;
  Leadership(std::string database_url, std::int64_t epoch, std::unique_ptr<Row> row,
             std::function<void(const Error&)> lost);
  void RenewUntilStopped(std::stop_token stop);

  const std::string url_;
  const std::int64_t epoch_;
  std::unique_ptr<Row> row_;  // null: the connection is lost; only the thread touches it
  const std::function<void(const Error&)> lost_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace espalier::master
