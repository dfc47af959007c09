// Which of several masters writes: the one whose epoch stands in the database. It renews its row every second; one that
// has not for three seconds, or has no connection left, is taken over from: its connections are ended, the epoch counts
// up. What a frozen master still has in hand when it thaws meets an epoch that is not its own, and is refused.
//
// A master is certain that it leads until 2.5 s, by its own clock, after it sent its last renewal that came through:
// nobody can have taken over by then. From then on it must answer nobody, until a renewal comes through again, or it
// learns that another leads.
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
#include "base/units.h"

namespace espalier::master {

class Leadership {
 public:
  // What it says, on threads of its own.
  struct Listener {
    std::function<void(const Error&)> lost;  // once at most: another master has taken over, the process must exit
    std::function<void()> uncertain = {};    // whenever it is certain no more
  };

  // Waits until this process leads. `holder` names it, for people. Error: kAborted when `stop` is
  // requested meanwhile. Blocks for as long as another leads, or the database is away; asks five times a second.
  // REQUIRES: it has a schema.
  static Result<std::unique_ptr<Leadership>> Acquire(const std::string& database_url, const std::string& holder,
                                                     const std::stop_token& stop, Listener listener);

  // Ends renewing; waits for one that is under way. The row stays: a successor finds no connection of this epoch and
  // takes over at once.
  ~Leadership();

  std::int64_t epoch() const { return epoch_; }

  bool is_certain();
  // Returns when it is certain (again), and at the latest when it is lost or `stop` is requested. Whether it is.
  bool AwaitCertain(const std::stop_token& stop);

 private:
  class Row;
  Leadership(std::string database_url, std::int64_t epoch, Seconds sent, std::unique_ptr<Row> row, Listener listener);
  void RenewUntilStopped(const std::stop_token& stop);
  void WatchUntilStopped(const std::stop_token& stop);

  const std::string url_;
  const std::int64_t epoch_;
  std::unique_ptr<Row> row_;  // null: the connection is lost; only `renewals_` touches it
  const Listener listener_;

  std::mutex mutex_;  // of what follows
  std::condition_variable_any changed_;
  Seconds certain_until_;  // by BootTimeNow
  bool is_certain_ = true;
  bool is_lost_ = false;

  std::jthread renewals_;  // these last: they use the others
  std::jthread watch_;     // of the time, whatever a renewal waits for
};

}  // namespace espalier::master
