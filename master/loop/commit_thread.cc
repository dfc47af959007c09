#include "master/loop/commit_thread.h"

#include <algorithm>

#include "base/check.h"
#include "base/failpoint.h"

namespace espalier::master {

CommitThread::CommitThread(StateStore& store, std::function<void(Release)> release,
                           std::function<void(Result<void>)> done)
    : store_(store), release_(std::move(release)), done_(std::move(done)), thread_([this] { Run(); }) {}

CommitThread::~CommitThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void CommitThread::Start(Batch batch) {
  {
    const std::lock_guard lock(mutex_);
    ESPALIER_CHECK(!batch_) << "one commit at a time";
    batch_ = std::move(batch);
  }
  changed_.notify_one();
}

void CommitThread::Run() {
  while (true) {
    Batch batch;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return batch_ || stopping_; });
      if (!batch_) return;
      batch = std::move(*batch_);
      batch_.reset();
    }
    const Result<void> committed = Commit(batch.edit);
    if (committed) {
      for (Release& release : batch.releases) release_(std::move(release));
    }
    done_(committed);
  }
}

Result<void> CommitThread::Commit(const StateEdit& edit) {
  if (std::none_of(edit.begin(), edit.end(), IsStored)) return {};
  ESPALIER_FAILPOINT("commit.before");
  ESPALIER_RETURN_IF_ERROR(store_.Commit(edit));
  ESPALIER_FAILPOINT("commit.after");
  return {};
}

}  // namespace espalier::master
