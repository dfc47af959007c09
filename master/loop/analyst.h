// Works questions about learning curves beside the event loop, one after another in the order in which they come.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "scheduler/curve_forecast.h"

namespace espalier::master {

class Analyst {
 public:
  // `tell` is called by a thread of its own.
  explicit Analyst(std::function<void(const CurveAnalysed&)> tell);
  // What is not answered yet is dropped.
  ~Analyst() = default;

  void Ask(CurveQuestion question);

 private:
  void WorkUntilStopped(const std::stop_token& stop);

  const std::function<void(const CurveAnalysed&)> tell_;
  std::mutex mutex_;  // of asked_
  std::condition_variable_any changed_;
  std::deque<CurveQuestion> asked_;
  std::jthread thread_;  // the last: it is stopped and joined first
};

}  // namespace espalier::master
