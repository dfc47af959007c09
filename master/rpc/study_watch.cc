#include "master/rpc/study_watch.h"

namespace espalier {

std::int64_t StudyWatch::Version(StudyId study) {
  const std::lock_guard lock(mutex_);
  return versions_[study];
}

void StudyWatch::Notify(StudyId study) {
  const std::lock_guard lock(mutex_);
  ++versions_[study];
  changed_.notify_all();
}

void StudyWatch::Wait(StudyId study, std::int64_t seen, std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, at_most, [&] { return stopped_ || versions_[study] != seen; });
}

void StudyWatch::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

bool StudyWatch::stopped() {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

}  // namespace espalier
