// A connection besides those of the event loop, for calls that wait. For the .cc files of this folder only.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include "master/store/connection.h"
#include "master/store/pq_errors.h"

namespace espalier::master {

// Connects when it is first used, and again after an error. Thread-safe: one call at a time; others wait.
class LazyConnection {
 public:
  LazyConnection(std::string url, std::int64_t epoch) : url_(std::move(url)), epoch_(epoch) {}

  // Calls `function` with the connection; blocks while another call does, and to connect. What it throws becomes an
  // error, as WithDatabaseErrors has it.
  template <class Function>
  auto With(const Function& function) -> std::invoke_result_t<Function, Connection&> {
    const std::lock_guard lock(mutex_);
    auto result = WithDatabaseErrors([&] {
      if (connection_ == nullptr) connection_ = std::make_unique<Connection>(url_, epoch_);
      return function(*connection_);
    });
    if (!result.has_value() && result.error().code != ErrorCode::kNotFound) connection_.reset();
    return result;
  }

 private:
  const std::string url_;
  const std::int64_t epoch_;
  std::mutex mutex_;
  std::unique_ptr<Connection> connection_;  // null: not connected
};

}  // namespace espalier::master
