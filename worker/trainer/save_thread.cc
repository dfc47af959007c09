#include "worker/trainer/save_thread.h"

#include <sys/resource.h>

#include <utility>

#include "base/failpoint.h"
#include "worker/trainer/spare_memory.h"

namespace espalier::trainer {
namespace {

// Each state held costs as much memory as the model and its optimizer.
constexpr std::size_t kJobCountMax = 2;
constexpr std::size_t kSmallBytes = 16 << 20;

std::size_t BytesOf(const TrainingState& state) {
  std::size_t bytes = 0;
  for (const auto& [name, array] : state) bytes += array.bytes.size();
  return bytes;
}

Outcome<WrittenCheckpoint> Write(const SaveJob& job) {
  try {
    auto written = WriteCheckpointFile(job.path, job.identity, job.state);
    if (!written.has_value()) return MakeFailure(FailureKind::kCheckpoint, written.error().message);
    ESPALIER_FAILPOINT("worker.save.after_rename");
    return *std::move(written);
  } catch (...) {
    return tl::unexpected<Failure>(FailureOf(std::current_exception(), FailureKind::kCheckpoint));
  }
}

Outcome<WrittenCheckpoint> Do(const SaveJob& job) {
  Outcome<WrittenCheckpoint> written = Write(job);
  if (!written) written.error().state_intact = true;
  return written;
}

// On Linux a thread has a priority of its own. Training goes first where both want a core: a step takes as long as its
// slowest thread. Not the lowest one: where every core trains, others wait for this state.
void GiveWayToTraining() { setpriority(PRIO_PROCESS, 0, 10); }

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

void SaveThread::AwaitRoom() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.size() < kJobCountMax && held_bytes_ <= kSmallBytes; });
}

void SaveThread::Add(SaveJob job) {
  const std::lock_guard lock(mutex_);
  held_bytes_ += BytesOf(job.state);
  jobs_.push_back(std::move(job));
  changed_.notify_all();
}

void SaveThread::Run() {
  GiveWayToTraining();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    SaveJob& job = jobs_.front();  // stays where it is while others are added behind
    lock.unlock();
    job.done(Do(job));
    lock.lock();
    held_bytes_ -= BytesOf(job.state);
    KeepMemoryOf(std::move(job.state));
    jobs_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace espalier::trainer
