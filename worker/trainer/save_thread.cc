#include "worker/trainer/save_thread.h"

#include <utility>

#include "base/failpoint.h"
#include "worker/checkpoint/checkpoint_format.h"

namespace espalier::trainer {
namespace {

// Each state held costs as much memory as the model and its optimizer.
constexpr std::size_t kJobCountMax = 2;

Outcome<Saved> Write(const SaveJob& job) {
  try {
    Saved saved{.state_sha256 = Sha256Of(job.state)};
    const Outcome<std::string> payload = Serialize(job.state);
    if (!payload.has_value()) return tl::unexpected(payload.error());
    const auto written = WriteCheckpointFile(job.path, job.make_head(saved.state_sha256), *payload);
    if (!written.has_value()) return MakeFailure(FailureKind::kCheckpoint, written.error().message);
    ESPALIER_FAILPOINT("worker.save.after_rename");
    saved.byte_count = static_cast<std::int64_t>(std::filesystem::file_size(job.path));
    return saved;
  } catch (...) {
    return tl::unexpected<Failure>(FailureOf(std::current_exception(), FailureKind::kCheckpoint));
  }
}

Outcome<Saved> Do(const SaveJob& job) {
  Outcome<Saved> saved = Write(job);
  if (!saved) saved.error().state_intact = true;
  return saved;
}

}  // namespace

SaveThread::SaveThread() : thread_([this] { Run(); }) {}

SaveThread::~SaveThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void SaveThread::Add(SaveJob job) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.size() < kJobCountMax; });
  jobs_.push_back(std::move(job));
  changed_.notify_all();
}

void SaveThread::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const SaveJob& job = jobs_.front();  // stays where it is while others are added behind
    lock.unlock();
    job.done(Do(job));
    lock.lock();
    jobs_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace espalier::trainer
