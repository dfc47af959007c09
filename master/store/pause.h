// Waiting that can be ended. For the .cc files of this folder only.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace espalier::master {

// Returns after the time, or as soon as `stop` is requested.
inline void PauseFor(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
}

}  // namespace espalier::master
