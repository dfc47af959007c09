#include "bench/step_log_follower.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "base/clock.h"
#include "bench/service.h"

namespace espalier::bench {
namespace {

constexpr std::chrono::microseconds kPause{500};
constexpr Seconds kPatience{300};

template <class Condition>
void Await(const Condition& condition, const std::string& what) {
  const Seconds begin = MonotonicNow();
  while (!condition()) {
    if (MonotonicNow() - begin > kPatience) GiveUp("waited in vain for " + what);
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

StepLogFollower::StepLogFollower(const std::string& path) {
  Await([&] { return (fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC)) >= 0; }, path);
}

StepLogFollower::~StepLogFollower() { close(fd_); }

TrainedStep StepLogFollower::Next() {
  const auto has_one = [&] {
    Read();
    return !unread_.empty();
  };
  Await(has_one, "the next step");
  last_ = unread_.front();
  unread_.pop_front();
  return last_;
}

TrainedStep StepLogFollower::Last() {
  Read();
  while (!unread_.empty()) Next();
  return last_;
}

void StepLogFollower::Read() {
  const Seconds now = MonotonicNow();
  char buffer[4096];
  for (ssize_t size = 0; (size = read(fd_, buffer, sizeof(buffer))) > 0;) {
    text_.append(buffer, static_cast<std::size_t>(size));
  }
  for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1)) {
    // "RUN STEP SECONDS"; the lines before say what the path is.
    std::istringstream line(text_.substr(0, end));
    std::int64_t run = 0;
    std::int64_t step = 0;
    double seconds = 0;
    if (line >> run >> step >> seconds) unread_.push_back({Step{step}, now, Seconds(seconds)});
  }
}

}  // namespace espalier::bench
