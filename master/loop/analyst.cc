#include "master/loop/analyst.h"

#include <utility>

namespace espalier::master {

Analyst::Analyst(std::function<void(const CurveAnalysed&)> tell)
    : tell_(std::move(tell)), thread_([this](const std::stop_token& stop) { WorkUntilStopped(stop); }) {}

void Analyst::Ask(CurveQuestion question) {
  const std::lock_guard lock(mutex_);
  asked_.push_back(std::move(question));
  changed_.notify_one();
}

void Analyst::WorkUntilStopped(const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return !asked_.empty(); });
    if (stop.stop_requested()) return;
    const CurveQuestion question = std::move(asked_.front());
    asked_.pop_front();
    lock.unlock();
    tell_(AnswerTo(question));
  }
}

}  // namespace espalier::master
